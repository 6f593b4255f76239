//! Parts of a value: what unpacking and iterating give.

use ruff_python_ast::Expr;

use super::evaluate::join;
use super::{Constant, Evaluator, Value};

/// A part of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Any element, by iteration.
    Each,
    /// The element at a place, of so many.
    At(usize, usize),
    /// A list of some elements.
    Rest,
}

impl Evaluator<'_> {
    /// A part of a value, by the steps that lead to it.
    pub(super) fn part(&self, expr: &Expr, path: &[Step]) -> Option<Value> {
        crate::deep(|| self.part_inner(expr, path))
    }

    fn part_inner(&self, expr: &Expr, path: &[Step]) -> Option<Value> {
        let [step, rest @ ..] = path else { return self.value(expr) };
        if *step == Step::Rest {
            return Some(Value::Container);
        }
        let display = match expr {
            Expr::Tuple(tuple) => Some(&tuple.elts),
            Expr::List(list) => Some(&list.elts),
            Expr::Set(set) => Some(&set.elts),
            _ => None,
        };
        if let Some(elements) = display {
            let starred = elements.iter().any(Expr::is_starred_expr);
            return match *step {
                Step::At(at, count) if !starred && count == elements.len() => self.part(&elements[at], rest),
                _ if starred => Some(Value::Unknown),
                _ => {
                    let mut result = None;
                    for element in elements {
                        result = Some(join(result, self.part(element, rest)?));
                    }
                    Some(result.unwrap_or(Value::Unknown))
                }
            };
        }
        if let Expr::Call(call) = expr
            && let Expr::Name(name) = &*call.func
            && self.is_builtin(&name.id)
            && !call.arguments.args.iter().any(Expr::is_starred_expr)
        {
            let given = |at: usize| call.arguments.args.get(at);
            match (name.id.as_str(), step, rest) {
                ("enumerate", Step::Each, [Step::At(0, _), ..]) => return Some(Value::Plain),
                ("enumerate", Step::Each, [Step::At(1, _), rest @ ..]) => {
                    return given(0).map_or(Some(Value::Unknown), |of| self.each(of, rest));
                }
                ("zip", Step::Each, [Step::At(at, _), rest @ ..]) => {
                    return given(*at).map_or(Some(Value::Unknown), |of| self.each(of, rest));
                }
                ("reversed" | "sorted" | "list" | "tuple" | "set", Step::Each, _) => {
                    return given(0).map_or(Some(Value::Unknown), |of| self.each(of, rest));
                }
                _ => {}
            }
        }
        Some(match self.value(expr)? {
            Value::Plain | Value::Known(Constant::Text(_)) => Value::Plain,
            Value::Tensor => Value::Tensor,
            _ => Value::Unknown,
        })
    }

    fn each(&self, of: &Expr, rest: &[Step]) -> Option<Value> {
        let path: Vec<Step> = std::iter::once(Step::Each).chain(rest.iter().copied()).collect();
        self.part(of, &path)
    }
}
