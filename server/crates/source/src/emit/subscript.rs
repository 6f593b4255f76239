//! `value[index]`: a chain of views for plain indices, one gather or scatter for tensor indices.

use ruff_python_ast::{Expr, Number};
use ruff_text_size::{Ranged, TextRange};

use super::Builder;
use crate::automaton::{EmitterKind, Operand, State};
use crate::torch_names::{self as names, Names};

impl<'a> Builder<'a> {
    /// The read or write itself, after value and index were evaluated.
    pub(super) fn subscript(&mut self, index: &'a Expr, range: TextRange, from: State, store: bool) -> State {
        let elements = match index {
            Expr::Tuple(tuple) => &tuple.elts[..],
            other => std::slice::from_ref(other),
        };
        let out = self.draft.state();
        // A plain Python container leaves no event or a frame of its own; it takes no new axes and rarely several indices.
        let plain =
            !index.is_tuple_expr() && !index.is_none_literal_expr() && !index.is_ellipsis_literal_expr();
        let frames: Names = if store { &["__setitem__"] } else { &["__getitem__"] };
        let container = self.emitter(EmitterKind::Subscript, range, &[], frames, if plain { 3 } else { 12 });
        let after = self.emit(from, container);
        self.draft.silent(after, out, 0);

        let mut at = self.draft.state();
        self.draft.silent(from, at, 0);
        let mut by_value = false;
        for element in elements {
            at = match element {
                Expr::EllipsisLiteral(_) => at,
                Expr::NoneLiteral(_) => self.view(range, names::NEW_AXIS, 12, None, Box::default(), at),
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
                    let bounds = self.operands(
                        [&slice.lower, &slice.upper, &slice.step].into_iter().flatten().map(|b| &**b),
                    );
                    self.view(range, names::SLICE, skip, None, bounds, at)
                }
                _ if is_constant(element) => {
                    let operands: Box<[Operand]> = self.operands([element]);
                    self.view(range, names::SELECT, 12, None, operands, at)
                }
                _ => {
                    by_value = true;
                    self.view(range, names::SELECT_BY_VALUE, 6, Some(14), Box::default(), at)
                }
            };
        }
        let (last, skip) = match (store, by_value) {
            (true, _) => (names::STORE, 6),
            (false, true) => (names::INDEX, 6),
            (false, false) => (names::VIEW, 0),
        };
        at = self.view(range, last, skip, Some(8), Box::default(), at);
        self.draft.silent(at, out, 0);
        out
    }

    fn view(
        &mut self,
        range: TextRange,
        ops: Names,
        skip: u32,
        repeat: Option<u32>,
        operands: Box<[Operand]>,
        from: State,
    ) -> State {
        let mut emitter = self.emitter(EmitterKind::Subscript, range, ops, &[], skip);
        emitter.repeat = repeat;
        emitter.operands = operands;
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
        let mut emitter = self.emitter(EmitterKind::SetAttribute, range, &[], names::SET_ATTRIBUTE_FRAMES, 0);
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
        Expr::BooleanLiteral(_) | Expr::StringLiteral(_) => true,
        _ => false,
    }
}
