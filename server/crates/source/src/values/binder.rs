//! Everything that a scope's text binds names to.

use std::collections::HashSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, Identifier, Operator, Pattern, Stmt};

use super::parts::Step;
use super::{Evaluator, Value, evaluate, tensors};

/// Methods that add to a list or dict.
const CHANGES: [&str; 7] = ["append", "extend", "insert", "update", "setdefault", "add", "__setitem__"];

/// What a name is bound to in one place.
pub(super) enum Bound<'a> {
    Value(Value),
    /// `def`, `class`, `import`.
    Definition,
    /// A part of the value of an expression.
    Part(&'a Expr, Vec<Step>),
    /// `target op= value`
    Augmented(&'a Expr, Operator, &'a Expr),
}

impl Bound<'_> {
    /// `None` as long as it depends on names of which nothing is known yet.
    pub fn value(&self, with: &Evaluator<'_>) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Definition => Some(Value::Unknown),
            Self::Part(expr, path) => with.part(expr, path),
            Self::Augmented(target, op, value) => {
                // A list takes what it is given by iterating; repeated, a number is no constant.
                Some(match (with.value(target)?, op) {
                    (Value::Container, Operator::Add) => Value::Container,
                    _ => match evaluate::binary(*op, &with.value(target)?, &with.value(value)?) {
                        Value::Known(_) => Value::Plain,
                        other => other,
                    },
                })
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Binder<'a> {
    pub bindings: Vec<(&'a str, Bound<'a>)>,
    /// Names that other scopes assign to, or that belong to another.
    pub foreign: HashSet<&'a str>,
    pub used_as_tensors: HashSet<&'a str>,
    /// Names that an element of theirs is assigned to.
    pub replaced_by_part: HashSet<&'a str>,
    /// Names of lists and dicts that something is added to.
    pub changed: HashSet<&'a str>,
    /// `exec` or `globals` may change any name.
    pub runs_text: bool,
    /// How many scopes of their own are open.
    depth: usize,
}

impl<'a> Binder<'a> {
    pub fn push(&mut self, name: &'a str, bound: Bound<'a>) {
        if self.depth == 0 {
            self.bindings.push((name, bound));
        }
    }

    fn bind(&mut self, target: &'a Expr, value: &'a Expr, path: &[Step]) {
        match target {
            Expr::Name(name) => self.push(&name.id, Bound::Part(value, path.to_vec())),
            Expr::Tuple(_) | Expr::List(_) => {
                let elements = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => return,
                };
                let starred = elements.iter().any(Expr::is_starred_expr);
                for (at, element) in elements.iter().enumerate() {
                    let mut path = path.to_vec();
                    path.push(if starred { Step::Each } else { Step::At(at, elements.len()) });
                    crate::deep(|| self.bind(element, value, &path));
                }
            }
            Expr::Starred(starred) => {
                if let Expr::Name(name) = &*starred.value {
                    self.push(&name.id, Bound::Part(value, vec![Step::Rest]));
                }
            }
            _ => {}
        }
    }

    fn unknown(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => self.push(&name.id, Bound::Value(Value::Unknown)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| crate::deep(|| self.unknown(element))),
            Expr::List(list) => list.elts.iter().for_each(|element| crate::deep(|| self.unknown(element))),
            Expr::Starred(starred) => self.unknown(&starred.value),
            _ => {}
        }
    }

    /// A scope within this one: only what it does to names of this one counts.
    fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }
}

impl<'a> Visitor<'a> for Binder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.push(&def.name.id, Bound::Definition);
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&def.parameters);
                return self.apart(|this| this.visit_body(&def.body));
            }
            Stmt::ClassDef(def) => {
                self.push(&def.name.id, Bound::Definition);
                return self.apart(|this| this.visit_body(&def.body));
            }
            Stmt::Assign(s) => {
                for target in &s.targets {
                    self.bind(target, &s.value, &[]);
                    if let (Expr::Name(name), Expr::Subscript(part)) = (target, &*s.value)
                        && part.value.as_name_expr().is_some_and(|value| value.id == name.id)
                    {
                        self.replaced_by_part.insert(&name.id);
                    }
                    if let Expr::Subscript(part) = target
                        && let Expr::Name(name) = &*part.value
                    {
                        self.changed.insert(&name.id);
                    }
                }
            }
            Stmt::AnnAssign(s) => {
                if let Some(value) = &s.value {
                    self.bind(&s.target, value, &[]);
                }
            }
            Stmt::AugAssign(s) => {
                if let Expr::Name(name) = &*s.target {
                    self.push(&name.id, Bound::Augmented(&s.target, s.op, &s.value));
                }
            }
            Stmt::For(s) => self.bind(&s.target, &s.iter, &[Step::Each]),
            Stmt::With(s) => {
                s.items
                    .iter()
                    .filter_map(|item| item.optional_vars.as_deref())
                    .for_each(|target| self.unknown(target));
            }
            Stmt::Try(s) => {
                for ExceptHandler::ExceptHandler(handler) in &s.handlers {
                    if let Some(name) = &handler.name {
                        self.push(name, Bound::Value(Value::Unknown));
                    }
                }
            }
            Stmt::Import(s) => {
                for alias in &s.names {
                    let whole = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.push(whole.split('.').next().unwrap_or(whole), Bound::Definition);
                }
            }
            Stmt::ImportFrom(s) => {
                for alias in &s.names {
                    self.push(alias.asname.as_ref().unwrap_or(&alias.name), Bound::Definition);
                }
            }
            Stmt::Global(s) => self.foreign.extend(s.names.iter().map(Identifier::as_str)),
            Stmt::Nonlocal(s) => self.foreign.extend(s.names.iter().map(Identifier::as_str)),
            Stmt::TypeAlias(s) => self.unknown(&s.name),
            _ => {}
        }
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Named(e) => self.bind(&e.target, &e.value, &[]),
            Expr::Call(e) => match &*e.func {
                Expr::Name(name) if matches!(name.id.as_str(), "exec" | "globals") => self.runs_text = true,
                Expr::Attribute(method) if CHANGES.contains(&method.attr.as_str()) => {
                    if let Expr::Name(name) = &*method.value {
                        self.changed.insert(&name.id);
                    }
                }
                _ => {}
            },
            Expr::Attribute(e) => {
                if let Expr::Name(name) = &*e.value
                    && self.depth == 0
                    && tensors::tells_tensor(&e.attr)
                {
                    self.used_as_tensors.insert(&name.id);
                }
            }
            Expr::Lambda(e) => return crate::deep(|| self.apart(|this| this.visit_expr(&e.body))),
            _ => {}
        }
        crate::deep(|| visitor::walk_expr(self, expr));
    }

    /// A comprehension's own names are taken for the scope's: that can only make less known.
    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.bind(&comprehension.target, &comprehension.iter, &[Step::Each]);
        visitor::walk_comprehension(self, comprehension);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(p) => p.name.as_ref(),
            Pattern::MatchStar(p) => p.name.as_ref(),
            Pattern::MatchMapping(p) => p.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.push(name, Bound::Value(Value::Unknown));
        }
        crate::deep(|| visitor::walk_pattern(self, pattern));
    }
}
