//! What a function may launch, in evaluation order, as an automaton.
//!
//! A state is a point of the evaluation; an [`Emitter`] leads from one state to the next and may leave an event behind
//! (an op, a call's frame); a silent edge leads on without one, at a cost. Costs are in units of 1/20: small integers,
//! so that equally good readings of a trace are *exactly* equal and can be told from merely close ones.

use std::ops::Range;

/// A cost of an alignment, in units of 1/20.
pub type Cost = u32;

/// What it costs to assume what cannot be if the text is what ran: that plain values launch an op, or that a condition on
/// constants went the other way. No other cost equals it.
pub const IMPROBABLE: Cost = 51;

/// What it costs to assume that an operator on a tensor left no event. No other cost equals it.
pub const OBLIGED: Cost = 25;

/// A point of a function's evaluation.
pub type State = u32;

/// What kind of expression or statement leaves the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmitterKind {
    Call,
    Binary,
    Unary,
    Compare,
    Subscript,
    Attribute,
    SetAttribute,
    /// Iterating over a value: `for`, unpacking, comprehensions, `*args`.
    Iterate,
    /// Testing a value: `if x`, `while x`, `x and y`.
    Truth,
    With,
    Import,
}

/// How far the text tells the name of the frame that a call opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callee {
    /// Not: a variable, an attribute of `self`, the result of a call.
    Open,
    /// A method or a member of a module has the frame its name says, unless it holds an object that is called.
    Member,
    /// A function of this file, a builtin, a function of torch: nothing else is called.
    Fixed,
}

/// An operand or argument, as far as the text tells what it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Int(i64),
    Float(f64),
    /// A Python number that the text does not give: `x.shape[0]`.
    Number,
    /// A plain name or attribute path: the same text twice is the same value.
    Name(Box<str>),
    Other,
}

/// A place in the text that may leave an event in the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Emitter {
    pub kind: EmitterKind,
    /// 1-based line that the interpreter reports for it.
    pub line: u32,
    /// 1-based lines that a call made by it may be reported on.
    pub lines: (u32, u32),
    /// Byte range of the expression.
    pub range: Range<u32>,
    /// Names of `aten::` ops, without the namespace, that it may launch without a frame of their own.
    pub ops: &'static [&'static str],
    /// Names of the frames that it may open, beside [`Emitter::name`].
    pub frames: &'static [&'static str],
    /// The called function's or the attribute's own name.
    pub name: Option<Box<str>>,
    /// Functions that a called variable may hold.
    pub aliases: Box<[Box<str>]>,
    /// Of a call: what is known of the callee.
    pub callee: Callee,
    /// What it costs to assume that it left no event.
    pub skip: Cost,
    /// What it costs to assume that it left one more event of its kind; `None`: only a call's repeated frame may.
    pub repeat: Option<Cost>,
    /// What it costs to assume that it left any: of plain values, it should not.
    pub dear: Cost,
    /// Operands of an operator, or the positional and keyword arguments of a call.
    pub operands: Box<[Operand]>,
    /// Of an index: its tensor has at least so many dimensions.
    pub rank: u32,
}

impl Emitter {
    /// Whether it may open a frame of this function name.
    pub fn opens(&self, function: &str) -> bool {
        let called = self.name.as_deref();
        called == Some(function)
            || self.frames.contains(&function)
            || self.aliases.iter().any(|alias| **alias == *function)
            || called.is_some_and(|called| is_in_namespace(function, called))
    }
}

/// `torch.linalg.solve` is bound to a C function `linalg_solve`, and so are others.
fn is_in_namespace(function: &str, called: &str) -> bool {
    // `torch.sparse.mm` is `_sparse_mm`.
    let function = function.trim_start_matches('_');
    let of = |namespace: &str| {
        function.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('_')) == Some(called)
    };
    ["fft", "linalg", "nested", "sparse", "special"].into_iter().any(of)
}

/// An emitter between two states.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub from: State,
    pub to: State,
    pub emitter: Emitter,
}

/// A silent edge as seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silent {
    pub other: State,
    pub cost: Cost,
}

/// Edges sorted by one of their ends.
#[derive(Debug, Clone, Default, PartialEq)]
struct Adjacency {
    first: Vec<u32>,
    edges: Vec<Silent>,
}

impl Adjacency {
    fn new(states: usize, edges: impl Iterator<Item = (State, Silent)> + Clone) -> Self {
        let mut first = vec![0u32; states + 1];
        for (at, _) in edges.clone() {
            first[at as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut sorted = vec![Silent { other: 0, cost: 0 }; *first.last().unwrap_or(&0) as usize];
        for (at, edge) in edges {
            sorted[next[at as usize] as usize] = edge;
            next[at as usize] += 1;
        }
        Self { first, edges: sorted }
    }

    fn of(&self, state: State) -> &[Silent] {
        match (self.first.get(state as usize), self.first.get(state as usize + 1)) {
            (Some(&from), Some(&to)) => &self.edges[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// The automaton of one function, lambda, comprehension, class body or module.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Automaton {
    states: u32,
    steps: Vec<Step>,
    first_step: Vec<u32>,
    onward: Adjacency,
    backward: Adjacency,
    /// Where evaluation begins.
    pub start: State,
    /// Where it ends, by `return`, by falling off the end or by an error that leaves the function.
    pub end: State,
    /// Points where a generator or coroutine hands over and is resumed: before and after each `yield` or `await`, with
    /// the 1-based line of it.
    pub pauses: Vec<Pause>,
}

/// A `yield`, `yield from` or `await`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub before: State,
    pub after: State,
    pub line: u32,
}

impl Automaton {
    /// How many states there are; they are numbered from 0.
    pub fn states(&self) -> u32 {
        self.states
    }

    /// Every emitter, sorted by the state it starts from.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Index range in [`Automaton::steps`] of the emitters that start from `state`.
    pub fn steps_from(&self, state: State) -> Range<u32> {
        match (self.first_step.get(state as usize), self.first_step.get(state as usize + 1)) {
            (Some(&from), Some(&to)) => from..to,
            _ => 0..0,
        }
    }

    /// Silent edges that leave `state`.
    pub fn silent_from(&self, state: State) -> &[Silent] {
        self.onward.of(state)
    }

    /// Silent edges that reach `state`; [`Silent::other`] is where they come from.
    pub fn silent_into(&self, state: State) -> &[Silent] {
        self.backward.of(state)
    }
}

/// Grows an automaton; [`Draft::finish`] sorts its edges.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub states: u32,
    pub steps: Vec<Step>,
    pub silent: Vec<(State, State, Cost)>,
    pub pauses: Vec<Pause>,
}

impl Draft {
    pub fn state(&mut self) -> State {
        self.states += 1;
        self.states - 1
    }

    pub fn silent(&mut self, from: State, to: State, cost: Cost) {
        if from != to {
            self.silent.push((from, to, cost));
        }
    }

    /// Adds an emitter after `from` and gives the state after it.
    pub fn emit(&mut self, from: State, emitter: Emitter) -> State {
        let to = self.state();
        self.silent.push((from, to, emitter.skip));
        self.steps.push(Step { from, to, emitter });
        to
    }

    pub fn finish(mut self, start: State, end: State) -> Automaton {
        self.steps.sort_by_key(|step| step.from);
        let states = self.states as usize;
        let mut first_step = vec![0u32; states + 1];
        for step in &self.steps {
            first_step[step.from as usize + 1] += 1;
        }
        for at in 1..first_step.len() {
            first_step[at] += first_step[at - 1];
        }
        let edges = self.silent.iter();
        let onward =
            Adjacency::new(states, edges.clone().map(|&(from, to, cost)| (from, Silent { other: to, cost })));
        let backward =
            Adjacency::new(states, edges.map(|&(from, to, cost)| (to, Silent { other: from, cost })));
        Automaton {
            states: self.states,
            steps: self.steps,
            first_step,
            onward,
            backward,
            start,
            end,
            pauses: self.pauses,
        }
    }
}
