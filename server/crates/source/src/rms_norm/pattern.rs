//! Recognises the data flow, from its last multiplication back.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Number, Operator, Stmt, UnaryOp};
use ruff_text_size::Ranged;

use super::flow::{Block, Value, bytes, is_path};
use super::{Part, PartKind, RmsNorm, rewrite};

/// What was matched so far.
#[derive(Clone, Default)]
pub(super) struct Match<'a> {
    pub x: Option<&'a Expr>,
    /// The squared expression where it is not `x` itself: a cast of it.
    pub cast: bool,
    pub weight: Option<&'a Expr>,
    pub eps: Option<&'a Expr>,
    pub parts: Vec<(PartKind, &'a Expr)>,
    /// Places in the block of the temporaries gone through.
    pub temporaries: Vec<usize>,
}

/// The norms whose result is computed in this block; what a later one already uses is not reported again.
pub(super) fn find(block: &Block<'_>) -> Vec<RmsNorm> {
    let mut found: Vec<RmsNorm> = Vec::new();
    let mut consumed = vec![false; block.body.len()];
    for (at, stmt) in block.body.iter().enumerate().rev() {
        if consumed[at] {
            continue;
        }
        let mut finder = Results { block, at, found: Vec::new() };
        match stmt {
            // Their bodies are blocks of their own.
            Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::If(_)
            | Stmt::For(_)
            | Stmt::While(_)
            | Stmt::With(_)
            | Stmt::Try(_)
            | Stmt::Match(_) => continue,
            _ => finder.visit_stmt(stmt),
        }
        for (result, matched) in finder.found {
            for &place in &matched.temporaries {
                consumed[place] = true;
            }
            found.extend(rewrite::norm(block, at, result, &matched));
        }
    }
    found
}

struct Results<'a, 'b> {
    block: &'b Block<'a>,
    at: usize,
    found: Vec<(&'a Expr, Match<'a>)>,
}

impl<'a> Visitor<'a> for Results<'a, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        // What these compute is computed later, or again and again: the names outside may have changed by then.
        if matches!(
            expr,
            Expr::Lambda(_) | Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_)
        ) {
            return;
        }
        let value = Value { expr, at: self.at };
        match self.block.scaled(value).or_else(|| self.block.normalized(value)) {
            Some(matched) => self.found.push((expr, matched)),
            None => crate::deep(|| visitor::walk_expr(self, expr)),
        }
    }
}

impl<'a> Block<'a> {
    /// Follows a name to its value and notes the temporary.
    fn follow(&self, value: Value<'a>, matched: &mut Match<'a>) -> Value<'a> {
        let (value, temporary) = self.resolve(value);
        matched.temporaries.extend(temporary);
        value
    }

    /// `normalized * weight`.
    fn scaled(&self, value: Value<'a>) -> Option<Match<'a>> {
        let (left, right) = self.binary(value.expr, Operator::Mult)?;
        [(left, right), (right, left)].into_iter().find_map(|(inner, weight)| {
            let mut matched = Match::default();
            let inner = self.follow(value.with(inner), &mut matched);
            let rest = self.normalized(inner)?;
            if !is_weight(weight) {
                return None;
            }
            matched.temporaries.extend(rest.temporaries.iter().copied());
            let mut parts = rest.parts.clone();
            parts.push((PartKind::Scale, value.expr));
            Some(Match { weight: Some(weight), parts, temporaries: matched.temporaries, ..rest })
        })
    }

    /// `x * rsqrt(…)` or `x / sqrt(…)`.
    fn normalized(&self, value: Value<'a>) -> Option<Match<'a>> {
        if let Some((left, right)) = self.binary(value.expr, Operator::Mult) {
            return [(left, right), (right, left)].into_iter().find_map(|(x, r)| {
                let mut matched = Match::default();
                let r = self.follow(value.with(r), &mut matched);
                self.inverse_root(r, &mut matched)?;
                self.finish(x, value.expr, matched)
            });
        }
        let (x, root) = self.binary(value.expr, Operator::Div)?;
        let mut matched = Match::default();
        let root = self.follow(value.with(root), &mut matched);
        self.square_root(root, &mut matched)?;
        self.finish(x, value.expr, matched)
    }

    fn finish(&self, x: &'a Expr, whole: &'a Expr, mut matched: Match<'a>) -> Option<Match<'a>> {
        let squared = matched.x?;
        if self.text(x) != self.text(squared) {
            // `x * rsqrt(x.float()…)` is the same norm in another precision.
            let uncast = uncast(squared);
            if self.text(x) != self.text(uncast) {
                return None;
            }
            matched.cast = true;
        }
        matched.cast |= !is_path(x);
        matched.x = Some(x);
        matched.parts.push((PartKind::Normalize, whole));
        Some(matched)
    }

    /// `torch.rsqrt(v)`, `v.rsqrt()`, `v ** -0.5`, `v.pow(-0.5)`, `1 / sqrt(v)`.
    fn inverse_root(&self, value: Value<'a>, matched: &mut Match<'a>) -> Option<()> {
        let of = if let Some(of) = self.unary(value.expr, "rsqrt") {
            of
        } else if let Some((base, exponent)) = self.binary(value.expr, Operator::Pow) {
            is_number(exponent, -0.5).then_some(base)?
        } else {
            let (one, root) = self.binary(value.expr, Operator::Div)?;
            if !is_number(one, 1.0) {
                return None;
            }
            let root = self.follow(value.with(root), matched);
            return self.square_root(root, matched);
        };
        let of = self.follow(value.with(of), matched);
        self.variance(of, matched)?;
        matched.parts.push((PartKind::Rsqrt, value.expr));
        Some(())
    }

    /// `torch.sqrt(v)`, `v.sqrt()`, `v ** 0.5`.
    fn square_root(&self, value: Value<'a>, matched: &mut Match<'a>) -> Option<()> {
        let of = match self.unary(value.expr, "sqrt") {
            Some(of) => of,
            None => match self.binary(value.expr, Operator::Pow)? {
                (base, exponent) if is_number(exponent, 0.5) => base,
                _ => return None,
            },
        };
        let of = self.follow(value.with(of), matched);
        self.variance(of, matched)?;
        matched.parts.push((PartKind::Rsqrt, value.expr));
        Some(())
    }

    /// `mean + eps`.
    fn variance(&self, value: Value<'a>, matched: &mut Match<'a>) -> Option<()> {
        let (left, right) = self.binary(value.expr, Operator::Add)?;
        for (mean, eps) in [(left, right), (right, left)] {
            let mut attempt = matched.clone();
            let mean = self.follow(value.with(mean), &mut attempt);
            if self.mean(mean, &mut attempt).is_some() && (is_path(eps) || eps.is_number_literal_expr()) {
                attempt.eps = Some(eps);
                attempt.parts.push((PartKind::AddEpsilon, value.expr));
                *matched = attempt;
                return Some(());
            }
        }
        None
    }

    /// `square.mean(-1, keepdim=True)`, `torch.mean(square, dim=-1, keepdim=True)`.
    fn mean(&self, value: Value<'a>, matched: &mut Match<'a>) -> Option<()> {
        let call = value.expr.as_call_expr()?;
        let (of, rest) = self.receiver(call, "mean")?;
        let argument = |name: &str, place: usize| {
            call.arguments
                .keywords
                .iter()
                .find(|k| k.arg.as_ref().is_some_and(|arg| arg.as_str() == name))
                .map(|k| &k.value)
                .or_else(|| rest.get(place))
        };
        let last = argument("dim", 0).is_some_and(is_last_dim);
        let keeps =
            argument("keepdim", 1).is_some_and(|e| e.as_boolean_literal_expr().is_some_and(|b| b.value));
        let plain = call
            .arguments
            .keywords
            .iter()
            .all(|k| k.arg.as_ref().is_some_and(|arg| matches!(arg.as_str(), "dim" | "keepdim")));
        if !(last && keeps && plain && rest.len() <= 2) {
            return None;
        }
        let of = self.follow(value.with(of), matched);
        self.square(of, matched)?;
        matched.parts.push((PartKind::Mean, value.expr));
        Some(())
    }

    /// `x * x`, `x ** 2`, `x.pow(2)`, `torch.square(x)`.
    fn square(&self, value: Value<'a>, matched: &mut Match<'a>) -> Option<()> {
        let x = if let Some((left, right)) = self.binary(value.expr, Operator::Mult) {
            (self.text(left) == self.text(right)).then_some(left)?
        } else if let Some((base, exponent)) = self.binary(value.expr, Operator::Pow) {
            is_number(exponent, 2.0).then_some(base)?
        } else {
            self.unary(value.expr, "square")?
        };
        if !is_path(uncast(x)) {
            return None;
        }
        matched.x = Some(x);
        matched.parts.push((PartKind::Square, value.expr));
        Some(())
    }

    /// An operator, or the function or method of the same meaning.
    fn binary(&self, expr: &'a Expr, op: Operator) -> Option<(&'a Expr, &'a Expr)> {
        if let Expr::BinOp(e) = expr {
            return (e.op == op).then_some((&*e.left, &*e.right));
        }
        let names: &[&str] = match op {
            Operator::Mult => &["mul", "multiply"],
            Operator::Div => &["div", "divide", "true_divide"],
            Operator::Add => &["add"],
            Operator::Pow => &["pow"],
            _ => return None,
        };
        let call = expr.as_call_expr()?;
        if !call.arguments.keywords.is_empty() {
            return None;
        }
        names.iter().find_map(|name| match self.receiver(call, name)? {
            (left, [right]) => Some((left, right)),
            _ => None,
        })
    }

    fn unary(&self, expr: &'a Expr, name: &str) -> Option<&'a Expr> {
        let call = expr.as_call_expr()?;
        match self.receiver(call, name)? {
            (of, []) if call.arguments.keywords.is_empty() => Some(of),
            _ => None,
        }
    }

    /// What `torch.name(of, …)` or `of.name(…)` works on, and its further positional arguments.
    fn receiver(&self, call: &'a ExprCall, name: &str) -> Option<(&'a Expr, &'a [Expr])> {
        if let Some(path) = self.imports.resolve(&call.func) {
            if path != format!("torch.{name}") {
                return None;
            }
            return call.arguments.args.split_first();
        }
        let method = call.func.as_attribute_expr()?;
        (method.attr.as_str() == name).then_some((&*method.value, &*call.arguments.args))
    }

    pub(super) fn part(&self, kind: PartKind, expr: &Expr) -> Part {
        let range = bytes(expr);
        let lines = self.module.lines();
        let last = lines.line(range.end.saturating_sub(1).max(range.start)) + 1;
        Part { kind, lines: (lines.line(range.start) + 1, last), range }
    }
}

/// `x` of `x.float()`, `x.to(…)`, `x.double()`; else the expression itself.
fn uncast(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if matches!(method.attr.as_str(), "float" | "to" | "double") => {
                &method.value
            }
            _ => expr,
        },
        _ => expr,
    }
}

fn is_number(expr: &Expr, wanted: f64) -> bool {
    let (expr, sign) = match expr {
        Expr::UnaryOp(e) if e.op == UnaryOp::USub => (&*e.operand, -1.0),
        _ => (expr, 1.0),
    };
    let Expr::NumberLiteral(literal) = expr else { return false };
    let value = match &literal.value {
        Number::Int(int) => int.as_i64().map(|int| int as f64),
        Number::Float(float) => Some(*float),
        Number::Complex { .. } => None,
    };
    value.is_some_and(|value| (sign * value - wanted).abs() < f64::EPSILON)
}

/// `-1`, `(-1,)`, `[-1]`.
fn is_last_dim(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(tuple) => matches!(&tuple.elts[..], [only] if is_number(only, -1.0)),
        Expr::List(list) => matches!(&list.elts[..], [only] if is_number(only, -1.0)),
        _ => is_number(expr, -1.0),
    }
}

/// A parameter, or a parameter plus a constant (`1 + self.weight`): nothing that computes or has an effect.
fn is_weight(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(e) => {
            e.op == Operator::Add
                && [(&e.left, &e.right), (&e.right, &e.left)]
                    .iter()
                    .any(|(constant, path)| constant.is_number_literal_expr() && is_path(path))
        }
        _ => is_path(expr),
    }
}

/// The statement's own bytes.
pub(super) fn statement_range(stmt: &Stmt) -> std::ops::Range<u32> {
    stmt.start().into()..stmt.end().into()
}
