//! What the text says about an operand: enough to tell `x * 2` from `x * 0.5` and `x * x` from `x * y` in a trace.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use crate::automaton::Operand;
use crate::values::{Constant, Value};

pub(super) fn operand(expr: &Expr, text: &str, value: &Value) -> Operand {
    match value {
        Value::Known(Constant::Int(value)) => return Operand::Int(*value),
        Value::Known(Constant::Float(bits)) => return Operand::Float(f64::from_bits(*bits)),
        Value::Plain | Value::Known(_) => return Operand::Number,
        Value::Unknown | Value::Tensor | Value::Container | Value::Other => {}
    }
    match expr {
        Expr::Name(name) => Operand::Name(name.id.as_str().into()),
        Expr::Attribute(_) if is_path(expr) => text
            .get(usize::from(expr.start())..usize::from(expr.end()))
            .map_or(Operand::Other, |path| Operand::Name(path.into())),
        _ => Operand::Other,
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
