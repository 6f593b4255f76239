//! Expressions.

use ruff_python_ast::{
    ArgOrKeyword, BoolOp, CmpOp, Expr, ExprAttribute, ExprBinOp, ExprBoolOp, ExprCall, ExprCompare,
    ExprContext, FStringPart, InterpolatedStringElement, Operator, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use super::{Builder, Comprehensions};
use crate::automaton::{Callee, EmitterKind, IMPROBABLE, State};
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
            Expr::BinOp(e) => self.binary(e, from),
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => self.condition(&e.operand, e.range, from),
            Expr::UnaryOp(e) => {
                let at = self.expr(&e.operand, from);
                if self.is_plain(&e.operand) {
                    return at;
                }
                let ops = self.ops_of(&e.operand, names::unary_ops(e.op));
                let skip = self.obligation(&e.operand, ops, 4);
                let emitter = self.emitter(EmitterKind::Unary, e.range, ops, names::UNARY_FRAMES, skip);
                self.emit(at, emitter)
            }
            Expr::Compare(e) => self.compare(e, from),
            Expr::BoolOp(e) => self.bool_op(e, from),
            Expr::If(e) => {
                let at = self.condition(&e.test, e.range, from);
                let known = self.known(&e.test);
                let (yes, no) = (self.unless(known == Some(false), at), self.unless(known == Some(true), at));
                let (yes, no) = (self.expr(&e.body, yes), self.expr(&e.orelse, no));
                self.join([yes, no])
            }
            Expr::Call(e) => self.call(e, from),
            Expr::Attribute(e) => self.attribute(e, from),
            Expr::Subscript(e) => {
                let at = self.expr(&e.value, from);
                let at = self.expr(&e.slice, at);
                match e.ctx {
                    ExprContext::Load => self.subscript(&e.value, &e.slice, e.range, at, false),
                    ExprContext::Store => self.subscript(&e.value, &e.slice, e.range, at, true),
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
                // What is awaited runs at once, and again each time this is resumed.
                let at = self.expr(&e.value, from);
                let at = self.consumed(&e.value, at);
                self.awaited(&e.value, e.range, at)
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
                let at = self.iterate(e.range, e.range, names::ITERATE_OPS, names::ITERATE_FRAMES, at);
                self.consumed(&e.value, at)
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

    fn binary(&mut self, e: &'a ExprBinOp, from: State) -> State {
        let at = self.expr(&e.left, from);
        let at = self.expr(&e.right, at);
        // `"…" % x` reads the numbers of `x`.
        let formats = e.op == Operator::Mod && self.is_text(&e.left);
        let skip = if formats { 0 } else { 6 };
        let mut emitter = self.emitter(
            EmitterKind::Binary,
            e.range,
            if formats { names::FORMAT_OPS } else { names::binary_ops(e.op) },
            names::binary_frames(e.op),
            skip,
        );
        emitter.operands = self.operands([&*e.left, &*e.right]);
        emitter.repeat = formats.then_some(1);
        if self.is_container(&e.left) || self.is_container(&e.right) {
            // `[0.5] * n`, with a tensor of one element for `n`.
            emitter.ops = if e.op == Operator::Mult { names::INDEX_VALUE } else { &[] };
            emitter.skip = 0;
        } else if !formats {
            self.price(&mut emitter, &e.left, &e.right);
        }
        self.emit(at, emitter)
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
                at = self.truth(e.range, e.range, names::TRUTH_OPS, 0, at);
                self.draft.silent(at, out, 0);
            }
            at = self.expr(right, at);
            let (ops, frames) = (names::compare_ops(*op), names::compare_frames(*op));
            if matches!(op, CmpOp::In | CmpOp::NotIn) {
                // Compared with each element of a list.
                let mut emitter = self.emitter(EmitterKind::Compare, e.range, names::AMONG_OPS, frames, 0);
                emitter.repeat = Some(1);
                self.price(&mut emitter, left, right);
                emitter.skip = 0;
                at = self.emit(at, emitter);
            } else if !ops.is_empty() || !frames.is_empty() {
                let mut emitter = self.emitter(EmitterKind::Compare, e.range, ops, frames, 0);
                emitter.operands = self.operands([left, right]);
                self.price(&mut emitter, left, right);
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
                at = self.tested(value, e.range, at);
            }
            let goes_on = self.known(value).map(|truth| truth == (e.op == BoolOp::And));
            let last = place + 1 == e.values.len();
            self.draft.silent(at, out, if goes_on == Some(true) && !last { IMPROBABLE } else { 0 });
            at = self.unless(goes_on == Some(false), at);
        }
        out
    }

    fn call(&mut self, e: &'a ExprCall, from: State) -> State {
        let range = e.range();
        let mut line = self.start_line(range);
        let (at, name) = match &*e.func {
            Expr::Attribute(method) => {
                let at = self.expr(&method.value, from);
                // A method's call in a chain over several lines is reported on the line of its own name, but not one that
                // is compiled as any other call.
                let (first, last) = (self.start_line(method.range), self.end_line(method.range));
                if first != last && is_compiled_as_method(e) {
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
        if plain.is_some_and(names::leaves_no_frame) {
            at = e.arguments.args.iter().fold(at, |at, argument| self.consumed(argument, at));
        }
        if !plain.is_some_and(|name| names::is_builtin(name) || self.functions.contains(name)) {
            // A class makes an object in two frames.
            let mut new = self.emitter(EmitterKind::Call, range, &[], &["__new__"], 0);
            new.line = line;
            new.callee = Callee::Fixed;
            at = self.emit(at, new);
        }
        let types = name.map_or(&[][..], names::tensor_type_ops);
        let ops = if types.is_empty() { plain.map_or(&[][..], names::constructor_ops) } else { types };
        let skip =
            if plain.is_some_and(names::leaves_no_frame) || self.may_be_of_c(&e.func) { 1 } else { 24 };
        let iterates = ops.first() == names::ITERATE_OPS.first();
        let frames = plain.map_or(&[][..], names::type_frames);
        let mut emitter = self.emitter(EmitterKind::Call, range, ops, frames, skip);
        emitter.line = line;
        emitter.repeat = (!ops.is_empty()).then_some(if types.is_empty() && !iterates { 12 } else { 1 });
        emitter.name = name.map(Into::into);
        emitter.callee = self.callee(&e.func);
        emitter.aliases = self.values.called(&e.func);
        emitter.operands = self.operands(
            e.arguments.args.iter().chain(e.arguments.keywords.iter().map(|keyword| &keyword.value)),
        );
        self.emit(at, emitter)
    }

    /// Whether what is called may be a type or an object that is written in C, whose call leaves no frame: of a name that is
    /// neither this file's function nor torch's that is not known.
    fn may_be_of_c(&self, callee: &Expr) -> bool {
        let is_type = |name: &str| name.starts_with(char::is_uppercase) || name == "device";
        match self.values.resolve(callee) {
            // `torch.Size`, `torch.device`: but modules and parameters are Python's.
            Some(path) if path.starts_with("torch.") => {
                path.matches('.').count() == 1 && path.rsplit('.').next().is_some_and(is_type)
            }
            // Of the libraries whose types and objects are.
            Some(path) => matches!(
                path.split('.').next(),
                Some(
                    "array"
                        | "collections"
                        | "datetime"
                        | "decimal"
                        | "fractions"
                        | "itertools"
                        | "numpy"
                        | "operator"
                )
            ),
            None => callee.as_name_expr().is_some_and(|name| {
                let name = name.id.as_str();
                !names::is_builtin(name)
                    && !self.functions.contains(name)
                    && !self.values.called(callee).is_empty()
                    && self.values.called(callee).iter().all(|held| !self.functions.contains(held))
            }),
        }
    }

    /// A pause at which `what` runs again each time it is resumed.
    pub(super) fn awaited(&mut self, what: &'a Expr, range: TextRange, from: State) -> State {
        let resumed = self.pause(range, from);
        let ran = self.consumed(what, resumed);
        self.draft.silent(ran, from, 0);
        ran
    }

    /// What `map` and its like call while they are iterated: C code calls functions written in C without a frame.
    pub(super) fn consumed(&mut self, iterable: &'a Expr, from: State) -> State {
        let Expr::Call(call) = iterable else { return from };
        let Some(name) = last_name(&call.func) else { return from };
        let argument = |at: usize| call.arguments.args.get(at);
        let range = call.range();
        match name {
            "enumerate" | "zip" | "reversed" => call
                .arguments
                .args
                .iter()
                .fold(from, |at, argument| crate::deep(|| self.consumed(argument, at))),
            "filter" => {
                let head = self.draft.state();
                self.draft.silent(from, head, 0);
                let mut called = self.emitter(EmitterKind::Call, range, &[], &[], 0);
                called.aliases = argument(0).map(|function| self.values.called(function)).unwrap_or_default();
                called.name = argument(0).and_then(last_name).map(Into::into);
                called.callee = Callee::Member;
                let at = self.emit(head, called);
                let test = self.emitter(EmitterKind::Truth, range, names::TRUTH_OPS, names::TRUTH_FRAMES, 0);
                let at = self.emit(at, test);
                self.draft.silent(at, head, 1);
                at
            }
            "map" | "starmap" | "accumulate" => {
                let function = match name {
                    "accumulate" => call.arguments.find_argument_value("func", 1),
                    _ => argument(0),
                };
                let mut called = if name == "accumulate" && function.is_none() {
                    let ops = names::binary_ops(Operator::Add);
                    self.emitter(EmitterKind::Binary, range, ops, names::binary_frames(Operator::Add), 0)
                } else {
                    self.emitter(EmitterKind::Call, range, &[], &[], 0)
                };
                called.name = function.and_then(last_name).map(Into::into);
                called.aliases = function.map(|function| self.values.called(function)).unwrap_or_default();
                called.callee = Callee::Member;
                called.repeat = Some(1);
                let known = called.name.is_some() || !called.aliases.is_empty() || !called.ops.is_empty();
                if known { self.emit(from, called) } else { from }
            }
            _ => {
                // A generator is run by whoever iterates it.
                let mut generator = self.emitter(EmitterKind::Iterate, range, &[], &[], 0);
                generator.name = Some(name.into());
                generator.repeat = Some(1);
                self.emit(from, generator)
            }
        }
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
        let ops = self.ops_of(&e.value, names::attribute_ops(&e.attr));
        let transposes = matches!(e.attr.as_str(), "T" | "mT" | "H" | "mH");
        let skip = if transposes { self.obligation(&e.value, ops, 4) } else { 0 };
        let mut emitter = self.emitter(EmitterKind::Attribute, e.range, ops, names::ATTRIBUTE_FRAMES, skip);
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
                let format =
                    self.emitter(EmitterKind::Call, e.range, &[], &["__format__", "__str__", "__repr__"], 0);
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

/// `f` of `f` and of `a.b.f`.
fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr),
        _ => None,
    }
}

/// Whether CPython compiles the call of an attribute as a method's (`maybe_optimize_method_call` in its `codegen.c`).
fn is_compiled_as_method(call: &ExprCall) -> bool {
    const STACK_USE_GUIDELINE: usize = 30;
    let arguments = &call.arguments;
    let keywords = arguments.keywords.len();
    !arguments.args.iter().any(Expr::is_starred_expr)
        && arguments.keywords.iter().all(|keyword| keyword.arg.is_some())
        && arguments.args.len() + keywords + usize::from(keywords > 0) < STACK_USE_GUIDELINE
}
