//! What a function launches when nothing but ops is seen.

use std::rc::Rc;

use source::{Automaton, Callee, Cost, Emitter, EmitterKind, IMPROBABLE, OBLIGED, Scope, State};

use super::sequence::{Op, Sequence};
use crate::align::{self, Kind, Observation};

/// What `nn.Module`s of torch launch beside the ops of `torch.nn.functional`.
const MODULE_OPS: [&str; 7] = ["bilinear", "flatten", "gru", "lstm", "max_pool1d", "max_pool2d", "tanh"];

/// Names of calls and of the ops that they launch, where these differ.
const OTHER_NAMES: [(&str, &str); 15] = [
    ("bfloat16", "to"),
    ("bool", "to"),
    ("cpu", "to"),
    ("cross_entropy", "cross_entropy_loss"),
    ("cuda", "to"),
    ("double", "to"),
    ("float", "to"),
    ("half", "to"),
    ("int", "to"),
    ("long", "to"),
    ("max_pool2d", "max_pool2d_with_indices"),
    ("nll_loss", "nll_loss_nd"),
    ("norm", "linalg_vector_norm"),
    ("swapaxes", "transpose"),
    ("type", "to"),
];

/// How much an op that an operator, a subscript or an attribute explains tells of a function.
const OF_OPERATOR: u32 = 1;
/// The same of one that the text names.
const OF_NAME: u32 = 3;

/// What a way to go on without an op costs; `None` where the text cannot.
pub(super) type Price = Option<Cost>;

/// A function that may be matched.
pub(super) struct Function {
    pub name: Box<str>,
    pub automaton: Rc<Automaton>,
    /// For each step which of the trace's ops it may launch, and how much each tells.
    explains: Vec<Vec<(u32, u32)>>,
    /// Whether a step calls what may be a function or module of the workspace.
    calls: Vec<bool>,
}

impl Function {
    /// `None` when what the trace has tells nothing of this function.
    pub fn new(scope: &Scope, automaton: Rc<Automaton>, sequence: &Sequence<'_>) -> Option<Self> {
        let explains: Vec<Vec<(u32, u32)>> = automaton
            .steps()
            .iter()
            .map(|step| {
                let told = |(at, op): (usize, &Op<'_>)| Some((at as u32, tells(&step.emitter, op)?));
                sequence.ops.iter().enumerate().filter_map(told).collect()
            })
            .collect();
        let calls = automaton.steps().iter().map(|step| may_run_others(&step.emitter)).collect();
        let most = |ops: &Vec<(u32, u32)>| ops.iter().map(|&(_, told)| told).max().unwrap_or(0);
        let told: u32 = explains.iter().map(most).sum();
        let function = Self { name: scope.name.clone(), automaton, explains, calls };
        (told >= super::matching::LEAST_TOLD || function.calls.contains(&true)).then_some(function)
    }

    /// How much it tells that a step launches an op; `None` when it does not.
    pub fn explains(&self, step: u32, op: u32) -> Option<u32> {
        let ops = self.explains.get(step as usize)?;
        ops.binary_search_by_key(&op, |&(op, _)| op).ok().map(|at| ops[at].1)
    }

    /// Whether a step may run a function of this name.
    pub fn runs(&self, step: u32, name: &str) -> bool {
        if !self.calls[step as usize] {
            return false;
        }
        let emitter = &self.automaton.steps()[step as usize].emitter;
        // An `nn.Module` runs its `forward`.
        emitter.name.as_deref() == Some(name) || (name == "forward" && emitter.callee == Callee::Open)
    }

    /// Whether any step may run a function of this name.
    pub fn may_call(&self, name: &str) -> bool {
        (0..self.calls.len() as u32).any(|step| self.runs(step, name))
    }

    /// What it costs to go on from `from` to `to` by a silent edge of `cost`. Calls that are no op's cost nothing here:
    /// their frames are not in the trace.
    pub fn price(&self, from: State, to: State, cost: Cost) -> Price {
        if cost == IMPROBABLE || cost == OBLIGED {
            return None;
        }
        let steps = self.automaton.steps_from(from).map(|at| &self.automaton.steps()[at as usize]);
        let skipped =
            steps.filter(|step| step.to == to && step.emitter.skip == cost).map(|step| &step.emitter).next();
        match skipped {
            Some(call) if call.kind == EmitterKind::Call && names_op(call) => None,
            Some(call) if call.kind == EmitterKind::Call && may_run_others(call) => Some(SKIPPED_CALL),
            Some(call) if call.kind == EmitterKind::Call => Some(0),
            // Nothing here tells a number from a tensor but that most operators are on tensors.
            Some(operator) if operator.kind == EmitterKind::Binary && operator.dear == 0 && cost > 0 => {
                Some(cost.max(SKIPPED_OPERATOR))
            }
            _ => Some(cost),
        }
    }
}

/// What it costs that an operator launched nothing.
const SKIPPED_OPERATOR: Cost = 5;
/// What it costs that a function of unknown text, or a module, launched nothing.
const SKIPPED_CALL: Cost = 4;

/// Whether a call surely launches an op of its name.
fn names_op(call: &Emitter) -> bool {
    call.name.as_deref().is_some_and(|name| {
        source::gives_tensor(name) || OTHER_NAMES.iter().any(|&(called, _)| called == name)
    })
}

/// Whether what is called may be a function or a module of the workspace.
fn may_run_others(call: &Emitter) -> bool {
    call.kind == EmitterKind::Call
        && !names_op(call)
        && call.ops.is_empty()
        && call.name.as_deref().is_some_and(|name| !source::is_builtin(name))
}

/// Whether an `nn.Module` of torch launches an op of this name.
fn is_of_module(op: &str) -> bool {
    let functional = OTHER_NAMES.iter().filter(|&&(_, other)| other == op).map(|&(name, _)| name);
    MODULE_OPS.contains(&op) || functional.chain([op]).any(source::is_functional)
}

/// How much it tells that `emitter` launches `op`; `None` when it does not.
fn tells(emitter: &Emitter, op: &Op<'_>) -> Option<u32> {
    let base = op.name.rsplit("::").next().unwrap_or(op.name);
    if emitter.kind == EmitterKind::Call {
        let other = |name: &str| OTHER_NAMES.contains(&(name, base));
        if emitter.opens(base) || emitter.name.as_deref().is_some_and(other) {
            return Some(OF_NAME);
        }
        if emitter.ops.contains(&base) {
            return Some(OF_OPERATOR);
        }
        let module = emitter.callee == Callee::Open && is_of_module(base) && may_run_others(emitter);
        return module.then_some(OF_OPERATOR);
    }
    let observation = Observation { kind: Kind::Op(op.name), line: None, inputs: op.inputs.clone() };
    align::fits(emitter, &observation).then_some(OF_OPERATOR)
}
