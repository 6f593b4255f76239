//! What the text alone tells of a value: that it is a Python number and not a tensor, or which constant it is.
//!
//! Arithmetic on plain values launches nothing, and a condition on a constant takes one arm. Everything here errs on the
//! side of not knowing: a name counts as plain only when everything that is ever assigned to it is.

mod binder;
mod call;
mod compare;
mod evaluate;
mod functions;
mod names;
mod operands;
mod parts;
mod plain;
mod tensors;

pub use call::{Arguments, Given, Through};
pub(crate) use call::{arguments, find as find_call, given};
pub(crate) use evaluate::Evaluator;
pub(crate) use names::Names;
pub(crate) use operands::of_operators;
pub use tensors::{gives_tensor, is_functional};

/// A value, as far as the text tells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    Unknown,
    /// A number, string, size, dtype, …: no tensor, and nothing that holds one.
    Plain,
    Known(Constant),
    /// A tensor: its operators leave an event each.
    Tensor,
    /// A list, dict or set, of anything: its own operators, tests and indices leave none.
    Container,
    /// No tensor, and nothing else is known of it: `None`, a number, a list, an object of any class.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Constant {
    None,
    Bool(bool),
    Int(i64),
    /// The bits of an `f64`.
    Float(u64),
    Text(Box<str>),
}

impl Value {
    pub const NONE: Self = Self::Known(Constant::None);

    pub fn bool(value: bool) -> Self {
        Self::Known(Constant::Bool(value))
    }

    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain | Self::Known(_))
    }

    /// Whether it is surely no tensor itself, whatever it holds: its operators launch no op of their own.
    pub fn is_no_tensor(&self) -> bool {
        self.is_plain() || matches!(self, Self::Container | Self::Other)
    }

    /// A value that is either.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        if self == *other {
            self
        } else if self.is_plain() && other.is_plain() {
            Self::Plain
        } else if self.is_no_tensor() && other.is_no_tensor() {
            Self::Other
        } else {
            Self::Unknown
        }
    }

    /// What `if` makes of it.
    pub fn truth(&self) -> Option<bool> {
        let Self::Known(constant) = self else { return None };
        Some(match constant {
            Constant::None => false,
            Constant::Bool(value) => *value,
            Constant::Int(value) => *value != 0,
            Constant::Float(bits) => f64::from_bits(*bits) != 0.0,
            Constant::Text(text) => !text.is_empty(),
        })
    }
}

impl Constant {
    /// Python's `==`: numbers of different types compare by value.
    fn equals(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b).is_eq() || (a == 0.0 && b == 0.0),
            _ => self == other,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            Self::Int(value) => Some(*value as f64),
            Self::Float(bits) => Some(f64::from_bits(*bits)),
            Self::None | Self::Text(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
