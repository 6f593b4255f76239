//! Expressions.

use ruff_python_ast::{
    ArgOrKeyword, Expr, ExprAttribute, ExprBoolOp, ExprCall, ExprCompare, ExprContext, FStringPart,
    InterpolatedStringElement, UnaryOp,
};
use ruff_text_size::Ranged;

use super::{Builder, Comprehensions};
use crate::automaton::{Callee, EmitterKind, State};
use crate::torch_names as names;

impl<'a> Builder<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr, from: State) -> State {
        if self.full() {
            return from;
        }
        crate::deep(|| self.expr_inner(expr, from))
    }

    fn expr_inner(&mut self, expr: &'a Expr, from: State) -> State {
        match expr {
            Expr::BinOp(e) => {
                let at = self.expr(&e.left, from);
                let at = self.expr(&e.right, at);
                let constant = e.left.is_literal_expr() && e.right.is_literal_expr();
                let skip = if constant { 0 } else { 6 };
                let mut emitter = self.emitter(
                    EmitterKind::Binary,
                    e.range,
                    names::binary_ops(e.op),
                    names::binary_frames(e.op),
                    skip,
                );
                emitter.operands = self.operands([&*e.left, &*e.right]);
                self.emit(at, emitter)
            }
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => self.condition(&e.operand, e.range, from),
            Expr::UnaryOp(e) => {
                let at = self.expr(&e.operand, from);
                if e.operand.is_literal_expr() {
                    return at;
                }
                let emitter =
                    self.emitter(EmitterKind::Unary, e.range, names::unary_ops(e.op), names::UNARY_FRAMES, 4);
                self.emit(at, emitter)
            }
            Expr::Compare(e) => self.compare(e, from),
            Expr::BoolOp(e) => self.bool_op(e, from),
            Expr::If(e) => {
                let at = self.condition(&e.test, e.range, from);
                let (yes, no) = (self.expr(&e.body, at), self.expr(&e.orelse, at));
                self.join([yes, no])
            }
            Expr::Call(e) => self.call(e, from),
            Expr::Attribute(e) => self.attribute(e, from),
            Expr::Subscript(e) => {
                let at = self.expr(&e.value, from);
                let at = self.expr(&e.slice, at);
                match e.ctx {
                    ExprContext::Load => self.subscript(&e.slice, e.range, at, false),
                    ExprContext::Store => self.subscript(&e.slice, e.range, at, true),
                    ExprContext::Del | ExprContext::Invalid => at,
                }
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehension(expr, from)
            }
            Expr::Lambda(e) => {
                e.parameters.iter().flat_map(|p| p.iter_non_variadic_params()).fold(from, |at, parameter| {
                    parameter.default.as_deref().map_or(at, |default| self.expr(default, at))
                })
            }
            Expr::Yield(e) => {
                let at = e.value.as_deref().map_or(from, |value| self.expr(value, from));
                self.pause(e.range, at)
            }
            Expr::YieldFrom(e) => {
                let at = self.expr(&e.value, from);
                let at =
                    self.iterate(e.value.range(), e.range, names::ITERATE_OPS, names::ITERATE_FRAMES, at);
                self.pause(e.range, at)
            }
            Expr::Await(e) => {
                let at = self.expr(&e.value, from);
                self.pause(e.range, at)
            }
            Expr::Named(e) => {
                let at = self.expr(&e.value, from);
                self.store(&e.target, at)
            }
            Expr::FString(e) => e.value.iter().fold(from, |at, part| match part {
                FStringPart::Literal(_) => at,
                FStringPart::FString(part) => self.interpolated(&part.elements, at),
            }),
            Expr::TString(e) => e.value.iter().fold(from, |at, part| self.interpolated(&part.elements, at)),
            Expr::Dict(e) => e.iter().fold(from, |at, item| {
                let at = item.key.as_ref().map_or(at, |key| self.expr(key, at));
                self.expr(&item.value, at)
            }),
            Expr::Set(e) => self.exprs(&e.elts, from),
            Expr::List(e) => self.exprs(&e.elts, from),
            Expr::Tuple(e) => self.exprs(&e.elts, from),
            Expr::Starred(e) => {
                let at = self.expr(&e.value, from);
                self.iterate(e.range, e.range, names::ITERATE_OPS, names::ITERATE_FRAMES, at)
            }
            Expr::Slice(e) => [&e.lower, &e.upper, &e.step]
                .into_iter()
                .flatten()
                .fold(from, |at, bound| self.expr(bound, at)),
            Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::Name(_)
            | Expr::IpyEscapeCommand(_) => from,
        }
    }

    pub(super) fn exprs(&mut self, list: &'a [Expr], from: State) -> State {
        list.iter().fold(from, |at, expr| self.expr(expr, at))
    }

    /// One state after several alternatives.
    pub(super) fn join<const N: usize>(&mut self, arms: [State; N]) -> State {
        let out = self.draft.state();
        for arm in arms {
            self.draft.silent(arm, out, 0);
        }
        out
    }

    /// A chained comparison tests each link before it goes on to the next.
    fn compare(&mut self, e: &'a ExprCompare, from: State) -> State {
        let mut at = self.expr(&e.left, from);
        let mut left = &*e.left;
        let out = self.draft.state();
        for (place, (op, right)) in e.ops.iter().zip(&e.comparators).enumerate() {
            if place > 0 {
                at = self.truth(e.range, e.range, at);
                self.draft.silent(at, out, 0);
            }
            at = self.expr(right, at);
            let (ops, frames) = (names::compare_ops(*op), names::compare_frames(*op));
            if !ops.is_empty() || !frames.is_empty() {
                let mut emitter = self.emitter(EmitterKind::Compare, e.range, ops, frames, 0);
                emitter.operands = self.operands([left, right]);
                at = self.emit(at, emitter);
            }
            left = right;
        }
        self.draft.silent(at, out, 0);
        out
    }

    /// `a and b` as a value: every operand but the last is tested.
    fn bool_op(&mut self, e: &'a ExprBoolOp, from: State) -> State {
        let out = self.draft.state();
        let mut at = from;
        for (place, value) in e.values.iter().enumerate() {
            at = self.expr(value, at);
            if place + 1 < e.values.len() {
                at = self.truth(value.range(), e.range, at);
            }
            self.draft.silent(at, out, 0);
        }
        out
    }

    fn call(&mut self, e: &'a ExprCall, from: State) -> State {
        let range = e.range();
        let mut line = self.start_line(range);
        let (at, name) = match &*e.func {
            Expr::Attribute(method) => {
                let at = self.expr(&method.value, from);
                // A call in a chain over several lines is reported on the line of its own name.
                let (first, last) = (self.start_line(method.range), self.end_line(method.range));
                if first != last {
                    line = last;
                }
                let mut load =
                    self.emitter(EmitterKind::Attribute, method.range, &[], names::ATTRIBUTE_FRAMES, 0);
                load.line = line;
                load.name = Some(method.attr.as_str().into());
                (self.emit(at, load), Some(method.attr.as_str()))
            }
            Expr::Name(name) => (from, Some(name.id.as_str())),
            func => (self.expr(func, from), None),
        };
        let mut at = at;
        for argument in e.arguments.iter_source_order() {
            at = match argument {
                ArgOrKeyword::Arg(value) => self.expr(value, at),
                ArgOrKeyword::Keyword(keyword) => self.expr(&keyword.value, at),
            };
        }
        let plain = e.func.as_name_expr().map(|name| name.id.as_str());
        let types = name.map_or(&[][..], names::tensor_type_ops);
        let ops = if types.is_empty() { plain.map_or(&[][..], names::constructor_ops) } else { types };
        let skip = if plain.is_some_and(names::leaves_no_frame) { 1 } else { 24 };
        let mut emitter = self.emitter(EmitterKind::Call, range, ops, &[], skip);
        emitter.line = line;
        emitter.repeat = (!ops.is_empty()).then_some(if types.is_empty() { 12 } else { 1 });
        emitter.name = name.map(Into::into);
        emitter.callee = self.callee(&e.func);
        emitter.operands = self.operands(
            e.arguments.args.iter().chain(e.arguments.keywords.iter().map(|keyword| &keyword.value)),
        );
        self.emit(at, emitter)
    }

    fn callee(&self, func: &Expr) -> Callee {
        match func {
            Expr::Name(name) if names::is_builtin(&name.id) || self.functions.contains(name.id.as_str()) => {
                Callee::Fixed
            }
            Expr::Attribute(method) => match root(&method.value) {
                Some("self" | "cls") if self.functions.contains(method.attr.as_str()) => Callee::Fixed,
                Some("self" | "cls") => Callee::Open,
                Some("torch" | "F") => Callee::Fixed,
                _ => Callee::Member,
            },
            _ => Callee::Open,
        }
    }

    fn attribute(&mut self, e: &'a ExprAttribute, from: State) -> State {
        let at = self.expr(&e.value, from);
        let mut emitter = self.emitter(
            EmitterKind::Attribute,
            e.range,
            names::attribute_ops(&e.attr),
            names::ATTRIBUTE_FRAMES,
            if matches!(e.attr.as_str(), "T" | "mT" | "H" | "mH") { 4 } else { 0 },
        );
        emitter.line = self.end_line(e.range);
        emitter.name = Some(e.attr.as_str().into());
        self.emit(at, emitter)
    }

    fn interpolated(&mut self, elements: &'a [InterpolatedStringElement], from: State) -> State {
        elements.iter().fold(from, |at, element| match element {
            InterpolatedStringElement::Literal(_) => at,
            InterpolatedStringElement::Interpolation(e) => {
                let mut at = self.expr(&e.expression, at);
                if let Some(spec) = &e.format_spec {
                    at = self.interpolated(&spec.elements, at);
                }
                let format = self.emitter(
                    EmitterKind::Call,
                    e.range,
                    &["item", "_local_scalar_dense"],
                    &["__format__", "__str__", "__repr__"],
                    0,
                );
                self.emit(at, format)
            }
        })
    }

    /// Whether comprehensions other than generators run in frames of their own.
    pub(super) fn nests_comprehensions(&self) -> bool {
        self.comprehensions == Comprehensions::Nested
    }
}

/// The name that an attribute path begins with.
fn root(mut expr: &Expr) -> Option<&str> {
    while let Expr::Attribute(attribute) = expr {
        expr = &attribute.value;
    }
    expr.as_name_expr().map(|name| name.id.as_str())
}
