//! What calls pass to the functions they open, each call and function once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use source::{Given, ScopeId};

use crate::FileId;
use crate::files::Files;

/// As many ways to call one function are told apart; more are taken together, of which nothing is known.
const MOST_WAYS: usize = 32;

type Function = (FileId, ScopeId);

/// A call and the function that it opened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub caller: Function,
    /// What is known of the caller's own parameters.
    pub caller_given: Rc<Given>,
    /// Bytes of the call.
    pub expression: Range<u32>,
    pub callee: Function,
    /// An `nn.Module` was called.
    pub of_module: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Passed {
    by_call: RefCell<HashMap<Call, Rc<Given>>>,
    ways: RefCell<HashMap<Function, Vec<Rc<Given>>>>,
}

impl Passed {
    /// What is known of the parameters of the function that a call opened.
    pub fn of(&self, files: &Files<'_>, call: Call) -> Rc<Given> {
        if let Some(known) = self.by_call.borrow().get(&call) {
            return Rc::clone(known);
        }
        let (caller, callee) = (files.file(call.caller.0), files.file(call.callee.0));
        let arguments = caller.module.arguments(call.caller.1, &call.caller_given, &call.expression);
        let arguments = arguments.filter(|arguments| {
            call.of_module || arguments.is_from(&callee.key.path, call.caller.0 == call.callee.0)
        });
        let given = arguments.map(|arguments| callee.module.given(call.callee.1, &arguments, call.of_module));
        let given = self.shared(call.callee, given.unwrap_or_default());
        self.by_call.borrow_mut().insert(call, Rc::clone(&given));
        given
    }

    fn shared(&self, callee: Function, given: Given) -> Rc<Given> {
        let mut ways = self.ways.borrow_mut();
        let ways = ways.entry(callee).or_default();
        if let Some(known) = ways.iter().find(|known| ***known == given) {
            return Rc::clone(known);
        }
        if given.is_empty() || ways.len() >= MOST_WAYS {
            return Rc::default();
        }
        let given = Rc::new(given);
        ways.push(Rc::clone(&given));
        given
    }
}
