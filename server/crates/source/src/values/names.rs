//! What each name of a scope may hold: everything that is assigned to it anywhere in the scope, taken together.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, Operator, Parameters, Pattern, Stmt};

use super::evaluate::{Evaluator, Pending, Step};
use super::{Given, Value, tensors};
use crate::emit::Code;

/// Rounds after which names that still change count as unknown.
const MOST_ROUNDS: usize = 12;

/// Names with more functions than this may as well hold any.
const MOST_FUNCTIONS: usize = 64;

/// The names of a scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    values: HashMap<Box<str>, Value>,
    /// Names that are bound by something else than `def`, `class` and `import`.
    assigned: HashSet<Box<str>>,
    /// Names that are used as only tensors are.
    used_as_tensors: HashSet<Box<str>>,
    /// The functions that a name may hold, by their own names; those that may hold something else are not here.
    functions: HashMap<Box<str>, Vec<Box<str>>>,
}

impl Names {
    /// The names that `code` binds; names that it does not are looked up by `outside`. What the caller is known to pass
    /// is `given`.
    pub fn of(
        code: &Code<'_>,
        parameters: Option<&Parameters>,
        given: &Given,
        outside: Evaluator<'_>,
    ) -> Self {
        let mut binder = Binder::default();
        for parameter in parameters.into_iter().flat_map(|all| all.iter()) {
            let name = parameter.name();
            binder.push(name, Bound::Value(given.of(name).clone()));
        }
        match code {
            Code::Body(body) => body.iter().for_each(|stmt| binder.visit_stmt(stmt)),
            Code::Expression(expr) | Code::Comprehension(expr) => binder.visit_expr(expr),
        }
        let assigned = binder
            .bindings
            .iter()
            .filter(|(_, bound)| !matches!(bound, Bound::Definition))
            .map(|(name, _)| (*name).into());
        let assigned = assigned.collect();
        let used_as_tensors = binder.used_as_tensors.iter().map(|&name| name.into()).collect();
        let mut names = Self { values: HashMap::new(), assigned, used_as_tensors, functions: HashMap::new() };
        let bound: HashSet<&str> = binder.bindings.iter().map(|&(name, _)| name).collect();
        let mut settled = false;
        for _ in 0..MOST_ROUNDS {
            let mut next: HashMap<Box<str>, Value> = HashMap::new();
            let inside = outside.within(Pending { bound: &bound, known: &names.values });
            for (name, bound) in &binder.bindings {
                let value =
                    if binder.foreign.contains(name) { Some(Value::Unknown) } else { bound.value(&inside) };
                let Some(value) = value else { continue };
                match next.get_mut(*name) {
                    Some(known) => *known = std::mem::replace(known, Value::Plain).or(value),
                    None => {
                        next.insert((*name).into(), value);
                    }
                }
            }
            settled = next == names.values;
            names.values = next;
            if settled {
                break;
            }
        }
        for (name, _) in &binder.bindings {
            let value = names.values.entry((*name).into()).or_insert(Value::Unknown);
            if !settled {
                *value = Value::Unknown;
            }
        }
        names.functions = functions(&binder.bindings, &outside);
        names
    }

    /// The functions that a name may hold, by their own names.
    pub fn functions(&self, name: &str) -> Option<&[Box<str>]> {
        self.functions.get(name).map(Vec::as_slice)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Whether a name is used as only tensors are, whatever else it may hold.
    pub fn is_used_as_tensor(&self, name: &str) -> bool {
        self.used_as_tensors.contains(name)
    }

    /// Whether a name stands for a definition or an import and nothing else, as far as this scope says.
    pub fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }
}

/// The functions that each name may hold: `fn` of `for fn in [torch.sin, torch.cos]`.
fn functions(bindings: &[(&str, Bound<'_>)], outside: &Evaluator<'_>) -> HashMap<Box<str>, Vec<Box<str>>> {
    let mut known: HashMap<&str, Option<Vec<Box<str>>>> = HashMap::new();
    // In order: what a name is made of was bound before it.
    for (name, bound) in bindings {
        let found = match bound {
            Bound::Part(expr, _) => {
                let local =
                    |name: &str| known.get(name).map(|functions| functions.clone().unwrap_or_default());
                Some(references(expr, &|name| {
                    local(name).or_else(|| outside.functions(name).map(<[_]>::to_vec))
                }))
            }
            Bound::Definition => Some(vec![(*name).into()]),
            Bound::Value(_) | Bound::Augmented(..) => None,
        };
        let all = known.entry(name).or_insert_with(|| Some(Vec::new()));
        match (all.as_mut(), found) {
            (Some(all), Some(found)) => all.extend(found),
            _ => *all = None,
        }
    }
    let kept = known.into_iter().filter_map(|(name, functions)| {
        let mut functions = functions?;
        functions.sort_unstable();
        functions.dedup();
        let useful = !functions.is_empty() && functions.len() <= MOST_FUNCTIONS;
        useful.then(|| (name.into(), functions))
    });
    kept.collect()
}

/// The names of functions among the values of an expression: in displays, arms, dicts. `of` tells what names hold.
pub(super) fn references(expr: &Expr, of: &dyn Fn(&str) -> Option<Vec<Box<str>>>) -> Vec<Box<str>> {
    let all = |list: &[Expr]| list.iter().flat_map(|e| crate::deep(|| references(e, of))).collect();
    match expr {
        Expr::Name(name) => of(&name.id).unwrap_or_else(|| vec![name.id.as_str().into()]),
        Expr::Attribute(e) => vec![e.attr.as_str().into()],
        Expr::Lambda(_) => vec!["<lambda>".into()],
        Expr::Tuple(e) => all(&e.elts),
        Expr::List(e) => all(&e.elts),
        Expr::Set(e) => all(&e.elts),
        Expr::Dict(e) => {
            e.items.iter().flat_map(|item| crate::deep(|| references(&item.value, of))).collect()
        }
        Expr::If(e) => {
            [&e.body, &e.orelse].into_iter().flat_map(|e| crate::deep(|| references(e, of))).collect()
        }
        Expr::BoolOp(e) => all(&e.values),
        Expr::Subscript(e) => references(&e.value, of),
        Expr::Starred(e) => references(&e.value, of),
        Expr::Call(e) => match &*e.func {
            Expr::Attribute(method) if matches!(method.attr.as_str(), "items" | "values" | "get") => {
                references(&method.value, of)
            }
            Expr::Name(name)
                if matches!(name.id.as_str(), "enumerate" | "zip" | "reversed" | "list" | "tuple") =>
            {
                all(&e.arguments.args)
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

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
    fn value(&self, with: &Evaluator<'_>) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Definition => Some(Value::Unknown),
            Self::Part(expr, path) => with.part(expr, path),
            Self::Augmented(target, op, value) => {
                // A list takes what it is given by iterating; repeated, a number is no constant.
                Some(match (with.value(target)?, op) {
                    (Value::Container, Operator::Add) => Value::Container,
                    _ => match with.binary(*op, with.value(target)?, with.value(value)?) {
                        Value::Known(_) => Value::Plain,
                        other => other,
                    },
                })
            }
        }
    }
}

#[derive(Default)]
struct Binder<'a> {
    bindings: Vec<(&'a str, Bound<'a>)>,
    /// Names that other scopes assign to, or that belong to another.
    foreign: HashSet<&'a str>,
    used_as_tensors: HashSet<&'a str>,
    /// How many scopes of their own are open.
    depth: usize,
}

impl<'a> Binder<'a> {
    fn push(&mut self, name: &'a str, bound: Bound<'a>) {
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
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.unknown(element)),
            Expr::List(list) => list.elts.iter().for_each(|element| self.unknown(element)),
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
            Stmt::Assign(s) => s.targets.iter().for_each(|target| self.bind(target, &s.value, &[])),
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
            Stmt::Global(s) => self.foreign.extend(s.names.iter().map(|name| name.as_str())),
            Stmt::Nonlocal(s) => self.foreign.extend(s.names.iter().map(|name| name.as_str())),
            Stmt::TypeAlias(s) => self.unknown(&s.name),
            _ => {}
        }
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Named(e) => self.bind(&e.target, &e.value, &[]),
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
