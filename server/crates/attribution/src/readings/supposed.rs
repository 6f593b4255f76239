//! Parameters of which only what was launched tells whether they are tensors.

use std::rc::Rc;

use source::{Cost, Given, OBLIGED, ScopeId, Value};

use super::Readings;
use crate::FileId;
use crate::align::{self, Observation, Span};

/// As many parameters of a function are tried.
const MOST_TRIED: usize = 6;

impl Readings<'_> {
    /// `given`, and those parameters that can only be tensors, or only something else, if the function launched what is
    /// seen.
    pub(super) fn supposed(
        &self,
        file: FileId,
        scope: ScopeId,
        given: &Rc<Given>,
        observations: &[Observation<'_>],
        span: &Span,
    ) -> Rc<Given> {
        let open = self.frames.files.file(file).module.open_parameters(scope, given);
        let supposed = decide(&open, given, |given| {
            let automaton = self.frames.files.automaton(file, scope, &Rc::new(given.clone()));
            let mut work = self.work.get();
            let cost = align::strict_cost(&automaton, observations, span, &mut work);
            self.work.set(work);
            cost
        });
        Rc::new(supposed)
    }
}

/// Tries each of the parameters `open` as a tensor, every operator of which leaves an event, and as anything else, of which
/// none does. Where one of them costs as much more as what cannot be, the other is true.
fn decide(open: &[Box<str>], given: &Given, mut cost: impl FnMut(&Given) -> Option<Cost>) -> Given {
    let mut known = given.clone();
    for name in open.iter().take(MOST_TRIED) {
        let (tensor, other) = (known.with(name, Value::Tensor), known.with(name, Value::Other));
        let (Some(as_tensor), Some(as_other)) = (cost(&tensor), cost(&other)) else { break };
        if as_tensor.saturating_add(OBLIGED) <= as_other {
            known = tensor;
        } else if as_other.saturating_add(OBLIGED) <= as_tensor {
            known = other;
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use source::{Comprehensions, Module};

    use super::*;
    use crate::align::{Entry, Inputs, Kind};

    const WHOLE: Span = Span { entry: Entry::Whole, cut: false };

    /// What is known of the parameters of the first function when it launched `ops`.
    fn decided(text: &str, ops: &[&'static str]) -> Given {
        let module = Module::parse(text);
        let seen: Vec<Observation<'_>> = ops
            .iter()
            .map(|&name| Observation { kind: Kind::Op(name), line: None, inputs: Inputs::default() })
            .collect();
        let open = module.open_parameters(ScopeId(1), &Given::default());
        decide(&open, &Given::default(), |given| {
            let automaton = module.automaton_given(ScopeId(1), Comprehensions::Inlined, given);
            align::strict_cost(&automaton, &seen, &WHOLE, &mut usize::MAX.clone())
        })
    }

    #[test]
    fn what_was_launched_tells_a_tensor_from_a_number() {
        let text = "def f(a, b):\n    c = a * 2\n    d = b / 3\n    return c, d\n";
        let known = Given::default();
        assert_eq!(decided(text, &["aten::mul"]), known.with("a", Value::Tensor).with("b", Value::Other));
        assert_eq!(
            decided(text, &["aten::mul", "aten::div"]),
            known.with("a", Value::Tensor).with("b", Value::Tensor)
        );
        assert_eq!(decided(text, &[]), known.with("a", Value::Other).with("b", Value::Other));
    }

    #[test]
    fn what_is_possible_either_way_is_left_open() {
        let text = "def f(a, b):\n    c = a * b\n    return c\n";
        assert_eq!(decided(text, &["aten::mul"]), Given::default());
        let text = "def f(a, c):\n    if c > 1:\n        return a * 2\n    return a\n";
        let known = Given::default().with("c", Value::Other);
        assert_eq!(decided(text, &[]), known, "the branch may not have been taken");
        assert_eq!(decided(text, &["aten::mul"]), known.with("a", Value::Tensor));
    }
}
