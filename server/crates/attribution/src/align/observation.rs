//! What is seen below a frame.

use super::Inputs;

/// An event directly below a frame (annotations are looked through).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Observation<'a> {
    pub kind: Kind<'a>,
    /// The 1-based line that the trace itself gives for the call, if it does.
    pub line: Option<u32>,
    /// The arguments of the op, or of the one op below a builtin's frame.
    pub inputs: Inputs<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind<'a> {
    /// An op or a launch without a frame of its own. The name is complete: `aten::mul`.
    Op(&'a str),
    /// A frame of a function written in C.
    Builtin(&'a str),
    /// A frame of a function written in Python.
    Python {
        function: &'a str,
        /// Whether it is in torch's tensor module.
        of_tensor: bool,
        /// For a wrapper (a decorator's inner function): the functions it soon calls.
        wraps: Vec<&'a str>,
        /// The op below, where it is an operator of torch's tensor module.
        op: Option<&'a str>,
    },
    /// A frame of an `nn.Module`'s call.
    Module(&'a str),
}

impl<'a> Observation<'a> {
    /// The name of the function whose frame it is.
    pub fn function(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Builtin(function) | Kind::Python { function, .. } => Some(function),
            Kind::Op(_) | Kind::Module(_) => None,
        }
    }
}
