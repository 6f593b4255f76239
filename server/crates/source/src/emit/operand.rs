//! What the text says about an operand: enough to tell `x * 2` from `x * 0.5` and `x * x` from `x * y` in a trace.

use ruff_python_ast::{Expr, Number, UnaryOp};
use ruff_text_size::Ranged;

use crate::automaton::Operand;

pub(super) fn operand(expr: &Expr, text: &str) -> Operand {
    match expr {
        Expr::NumberLiteral(literal) => number(&literal.value),
        Expr::UnaryOp(e) if e.op == UnaryOp::USub => {
            match e.operand.as_number_literal_expr().map(|n| number(&n.value)) {
                Some(Operand::Int(value)) => Operand::Int(value.saturating_neg()),
                Some(Operand::Float(value)) => Operand::Float(-value),
                _ => Operand::Other,
            }
        }
        _ if is_plain_int(expr) => Operand::Integer,
        Expr::Name(name) => Operand::Name(name.id.as_str().into()),
        Expr::Attribute(_) if is_path(expr) => text
            .get(usize::from(expr.start())..usize::from(expr.end()))
            .map_or(Operand::Other, |path| Operand::Name(path.into())),
        _ => Operand::Other,
    }
}

fn number(value: &Number) -> Operand {
    match value {
        Number::Int(int) => int.as_i64().map_or(Operand::Other, Operand::Int),
        Number::Float(float) => Operand::Float(*float),
        Number::Complex { .. } => Operand::Other,
    }
}

/// What is always a Python integer: `x.shape[0]`, `x.size(0)`, `len(x)`, `x.ndim`, `x.dim()`, `x.numel()`.
fn is_plain_int(expr: &Expr) -> bool {
    match expr {
        Expr::Subscript(subscript) => {
            subscript.slice.is_number_literal_expr()
                && subscript.value.as_attribute_expr().is_some_and(|value| value.attr.as_str() == "shape")
        }
        Expr::Attribute(attribute) => attribute.attr.as_str() == "ndim",
        Expr::Call(call) => match &*call.func {
            Expr::Name(name) => name.id.as_str() == "len",
            Expr::Attribute(method) => match method.attr.as_str() {
                "size" => !call.arguments.is_empty(),
                "dim" | "numel" => call.arguments.is_empty(),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// `a.b.c`, whose value is the same each time unless it is assigned to.
fn is_path(expr: &Expr) -> bool {
    let mut at = expr;
    while let Expr::Attribute(attribute) = at {
        at = &attribute.value;
    }
    at.is_name_expr()
}
