//! Statements.

use ruff_python_ast::{
    Decorator, ExceptHandler, Expr, Stmt, StmtAugAssign, StmtClassDef, StmtFor, StmtIf, StmtMatch, StmtTry,
    StmtWhile, StmtWith,
};
use ruff_text_size::Ranged;

use super::{Builder, Unwind};
use crate::automaton::{EmitterKind, IMPROBABLE, State};
use crate::torch_names as names;

/// What it costs to assume that an error was raised.
const RAISED: u32 = 40;

/// The same where it is caught: a trace does not show errors, so that a handler is as likely as what follows.
const CAUGHT: u32 = 2;

impl<'a> Builder<'a> {
    pub(super) fn body(&mut self, body: &'a [Stmt], from: State) -> State {
        body.iter().fold(from, |at, stmt| if self.full() { at } else { crate::deep(|| self.stmt(stmt, at)) })
    }

    fn stmt(&mut self, stmt: &'a Stmt, from: State) -> State {
        match stmt {
            Stmt::Expr(s) => self.expr(&s.value, from),
            Stmt::Assign(s) => {
                let at = self.expr(&s.value, from);
                s.targets.iter().fold(at, |at, target| self.store(target, at))
            }
            Stmt::AnnAssign(s) => match &s.value {
                Some(value) => {
                    let at = self.expr(value, from);
                    self.store(&s.target, at)
                }
                None => from,
            },
            Stmt::AugAssign(s) => self.augmented(s, from),
            Stmt::Return(s) => {
                let at = s.value.as_deref().map_or(from, |value| self.expr(value, from));
                let end = self.end;
                self.leave(at, None, end);
                self.draft.state()
            }
            Stmt::If(s) => self.branch(s, from),
            Stmt::For(s) => self.for_loop(s, from),
            Stmt::While(s) => self.while_loop(s, from),
            Stmt::Break(_) => self.leave_loop(from, true),
            Stmt::Continue(_) => self.leave_loop(from, false),
            Stmt::With(s) => self.with(s, from),
            Stmt::Try(s) => self.try_block(s, from),
            Stmt::Raise(s) => {
                let at = s.exc.as_deref().map_or(from, |exc| self.expr(exc, from));
                let at = s.cause.as_deref().map_or(at, |cause| self.expr(cause, at));
                let end = self.end;
                let handlers = self.unwinds.iter().rev().find_map(|unwind| match unwind {
                    Unwind::Handlers(raised) => Some(*raised),
                    _ => None,
                });
                self.draft.silent(at, handlers.unwrap_or(end), 0);
                self.draft.state()
            }
            Stmt::Assert(s) => {
                let at = self.condition(&s.test, s.range, from);
                let failed = s.msg.as_deref().map_or(at, |message| self.expr(message, at));
                let end = self.end;
                self.draft.silent(failed, end, 0);
                self.join([at])
            }
            Stmt::Delete(s) => s.targets.iter().fold(from, |at, target| self.expr(target, at)),
            Stmt::FunctionDef(s) => {
                let at = self.decorators(&s.decorator_list, from);
                let at = s.parameters.iter_non_variadic_params().fold(at, |at, parameter| {
                    parameter.default.as_deref().map_or(at, |default| self.expr(default, at))
                });
                self.decorate(&s.decorator_list, at)
            }
            Stmt::ClassDef(s) => self.class(s, from),
            Stmt::Match(s) => self.match_statement(s, from),
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                let mut import = self.emitter(
                    EmitterKind::Import,
                    stmt.range(),
                    &[],
                    &["_find_and_load", "_handle_fromlist", "__import__"],
                    0,
                );
                import.repeat = Some(1);
                self.emit(from, import)
            }
            Stmt::TypeAlias(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::IpyEscapeCommand(_) => from,
        }
    }

    fn branch(&mut self, s: &'a StmtIf, from: State) -> State {
        let out = self.draft.state();
        let test = self.condition(&s.test, s.range, from);
        let mut test = self.arm(&s.body, self.known(&s.test), test, out);
        let mut closed = false;
        for clause in &s.elif_else_clauses {
            let known = match &clause.test {
                Some(condition) => {
                    test = self.condition(condition, clause.range, test);
                    self.known(condition)
                }
                None => {
                    closed = true;
                    Some(true)
                }
            };
            test = self.arm(&clause.body, known, test, out);
        }
        if !closed {
            self.draft.silent(test, out, 0);
        }
        out
    }

    /// An arm whose condition comes to `known`: where the others begin.
    fn arm(&mut self, body: &'a [Stmt], known: Option<bool>, test: State, out: State) -> State {
        let taken = self.unless(known == Some(false), test);
        let arm = self.body(body, taken);
        self.draft.silent(arm, out, 0);
        self.unless(known == Some(true), test)
    }

    fn while_loop(&mut self, s: &'a StmtWhile, from: State) -> State {
        let head = self.draft.state();
        self.draft.silent(from, head, 0);
        let test = self.condition(&s.test, s.range, head);
        let out = self.draft.state();
        let known = self.known(&s.test);
        let done = self.unless(known == Some(true), test);
        let ended = self.body(&s.orelse, done);
        self.draft.silent(ended, out, 0);
        let test = self.unless(known == Some(false), test);
        self.unwinds.push(Unwind::Loop { head, out });
        let last = self.body(&s.body, test);
        self.unwinds.pop();
        self.draft.silent(last, head, 0);
        out
    }

    fn class(&mut self, s: &'a StmtClassDef, from: State) -> State {
        let mut at = self.decorators(&s.decorator_list, from);
        if let Some(arguments) = &s.arguments {
            for argument in arguments.iter_source_order() {
                at = self.expr(argument.value(), at);
            }
        }
        let mut class = self.emitter(EmitterKind::Call, s.range, &[], &["__build_class__"], 6);
        class.name = Some(s.name.as_str().into());
        class.repeat = Some(1);
        let at = self.emit(at, class);
        self.decorate(&s.decorator_list, at)
    }

    fn for_loop(&mut self, s: &'a StmtFor, from: State) -> State {
        let at = self.expr(&s.iter, from);
        let iterable = s.iter.range();
        let ops = self.ops_of(&s.iter, names::ITERATE_OPS);
        let head = self.iterate(iterable, iterable, ops, names::ITERATE_FRAMES, at);
        let out = self.draft.state();
        let ended = self.body(&s.orelse, head);
        self.draft.silent(ended, out, 0);
        let next = self.iterate(iterable, iterable, ops, names::NEXT_FRAMES, head);
        let next = self.consumed(&s.iter, next);
        let next = if s.is_async { self.awaited(&s.iter, iterable, next) } else { next };
        let at = self.store(&s.target, next);
        self.unwinds.push(Unwind::Loop { head, out });
        let last = self.body(&s.body, at);
        self.unwinds.pop();
        self.draft.silent(last, head, 0);
        out
    }

    fn augmented(&mut self, s: &'a StmtAugAssign, from: State) -> State {
        let mut at = from;
        match &*s.target {
            Expr::Subscript(target) => {
                at = self.expr(&target.value, at);
                at = self.expr(&target.slice, at);
                at = self.subscript(&target.value, &target.slice, target.range, at, false);
            }
            Expr::Attribute(target) => {
                at = self.expr(&target.value, at);
                let mut load = self.emitter(EmitterKind::Attribute, s.range, &[], names::ATTRIBUTE_FRAMES, 0);
                load.name = Some(target.attr.as_str().into());
                at = self.emit(at, load);
            }
            _ => {}
        }
        at = self.expr(&s.value, at);
        if self.is_container(&s.target) {
            // A list takes what it is given by iterating.
            return self.iterate(s.value.range(), s.range, names::ITERATE_OPS, names::ITERATE_FRAMES, at);
        }
        let target = self.values.of(&s.target).is_no_tensor();
        let value = self.is_plain(&s.value);
        // A tensor is changed in place. A number is replaced: by a tensor when one is added to it.
        let mut operator = self.emitter(
            EmitterKind::Binary,
            s.range,
            names::in_place_ops(s.op),
            names::binary_frames(s.op),
            6,
        );
        operator.operands = self.operands([&*s.target, &*s.value]);
        self.price(&mut operator, &s.target, &s.value);
        if value {
            at = self.emit(at, operator);
        } else {
            let mut replaced = operator.clone();
            replaced.ops = names::binary_ops(s.op);
            let new = self.emit(at, replaced);
            if target {
                operator.dear = IMPROBABLE;
            }
            let changed = self.emit(at, operator);
            at = self.join([changed, new]);
        }
        match &*s.target {
            Expr::Subscript(target) => self.subscript(&target.value, &target.slice, target.range, at, true),
            Expr::Attribute(target) => self.set_attribute(s.range, &target.attr, at),
            _ => at,
        }
    }

    fn with(&mut self, s: &'a StmtWith, from: State) -> State {
        let mut at = from;
        let mut exits = Vec::with_capacity(s.items.len());
        for item in &s.items {
            at = self.expr(&item.context_expr, at);
            let mut enter = self.emitter(
                EmitterKind::With,
                item.context_expr.range(),
                &[],
                &["__enter__", "__aenter__"],
                2,
            );
            enter.lines.0 = self.start_line(s.range);
            let mut exit = enter.clone();
            exit.frames = &["__exit__", "__aexit__"];
            exits.push(exit);
            at = self.emit(at, enter);
            if s.is_async {
                at = self.pause(item.context_expr.range(), at);
            }
            if let Some(target) = &item.optional_vars {
                at = self.store(target, at);
            }
        }
        self.unwinds.push(Unwind::With(exits.clone()));
        let first = self.draft.states;
        let begun = at;
        at = self.body(&s.body, at);
        self.unwinds.pop();
        if s.items.iter().any(|item| self.may_suppress(&item.context_expr)) {
            // An error in the body may end here.
            let suppressed = self.draft.state();
            self.draft.silent(begun, suppressed, RAISED);
            for state in first..self.draft.states - 1 {
                self.draft.silent(state, suppressed, RAISED);
            }
            at = self.join([at, suppressed]);
        }
        exits.into_iter().rev().fold(at, |at, exit| self.emit(at, exit))
    }

    /// Whether a context may end an error that was raised in it: those of torch pass it on.
    fn may_suppress(&self, context: &Expr) -> bool {
        let made = context.as_call_expr().map_or(context, |call| &call.func);
        !self.values.resolve(made).is_some_and(|path| path.starts_with("torch."))
    }

    fn try_block(&mut self, s: &'a StmtTry, from: State) -> State {
        if !s.finalbody.is_empty() {
            self.unwinds.push(Unwind::Finally(&s.finalbody));
        }
        let mut raised = self.draft.state();
        let first = self.draft.states;
        if !s.handlers.is_empty() {
            self.unwinds.push(Unwind::Handlers(raised));
        }
        let body = self.body(&s.body, from);
        if !s.handlers.is_empty() {
            self.unwinds.pop();
        }
        let after_body = self.draft.states;
        let out = self.draft.state();
        let done = self.body(&s.orelse, body);
        self.draft.silent(done, out, 0);
        if !s.handlers.is_empty() {
            // Anything in the body may raise, after its event was recorded.
            self.draft.silent(from, raised, CAUGHT);
            for state in first..after_body {
                self.draft.silent(state, raised, CAUGHT);
            }
            for handler in &s.handlers {
                let ExceptHandler::ExceptHandler(handler) = handler;
                raised = handler.type_.as_deref().map_or(raised, |kind| self.expr(kind, raised));
                let handled = self.body(&handler.body, raised);
                self.draft.silent(handled, out, 0);
            }
        }
        if s.finalbody.is_empty() {
            return out;
        }
        self.unwinds.pop();
        self.body(&s.finalbody, out)
    }

    fn match_statement(&mut self, s: &'a StmtMatch, from: State) -> State {
        let mut at = self.expr(&s.subject, from);
        let out = self.draft.state();
        for case in &s.cases {
            // A value pattern compares with `==`.
            let mut compare = self.emitter(
                EmitterKind::Compare,
                case.pattern.range(),
                &["eq"],
                &["__eq__", "__instancecheck__"],
                0,
            );
            compare.repeat = Some(1);
            at = self.emit(at, compare);
            at = self.truth(case.pattern.range(), case.pattern.range(), names::TRUTH_OPS, 0, at);
            if let Some(guard) = &case.guard {
                at = self.condition(guard, case.pattern.range(), at);
            }
            let arm = self.body(&case.body, at);
            self.draft.silent(arm, out, 0);
        }
        self.draft.silent(at, out, 0);
        out
    }

    fn decorators(&mut self, decorators: &'a [Decorator], from: State) -> State {
        decorators.iter().fold(from, |at, decorator| self.expr(&decorator.expression, at))
    }

    /// Decorators are applied from the innermost out.
    fn decorate(&mut self, decorators: &'a [Decorator], from: State) -> State {
        decorators.iter().rev().fold(from, |at, decorator| {
            let mut call = self.emitter(EmitterKind::Call, decorator.range, &[], &[], 6);
            call.name = match &decorator.expression {
                Expr::Attribute(attribute) => Some(attribute.attr.as_str().into()),
                Expr::Name(name) => Some(name.id.as_str().into()),
                _ => None,
            };
            self.emit(at, call)
        })
    }

    /// `break` (`out`) or `continue`; outside a loop, in a broken file, it leads nowhere.
    fn leave_loop(&mut self, from: State, out: bool) -> State {
        let place = self.unwinds.iter().rposition(|unwind| matches!(unwind, Unwind::Loop { .. }));
        if let Some(place) = place
            && let Unwind::Loop { head, out: after } = self.unwinds[place]
        {
            self.leave(from, Some(place), if out { after } else { head });
        }
        self.draft.state()
    }

    /// Goes from `from` to `target` through the `finally` bodies and `with` exits above `down_to`.
    fn leave(&mut self, from: State, down_to: Option<usize>, target: State) {
        let keep = down_to.map_or(0, |place| place + 1);
        let mut passed = self.unwinds.split_off(keep.min(self.unwinds.len()));
        let mut at = from;
        let mut put_back = Vec::with_capacity(passed.len());
        while let Some(unwind) = passed.pop() {
            // What lies further out is still in force while a `finally` body runs.
            self.unwinds.append(&mut passed);
            match &unwind {
                Unwind::Loop { .. } | Unwind::Handlers(_) => {}
                Unwind::Finally(body) => at = self.body(body, at),
                Unwind::With(exits) => {
                    for exit in exits.iter().rev() {
                        at = self.emit(at, exit.clone());
                    }
                }
            }
            passed = self.unwinds.split_off(keep.min(self.unwinds.len()));
            put_back.push(unwind);
        }
        self.unwinds.extend(put_back.into_iter().rev());
        self.draft.silent(at, target, 0);
    }
}
