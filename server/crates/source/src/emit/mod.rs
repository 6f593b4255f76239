//! Builds the automaton of a scope: statements and expressions in the order Python evaluates them.

mod comprehension;
mod expression;
mod operand;
mod statement;
mod subscript;

use std::collections::HashSet;

use ruff_python_ast::{BoolOp, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::LineIndex;
use crate::automaton::{
    Automaton, Callee, Cost, Draft, Emitter, EmitterKind, IMPROBABLE, OBLIGED, Operand, Pause, State,
};
use crate::torch_names::{self as names, Names};
use crate::values::{Constant, Evaluator, Value};

/// How the Python that recorded the trace runs list, set and dict comprehensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comprehensions {
    /// In a frame of their own: up to Python 3.11.
    Nested,
    /// In the frame of the function around: from Python 3.12 on.
    Inlined,
}

/// What a scope consists of.
pub(crate) enum Code<'a> {
    Body(&'a [Stmt]),
    Expression(&'a Expr),
    /// A comprehension or generator expression run in a frame of its own; its first iterable is given to it.
    Comprehension(&'a Expr),
}

/// Beyond this many states a function is not modelled further: what follows has no emitters, so its ops stay with the
/// function.
const MOST_STATES: u32 = 500_000;

/// The automaton of `code`. `functions` are those of the file whose frames have their names, `values` what is known of
/// the scope's names.
pub(crate) fn build(
    code: &Code<'_>,
    text: &str,
    lines: &LineIndex,
    comprehensions: Comprehensions,
    functions: &HashSet<Box<str>>,
    values: &Evaluator<'_>,
) -> Automaton {
    let mut draft = Draft::default();
    let start = draft.state();
    let end = draft.state();
    let mut builder =
        Builder { text, lines, comprehensions, functions, values, draft, end, unwinds: Vec::new() };
    let last = match code {
        Code::Body(body) => builder.body(body, start),
        Code::Expression(expr) => builder.expr(expr, start),
        Code::Comprehension(expr) => builder.own_comprehension(expr, start),
    };
    builder.draft.silent(last, end, 0);
    builder.draft.finish(start, end)
}

/// What `return`, `break` and `continue` pass on their way out.
enum Unwind<'a> {
    /// A loop: where `continue` and `break` lead.
    Loop { head: State, out: State },
    /// A `finally` body.
    Finally(&'a [Stmt]),
    /// Where `raise` leads to within a `try` that has handlers.
    Handlers(State),
    /// The exits of a `with`: the lines to report, innermost last.
    With(Vec<Emitter>),
}

struct Builder<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    comprehensions: Comprehensions,
    functions: &'a HashSet<Box<str>>,
    values: &'a Evaluator<'a>,
    draft: Draft,
    end: State,
    unwinds: Vec<Unwind<'a>>,
}

impl<'a> Builder<'a> {
    fn start_line(&self, range: TextRange) -> u32 {
        self.lines.line(range.start().into()) + 1
    }

    fn end_line(&self, range: TextRange) -> u32 {
        self.lines.line(u32::from(range.end()).saturating_sub(1)) + 1
    }

    fn full(&self) -> bool {
        self.draft.states > MOST_STATES
    }

    fn emitter(&self, kind: EmitterKind, range: TextRange, ops: Names, frames: Names, skip: Cost) -> Emitter {
        let line = self.start_line(range);
        Emitter {
            kind,
            line,
            lines: (line, self.end_line(range).max(line)),
            range: range.start().into()..range.end().into(),
            ops,
            frames,
            name: None,
            aliases: Box::default(),
            callee: Callee::Open,
            skip,
            repeat: None,
            dear: 0,
            operands: Box::default(),
            rank: 0,
        }
    }

    fn emit(&mut self, from: State, emitter: Emitter) -> State {
        self.draft.emit(from, emitter)
    }

    /// The test of a value that is already computed. Python reports it where the whole statement or conditional
    /// expression `at` begins, whatever line the value stands on.
    fn truth(&mut self, of: TextRange, at: TextRange, ops: Names, skip: Cost, from: State) -> State {
        let mut emitter = self.emitter(EmitterKind::Truth, of, ops, names::TRUTH_FRAMES, skip);
        emitter.line = self.start_line(at);
        emitter.lines.0 = emitter.lines.0.min(emitter.line);
        emitter.repeat = Some(12);
        self.emit(from, emitter)
    }

    /// The test of `expr`, where its value may leave an event.
    fn tested(&mut self, expr: &'a Expr, at: TextRange, from: State) -> State {
        match self.values.of(expr) {
            Value::Plain | Value::Known(_) | Value::Container => from,
            Value::Unknown => self.truth(expr.range(), at, names::TRUTH_OPS, 0, from),
            Value::Other => self.truth(expr.range(), at, &[], 0, from),
            Value::Tensor => self.truth(expr.range(), at, names::TRUTH_OPS, OBLIGED, from),
        }
    }

    /// Iterating: as many events as there are elements.
    fn iterate(
        &mut self,
        of: TextRange,
        lines_of: TextRange,
        ops: Names,
        frames: Names,
        from: State,
    ) -> State {
        let mut emitter = self.emitter(EmitterKind::Iterate, of, ops, frames, 0);
        emitter.lines =
            (self.start_line(lines_of).min(emitter.line), self.end_line(lines_of).max(emitter.lines.1));
        emitter.repeat = Some(1);
        self.emit(from, emitter)
    }

    fn pause(&mut self, at: TextRange, before: State) -> State {
        let after = self.draft.state();
        self.draft.silent(before, after, 0);
        let line = self.start_line(at);
        self.draft.pauses.push(Pause { before, after, line });
        after
    }

    /// The condition of `at`: jumps test each operand of `and`, `or` and `not`.
    fn condition(&mut self, expr: &'a Expr, at: TextRange, from: State) -> State {
        crate::deep(|| self.condition_inner(expr, at, from))
    }

    fn condition_inner(&mut self, expr: &'a Expr, whole: TextRange, from: State) -> State {
        match expr {
            Expr::BoolOp(e) => {
                let out = self.draft.state();
                let mut at = from;
                for value in &e.values {
                    at = self.condition(value, whole, at);
                    let goes_on = self.known(value).map(|truth| truth == (e.op == BoolOp::And));
                    self.draft.silent(at, out, if goes_on == Some(true) { IMPROBABLE } else { 0 });
                    at = self.unless(goes_on == Some(false), at);
                }
                self.draft.silent(at, out, 0);
                out
            }
            Expr::UnaryOp(e) if e.op == ruff_python_ast::UnaryOp::Not => {
                self.condition(&e.operand, whole, from)
            }
            _ => {
                let at = self.expr(expr, from);
                self.tested(expr, whole, at)
            }
        }
    }

    fn operands<'e>(&self, of: impl IntoIterator<Item = &'e Expr>) -> Box<[Operand]> {
        of.into_iter().map(|expr| operand::operand(expr, self.text, &self.values.of(expr))).collect()
    }

    /// Whether a value is surely no tensor and nothing that holds one: operators and tests of it leave no event.
    fn is_plain(&self, expr: &Expr) -> bool {
        self.values.of(expr).is_plain()
    }

    fn is_container(&self, expr: &Expr) -> bool {
        self.values.of(expr) == Value::Container
    }

    /// What it costs to assume that none of `ops` came of `of`: `skip` where it looks like a tensor, hardly anything where
    /// it may as well be something else.
    fn obligation(&self, of: &Expr, ops: Names, skip: Cost) -> Cost {
        if ops.is_empty() {
            0
        } else if self.values.looks_like_tensor(of) {
            skip
        } else {
            0
        }
    }

    /// `ops`, unless they would be those of a value that is no tensor.
    fn ops_of(&self, expr: &Expr, ops: Names) -> Names {
        if self.values.of(expr).is_no_tensor() { &[] } else { ops }
    }

    /// Prices the operator of `left` and `right`: on a tensor it leaves an event, on plain values it does not.
    fn price(&self, operator: &mut Emitter, left: &Expr, right: &Expr) {
        let (first, second) = (self.values.of(left), self.values.of(right));
        if operator.ops.is_empty() {
        } else if first.is_plain() && second.is_plain() {
            (operator.skip, operator.dear) = (0, IMPROBABLE);
        } else if first.is_no_tensor() && second.is_no_tensor() {
            // An object's class may have operators of its own.
            (operator.skip, operator.ops) = (0, &[]);
        } else if first == Value::Tensor || second == Value::Tensor {
            operator.skip = OBLIGED;
        } else if !self.values.looks_like_tensor(left) && !self.values.looks_like_tensor(right) {
            // As well numbers as tensors.
            operator.skip = 0;
        }
    }

    /// Whether a value is surely a string.
    fn is_text(&self, expr: &Expr) -> bool {
        expr.is_f_string_expr() || matches!(self.values.of(expr), Value::Known(Constant::Text(_)))
    }

    /// What a condition comes to, where the text tells.
    fn known(&self, condition: &Expr) -> Option<bool> {
        self.values.of(condition).truth()
    }

    /// A state that is reached from `from`, at a price when it is `improbable`.
    fn unless(&mut self, improbable: bool, from: State) -> State {
        if !improbable {
            return from;
        }
        let to = self.draft.state();
        self.draft.silent(from, to, IMPROBABLE);
        to
    }
}
