//! What is known of a function's parameters when one of its frames is read.

use std::rc::Rc;

use profile::{Callee, EventId};
use source::Given;

use super::passed::Call;
use super::{Reading, Readings};
use crate::files::Text;
use crate::frames::Located;

impl Readings<'_> {
    /// What is known of the parameters of a frame's function: what the call that opened it passes.
    pub(super) fn given(&self, frame: EventId, located: &Located) -> Rc<Given> {
        let none = Rc::default();
        let Some(fit) = located.fit.filter(|fit| fit.as_profiled) else { return none };
        let Some((caller, caller_located, inner)) = self.frames.innermost(frame) else { return none };
        let Some(caller_fit) = caller_located.fit else { return none };
        let Some(caller_reading) = self.by_frame.borrow().get(&caller).map(Rc::clone) else { return none };
        let edited = |file| self.frames.files.file(file).text() == Text::Edited;
        if caller_reading.stale
            || edited(caller_located.file)
            || edited(located.file)
            || !self.passes_on(frame, caller)
        {
            return none;
        }
        let child = inner.unwrap_or(frame);
        let Some(Reading::Exact(spot) | Reading::Aligned(spot)) = caller_reading.of(child) else {
            return none;
        };
        let Some(expression) = spot.expression.clone() else { return none };
        let call = Call {
            caller: (caller_located.file, caller_fit.scope),
            caller_given: Rc::clone(&caller_reading.given),
            expression,
            callee: (located.file, fit.scope),
            of_module: inner.is_some_and(|inner| self.is_module_call(inner)),
        };
        self.passed.of(self.frames.files, call)
    }

    /// Whether all frames between a function's and its caller's are torch's, which pass their arguments on.
    fn passes_on(&self, frame: EventId, caller: EventId) -> bool {
        self.frames
            .around(frame)
            .take_while(|&at| at != caller)
            .all(|at| self.is_module_call(at) || self.is_context(at))
    }

    fn is_module_call(&self, frame: EventId) -> bool {
        let callee = self.frames.profile.frame(frame).map(|info| info.callee);
        matches!(callee, Some(Callee::Module { .. })) || self.is_of_file(frame, "torch/nn/modules/module.py")
    }

    /// A wrapper of `@torch.no_grad()` and its like.
    fn is_context(&self, frame: EventId) -> bool {
        self.is_of_file(frame, "torch/utils/_contextlib.py")
    }

    fn is_of_file(&self, frame: EventId, path: &str) -> bool {
        match self.frames.profile.frame(frame).map(|info| info.callee) {
            Some(Callee::Python { file, .. }) => {
                self.frames.profile.text(file).replace('\\', "/").ends_with(path)
            }
            _ => false,
        }
    }
}
