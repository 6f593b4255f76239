//! Builds the automaton of a scope: statements and expressions in the order Python evaluates them.

mod comprehension;
mod expression;
mod operand;
mod statement;
mod subscript;

use std::collections::HashSet;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::LineIndex;
use crate::automaton::{Automaton, Callee, Cost, Draft, Emitter, EmitterKind, Operand, Pause, State};
use crate::torch_names::{self as names, Names};

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

/// The automaton of `code`. `functions` are those of the file whose frames have their names.
pub(crate) fn build(
    code: &Code<'_>,
    text: &str,
    lines: &LineIndex,
    comprehensions: Comprehensions,
    functions: &HashSet<Box<str>>,
) -> Automaton {
    let mut draft = Draft::default();
    let start = draft.state();
    let end = draft.state();
    let mut builder = Builder { text, lines, comprehensions, functions, draft, end, unwinds: Vec::new() };
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
    /// The exits of a `with`: the lines to report, innermost last.
    With(Vec<Emitter>),
}

struct Builder<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    comprehensions: Comprehensions,
    functions: &'a HashSet<Box<str>>,
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
            callee: Callee::Open,
            skip,
            repeat: None,
            operands: Box::default(),
        }
    }

    fn emit(&mut self, from: State, emitter: Emitter) -> State {
        self.draft.emit(from, emitter)
    }

    /// The test of a value that is already computed. Python reports it where the whole statement or conditional
    /// expression `at` begins, whatever line the value stands on.
    fn truth(&mut self, of: TextRange, at: TextRange, from: State) -> State {
        let mut emitter = self.emitter(EmitterKind::Truth, of, names::TRUTH_OPS, names::TRUTH_FRAMES, 0);
        emitter.line = self.start_line(at);
        emitter.lines.0 = emitter.lines.0.min(emitter.line);
        emitter.repeat = Some(12);
        self.emit(from, emitter)
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
                    self.draft.silent(at, out, 0);
                }
                out
            }
            Expr::UnaryOp(e) if e.op == ruff_python_ast::UnaryOp::Not => {
                self.condition(&e.operand, whole, from)
            }
            _ => {
                let at = self.expr(expr, from);
                if is_plain_bool(expr) { at } else { self.truth(expr.range(), whole, at) }
            }
        }
    }

    fn operands<'e>(&self, of: impl IntoIterator<Item = &'e Expr>) -> Box<[Operand]> {
        of.into_iter().map(|expr| operand::operand(expr, self.text)).collect()
    }
}

/// An expression whose value is always a plain `bool`: testing it leaves no event.
fn is_plain_bool(expr: &Expr) -> bool {
    match expr {
        Expr::Compare(compare) => compare.ops.iter().all(|op| names::compare_ops(*op).is_empty()),
        Expr::Call(call) => call.func.as_name_expr().is_some_and(|name| {
            matches!(name.id.as_str(), "isinstance" | "issubclass" | "hasattr" | "callable" | "bool")
        }),
        _ => expr.is_literal_expr(),
    }
}
