//! Comprehensions and generator expressions, in a frame of their own or inlined.

use ruff_python_ast::{Comprehension, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::Builder;
use crate::automaton::{EmitterKind, State};
use crate::torch_names as names;

/// The parts of any comprehension: what is collected and how it is iterated.
struct Parts<'a> {
    key: Option<&'a Expr>,
    element: &'a Expr,
    generators: &'a [Comprehension],
    range: TextRange,
    frame: &'static [&'static str],
    is_generator: bool,
}

fn parts(expr: &Expr) -> Option<Parts<'_>> {
    let (key, element, generators, frame): (_, _, _, &'static [&'static str]) = match expr {
        Expr::ListComp(e) => (None, &*e.elt, &e.generators, &["<listcomp>"]),
        Expr::SetComp(e) => (None, &*e.elt, &e.generators, &["<setcomp>"]),
        Expr::DictComp(e) => (e.key.as_deref(), &*e.value, &e.generators, &["<dictcomp>"]),
        Expr::Generator(e) => (None, &*e.elt, &e.generators, &["<genexpr>"]),
        _ => return None,
    };
    let is_generator = expr.is_generator_expr();
    Some(Parts { key, element, generators, range: expr.range(), frame, is_generator })
}

impl<'a> Builder<'a> {
    /// A comprehension as part of an expression: its first iterable is evaluated here, the rest here or in its frame.
    pub(super) fn comprehension(&mut self, expr: &'a Expr, from: State) -> State {
        let Some(parts) = parts(expr) else { return from };
        let Some(first) = parts.generators.first() else { return from };
        let at = self.expr(&first.iter, from);
        if !parts.is_generator && !self.nests_comprehensions() {
            return self.run_comprehension(&parts, at);
        }
        let iterable = first.iter.range();
        let at = self.iterate(iterable, parts.range, names::NESTED_ITERATE_OPS, &["__iter__", "__len__"], at);
        let mut frame = self.emitter(EmitterKind::Call, parts.range, &[], parts.frame, 6);
        frame.repeat = parts.is_generator.then_some(1);
        self.emit(at, frame)
    }

    /// The frame of a comprehension: everything but its first iterable.
    pub(super) fn own_comprehension(&mut self, expr: &'a Expr, from: State) -> State {
        parts(expr).map_or(from, |parts| self.run_comprehension(&parts, from))
    }

    fn run_comprehension(&mut self, parts: &Parts<'a>, from: State) -> State {
        self.level(parts, 0, from)
    }

    fn level(&mut self, parts: &Parts<'a>, depth: usize, from: State) -> State {
        let Some(generator) = parts.generators.get(depth) else {
            let at = parts.key.map_or(from, |key| self.expr(key, from));
            let at = self.expr(parts.element, at);
            return if parts.is_generator { self.pause(parts.element.range(), at) } else { at };
        };
        let at = if depth > 0 { self.expr(&generator.iter, from) } else { from };
        let iterable = generator.iter.range();
        let ops = self.ops_of(&generator.iter, names::ITERATE_OPS);
        let head = self.iterate(
            iterable,
            parts.range,
            ops,
            &["__iter__", "__next__", "<genexpr>", "__getitem__", "__len__"],
            at,
        );
        let out = self.draft.state();
        self.draft.silent(head, out, 0);
        let next = self.iterate(iterable, parts.range, ops, names::NEXT_FRAMES, head);
        let next = self.consumed(&generator.iter, next);
        let next = if generator.is_async { self.awaited(&generator.iter, parts.range, next) } else { next };
        let mut at = self.store(&generator.target, next);
        for condition in &generator.ifs {
            at = self.condition(condition, parts.range, at);
            self.draft.silent(at, head, 0);
        }
        let at = self.level(parts, depth + 1, at);
        self.draft.silent(at, head, 0);
        out
    }
}
