//! `value[index]`: a chain of views for plain indices, one gather or scatter for tensor indices.

use ruff_python_ast::{Expr, Number};
use ruff_text_size::{Ranged, TextRange};

use super::Builder;
use crate::automaton::{Cost, EmitterKind, Operand, State};
use crate::torch_names::{self as names, Names};
use crate::values::Value;

/// One op of a subscript; see the fields of [`crate::Emitter`].
#[derive(Default)]
struct View {
    skip: Cost,
    repeat: Option<Cost>,
    operands: Box<[Operand]>,
    rank: u32,
}

impl<'a> Builder<'a> {
    /// The read or write itself, after value and index were evaluated.
    pub(super) fn subscript(
        &mut self,
        value: &'a Expr,
        index: &'a Expr,
        range: TextRange,
        from: State,
        store: bool,
    ) -> State {
        let elements = match index {
            Expr::Tuple(tuple) => &tuple.elts[..],
            other => std::slice::from_ref(other),
        };
        let out = self.draft.state();
        // A plain Python container leaves no event or a frame of its own; it takes no new axes and rarely several indices.
        let is_key = elements.iter().any(|element| self.is_text(element));
        let plain =
            !index.is_tuple_expr() && !index.is_none_literal_expr() && !index.is_ellipsis_literal_expr();
        let frames: Names = if store {
            &["__setitem__", "__hash__", "__eq__"]
        } else {
            &["__getitem__", "__hash__", "__eq__", "__missing__"]
        };
        let skip = if self.values.looks_like_tensor(value) {
            12
        } else if plain {
            0
        } else {
            // An array of NumPy, or a dict with such keys.
            3
        };
        let container = self.emitter(EmitterKind::Subscript, range, &[], frames, skip);
        let after = self.emit(from, container);
        self.draft.silent(after, out, 0);
        if is_key {
            // A string is no index of a tensor.
            return out;
        }
        if self.values.of(value).is_no_tensor() {
            let index = self.made(range, names::INDEX_VALUE, from);
            self.draft.silent(index, out, 0);
            return out;
        }

        let at = self.draft.state();
        self.draft.silent(from, at, 0);
        let chain = |this: &mut Self, by_tensor: bool| {
            let skip = if by_tensor { 0 } else { 12 };
            let at = elements.iter().enumerate().fold(at, |at, (place, element)| {
                let rank = this.rank(&elements[..place], &elements[place..]);
                this.element(element, range, View { skip, rank, ..View::default() }, at)
            });
            this.end(range, store, by_tensor, at)
        };
        // Either every index is a number, slice or the like, or one of them is a tensor.
        let plain = chain(self, false);
        let last = if elements.iter().any(|element| self.may_be_tensor(element)) {
            let by_tensor = chain(self, true);
            self.join([plain, by_tensor])
        } else {
            plain
        };
        self.draft.silent(last, out, 0);
        out
    }

    /// How many dimensions a tensor has at least whose indices `before` were applied and of which those `from` here on are
    /// to be: a number takes one away, a slice leaves it, `None` adds one.
    fn rank(&self, before: &[Expr], from: &[Expr]) -> u32 {
        let is_slice = |element: &Expr| element.is_slice_expr();
        let is_number = |element: &Expr| {
            is_constant(element)
                || self.is_plain(element)
                    && !matches!(element, Expr::BooleanLiteral(_) | Expr::EllipsisLiteral(_) | Expr::Tuple(_))
                    && self.values.of(element) != Value::NONE
        };
        let left =
            before.iter().filter(|element| is_slice(element) || element.is_none_literal_expr()).count();
        let taken = from.iter().filter(|element| is_slice(element) || is_number(element)).count();
        (left + taken) as u32
    }

    /// What one of the indices leaves. One that may be a tensor leaves nothing at the price of `view`.
    fn element(&mut self, element: &'a Expr, range: TextRange, view: View, at: State) -> State {
        match element {
            Expr::EllipsisLiteral(_) => at,
            _ if self.values.of(element) == Value::NONE => {
                self.view(range, names::NEW_AXIS, View { skip: 12, ..view }, at)
            }
            Expr::Slice(slice) => {
                let full = slice.lower.is_none() && slice.upper.is_none() && slice.step.is_none();
                // Bounds that are not literals often span everything, and then nothing is sliced.
                let literal = |bound: &Option<Box<Expr>>| bound.as_deref().is_none_or(is_constant);
                let literal = literal(&slice.lower) && literal(&slice.upper) && literal(&slice.step);
                let skip = if full {
                    0
                } else if literal {
                    12
                } else {
                    6
                };
                let at = if literal { at } else { self.made(range, names::INDEX_VALUE, at) };
                let operands = self
                    .operands([&slice.lower, &slice.upper, &slice.step].into_iter().flatten().map(|b| &**b));
                self.view(range, names::SLICE, View { skip, operands, ..view }, at)
            }
            _ if is_constant(element) => {
                let operands = self.operands([element]);
                self.view(range, names::SELECT, View { skip: 12, operands, ..view }, at)
            }
            // A number, or a tuple of numbers.
            _ if self.is_plain(element) && !element.is_boolean_literal_expr() => {
                self.view(range, names::SELECT, View { skip: 12, repeat: Some(8), ..view }, at)
            }
            Expr::BooleanLiteral(_) => self.made(range, names::MAKE_BOOL_INDEX, at),
            _ => {
                let at = self.view(range, names::INDEX_VALUE, View::default(), at);
                let rank = view.rank;
                let at = self.view(range, names::SELECT, View { repeat: Some(8), ..view }, at);
                // The variable may hold a slice, if rarely.
                let mut slice = self.emitter(EmitterKind::Subscript, range, names::SLICE, &[], 0);
                slice.dear = 10;
                slice.rank = rank;
                slice.repeat = Some(0);
                self.emit(at, slice)
            }
        }
    }

    /// The end of a read or write, by tensor index or by plain ones.
    fn end(&mut self, range: TextRange, store: bool, by_tensor: bool, from: State) -> State {
        let mut at = from;
        if by_tensor {
            at = self.made(range, names::MAKE_INDEX, at);
        }
        if store {
            at = self.made(range, names::MAKE_VALUE, at);
        }
        let (last, skip) = match (store, by_tensor) {
            (true, true) => (names::STORE_BY_INDEX, 12),
            (true, false) => (names::STORE, 6),
            (false, true) => (names::INDEX, 12),
            (false, false) => (names::VIEW, 0),
        };
        self.view(range, last, View { skip, ..View::default() }, at)
    }

    /// Any number of ops that make a tensor of an index or a value.
    fn made(&mut self, range: TextRange, ops: Names, from: State) -> State {
        let mut emitter = self.emitter(EmitterKind::Subscript, range, ops, &[], 0);
        emitter.repeat = Some(0);
        emitter.dear = 2;
        self.emit(from, emitter)
    }

    fn may_be_tensor(&self, element: &Expr) -> bool {
        !matches!(element, Expr::EllipsisLiteral(_) | Expr::NoneLiteral(_) | Expr::Slice(_))
            && (element.is_boolean_literal_expr() || !(is_constant(element) || self.is_plain(element)))
    }

    fn view(&mut self, range: TextRange, ops: Names, view: View, from: State) -> State {
        let mut emitter = self.emitter(EmitterKind::Subscript, range, ops, &[], view.skip);
        emitter.repeat = view.repeat;
        emitter.operands = view.operands;
        emitter.rank = view.rank;
        self.emit(from, emitter)
    }

    /// Assigning to a name, attribute, element or several of them.
    pub(super) fn store(&mut self, target: &'a Expr, from: State) -> State {
        match target {
            Expr::Tuple(_) | Expr::List(_) => {
                let elements = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => return from,
                };
                let at = self.iterate(
                    target.range(),
                    target.range(),
                    names::ITERATE_OPS,
                    names::ITERATE_FRAMES,
                    from,
                );
                elements.iter().fold(at, |at, element| crate::deep(|| self.store(element, at)))
            }
            Expr::Starred(starred) => self.store(&starred.value, from),
            Expr::Subscript(_) => self.expr(target, from),
            Expr::Attribute(attribute) => {
                let at = self.expr(&attribute.value, from);
                self.set_attribute(attribute.range, &attribute.attr, at)
            }
            _ => from,
        }
    }

    pub(super) fn set_attribute(&mut self, range: TextRange, name: &str, from: State) -> State {
        let mut emitter = self.emitter(
            EmitterKind::SetAttribute,
            range,
            names::set_attribute_ops(name),
            names::SET_ATTRIBUTE_FRAMES,
            0,
        );
        emitter.line = self.end_line(range);
        emitter.name = Some(name.into());
        self.emit(from, emitter)
    }
}

/// A literal index, with or without a sign.
fn is_constant(element: &Expr) -> bool {
    match element {
        Expr::NumberLiteral(literal) => matches!(literal.value, Number::Int(_) | Number::Float(_)),
        Expr::UnaryOp(e) => !e.operand.is_name_expr(),
        _ => false,
    }
}
