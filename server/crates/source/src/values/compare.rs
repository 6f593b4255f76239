//! Comparisons.

use ruff_python_ast::{CmpOp, Expr, ExprCompare};

use super::{Constant, Evaluator, Value};

impl Evaluator<'_> {
    pub(super) fn compare(&self, e: &ExprCompare, depth: u32) -> Option<Value> {
        let left = self.deep(&e.left, depth + 1)?;
        if let ([op], [right]) = (&*e.ops, &*e.comparators) {
            let known = match (op, right) {
                // Membership in a display of constants.
                (CmpOp::In | CmpOp::NotIn, Expr::Tuple(_) | Expr::List(_) | Expr::Set(_)) => {
                    self.is_among(&left, right, depth)?.map(|found| found == (*op == CmpOp::In))
                }
                _ => compared(*op, &left, &self.deep(right, depth + 1)?),
            };
            if let Some(known) = known {
                return Some(Value::bool(known));
            }
        }
        let mut plain = left.is_plain();
        let mut of_tensor = left == Value::Tensor;
        for right in &e.comparators {
            let right = self.deep(right, depth + 1)?;
            plain &= right.is_plain();
            of_tensor |= right == Value::Tensor;
        }
        let never_a_tensor = |op: &CmpOp| matches!(op, CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn);
        Some(if plain || e.ops.iter().all(never_a_tensor) {
            Value::Plain
        } else if of_tensor && e.ops.len() == 1 {
            Value::Tensor
        } else {
            Value::Unknown
        })
    }

    /// `Some(None)` when it cannot be told.
    #[expect(clippy::option_option, reason = "not yet known and not to be known are two things")]
    fn is_among(&self, value: &Value, display: &Expr, depth: u32) -> Option<Option<bool>> {
        let elements = match display {
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::List(list) => &list.elts,
            Expr::Set(set) => &set.elts,
            _ => return Some(None),
        };
        let mut among = Some(false);
        for element in elements {
            match compared(CmpOp::Eq, value, &self.deep(element, depth + 1)?) {
                Some(true) => return Some(Some(true)),
                Some(false) => {}
                None => among = None,
            }
        }
        Some(among)
    }
}

/// What a comparison of constants gives; `None` when it cannot be told.
fn compared(op: CmpOp, left: &Value, right: &Value) -> Option<bool> {
    // A tensor or a list is not `None`.
    let is_object = |value: &Value| matches!(value, Value::Tensor | Value::Container);
    if matches!(op, CmpOp::Is | CmpOp::IsNot)
        && ((*left == Value::NONE && is_object(right)) || (is_object(left) && *right == Value::NONE))
    {
        return Some(op == CmpOp::IsNot);
    }
    let (Value::Known(left), Value::Known(right)) = (left, right) else { return None };
    let none = |constant: &Constant| matches!(constant, Constant::None);
    match op {
        CmpOp::Is | CmpOp::IsNot if none(left) || none(right) => {
            Some((none(left) && none(right)) == (op == CmpOp::Is))
        }
        CmpOp::Is | CmpOp::IsNot => match (left, right) {
            (Constant::Bool(left), Constant::Bool(right)) => Some((left == right) == (op == CmpOp::Is)),
            _ => None,
        },
        CmpOp::Eq => Some(left.equals(right)),
        CmpOp::NotEq => Some(!left.equals(right)),
        CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
            let (left, right) = (left.number()?, right.number()?);
            Some(match op {
                CmpOp::Lt => left < right,
                CmpOp::LtE => left <= right,
                CmpOp::Gt => left > right,
                _ => left >= right,
            })
        }
        CmpOp::In | CmpOp::NotIn => None,
    }
}
