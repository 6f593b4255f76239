//! Functions in variables, lists and dicts: which of them a call may call.

use std::collections::HashMap;

use ruff_python_ast::Expr;

use super::Evaluator;
use super::binder::Bound;
use super::parts::Step;

/// Names with more functions than this may as well hold any.
const MOST_FUNCTIONS: usize = 64;

/// The functions that each name may hold: `fn` of `for fn in [torch.sin, torch.cos]`.
pub(super) fn functions(
    bindings: &[(&str, Bound<'_>)],
    outside: &Evaluator<'_>,
) -> HashMap<Box<str>, Vec<Box<str>>> {
    let mut known: HashMap<&str, Option<Vec<Box<str>>>> = HashMap::new();
    // In order: what a name is made of was bound before it.
    for (name, bound) in bindings {
        let of = |name: &str| match known.get(name) {
            Some(functions) => functions.clone(),
            None => outside.held(name),
        };
        let found = match bound {
            Bound::Part(expr, path) => references(part(expr, path), &of),
            Bound::Definition => Some(vec![outside.imports.own_name(name).into()]),
            Bound::Value(_) | Bound::Augmented(..) => None,
        };
        let all = known.entry(name).or_insert_with(|| Some(Vec::new()));
        match (all.as_mut(), found) {
            (Some(known), Some(found)) => {
                known.extend(found);
                known.sort_unstable();
                known.dedup();
                // Here and not at the end: a list of lists of lists doubles with every name.
                if known.len() > MOST_FUNCTIONS {
                    *all = None;
                }
            }
            _ => *all = None,
        }
    }
    let kept = known.into_iter().filter_map(|(name, functions)| {
        let functions = functions.filter(|functions| !functions.is_empty())?;
        Some((name.into(), functions))
    });
    kept.collect()
}

/// The one of several iterables that a loop's variable is taken from.
fn part<'a>(expr: &'a Expr, path: &[Step]) -> &'a Expr {
    let Expr::Call(call) = expr else { return expr };
    let place = match (call.func.as_name_expr().map(|name| name.id.as_str()), path) {
        (Some("zip"), [Step::Each, Step::At(place, _), ..]) => Some(*place),
        (Some("enumerate"), [Step::Each, Step::At(1, _), ..]) => Some(0),
        _ => None,
    };
    place.and_then(|place| call.arguments.args.get(place)).unwrap_or(expr)
}

/// The names of the functions that an expression holds: in displays, arms, dicts. `None` where it may hold others. `of`
/// tells the same of names.
pub(super) fn references(expr: &Expr, of: &dyn Fn(&str) -> Option<Vec<Box<str>>>) -> Option<Vec<Box<str>>> {
    crate::deep(|| references_inner(expr, of))
}

fn references_inner(expr: &Expr, of: &dyn Fn(&str) -> Option<Vec<Box<str>>>) -> Option<Vec<Box<str>>> {
    fn all<'a>(
        list: impl IntoIterator<Item = &'a Expr>,
        of: &dyn Fn(&str) -> Option<Vec<Box<str>>>,
    ) -> Option<Vec<Box<str>>> {
        let mut found = Vec::new();
        for expr in list {
            found.append(&mut references(expr, of)?);
        }
        Some(found)
    }
    match expr {
        Expr::Name(name) => of(&name.id),
        Expr::Attribute(e) => Some(vec![e.attr.as_str().into()]),
        Expr::Lambda(_) => Some(vec!["<lambda>".into()]),
        Expr::NoneLiteral(_) => Some(Vec::new()),
        Expr::Tuple(e) => all(&e.elts, of),
        Expr::List(e) => all(&e.elts, of),
        Expr::Set(e) => all(&e.elts, of),
        Expr::Dict(e) => all(e.items.iter().map(|item| &item.value), of),
        Expr::If(e) => all([&*e.body, &*e.orelse], of),
        Expr::BoolOp(e) => all(&e.values, of),
        Expr::Subscript(e) => references(&e.value, of),
        Expr::Starred(e) => references(&e.value, of),
        Expr::Call(e) => match &*e.func {
            Expr::Attribute(method) => match method.attr.as_str() {
                "items" | "values" | "get" => references(&method.value, of),
                "partial" => references(e.arguments.args.first()?, of),
                _ => None,
            },
            Expr::Name(name) => match name.id.as_str() {
                "reversed" | "list" | "tuple" => all(&e.arguments.args, of),
                "partial" => references(e.arguments.args.first()?, of),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
