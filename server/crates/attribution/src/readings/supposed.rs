//! Parameters of which only what was launched tells whether they are tensors.

use std::rc::Rc;

use source::{Given, OBLIGED, ScopeId, Value};

use super::Readings;
use crate::FileId;
use crate::align::{self, Observation, Span};

/// As many parameters of a function are tried.
const MOST_TRIED: usize = 6;

impl Readings<'_> {
    /// `given`, and those parameters that can only be tensors, or only something else, if the function launched what is seen:
    /// on a tensor every operator leaves an event, on anything else none does.
    pub(super) fn supposed(
        &self,
        file: FileId,
        scope: ScopeId,
        given: &Rc<Given>,
        observations: &[Observation<'_>],
        span: &Span,
    ) -> Rc<Given> {
        let open = self.frames.files.file(file).module.open_parameters(scope, given);
        let mut known = Rc::clone(given);
        for name in open.iter().take(MOST_TRIED) {
            let cost = |value: Value| {
                let given = Rc::new(known.with(name, value));
                let automaton = self.frames.files.automaton(file, scope, &given);
                let mut work = self.work.get();
                let cost = align::strict_cost(&automaton, observations, span, &mut work);
                self.work.set(work);
                Some((cost?, given))
            };
            let (Some(tensor), Some(other)) = (cost(Value::Tensor), cost(Value::Other)) else { break };
            if tensor.0.saturating_add(OBLIGED) <= other.0 {
                known = tensor.1;
            } else if other.0.saturating_add(OBLIGED) <= tensor.0 {
                known = other.1;
            }
        }
        known
    }
}
