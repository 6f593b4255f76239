//! What each name of a scope may hold: everything that is assigned to it anywhere in the scope, taken together.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::Parameters;
use ruff_python_ast::visitor::Visitor;

use super::binder::{Binder, Bound};
use super::evaluate::{Evaluator, Pending};
use super::functions::functions;
use super::{Given, Value};
use crate::emit::Code;

/// Rounds after which names that still change count as unknown.
const MOST_ROUNDS: usize = 12;

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
        // `out = model(x); out = out[0]`: what it is used as it was not from the beginning.
        let used_as_tensors = binder.used_as_tensors.difference(&binder.replaced_by_part);
        let used_as_tensors = used_as_tensors.map(|&name| name.into()).collect();
        let mut names = Self { values: HashMap::new(), assigned, used_as_tensors, functions: HashMap::new() };
        let bound: HashSet<&str> = binder.bindings.iter().map(|&(name, _)| name).collect();
        let mut settled = false;
        for _ in 0..MOST_ROUNDS {
            let mut next: HashMap<Box<str>, Value> = HashMap::new();
            let inside =
                outside.within(Pending { bound: &bound, assigned: &names.assigned, known: &names.values });
            for (name, bound) in &binder.bindings {
                let value =
                    if binder.foreign.contains(name) { Some(Value::Unknown) } else { bound.value(&inside) };
                let Some(value) = value else { continue };
                match next.get_mut(*name) {
                    Some(known) => *known = std::mem::replace(known, Value::Plain).or(&value),
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
        // `import *` may bind any name.
        let known = settled && !bound.contains("*");
        for (name, _) in &binder.bindings {
            let value = names.values.entry((*name).into()).or_insert(Value::Unknown);
            if !known {
                *value = Value::Unknown;
            }
        }
        names.look_through(&binder, outside);
        names.functions = functions(&binder.bindings, &outside);
        // What is added to a list or dict may be any function.
        names.functions.retain(|name, _| !binder.changed.contains(&**name));
        if binder.runs_text {
            for value in names.values.values_mut().filter(|value| matches!(value, Value::Known(_))) {
                *value = Value::Plain;
            }
        }
        names
    }

    /// A name that holds nothing but what looks like a tensor looks like one itself.
    fn look_through(&mut self, binder: &Binder<'_>, outside: Evaluator<'_>) {
        let mut open: HashMap<&str, Vec<&Bound<'_>>> = HashMap::new();
        for (name, bound) in &binder.bindings {
            open.entry(name).or_default().push(bound);
        }
        let is_whole = |bound: &&Bound<'_>| matches!(bound, Bound::Part(_, path) if path.is_empty());
        open.retain(|name, bounds| {
            bounds.iter().any(is_whole)
                && !binder.foreign.contains(name)
                && !self.used_as_tensors.contains(*name)
        });
        // `x = x.T` looks like one if `x` does: all are taken for tensors until one of their values does not look so.
        self.used_as_tensors.extend(open.keys().map(|&name| name.into()));
        for round in 0.. {
            let around: Vec<&Self> = std::iter::once(&*self).chain(outside.names.iter().copied()).collect();
            let inside = Evaluator::new(outside.imports, outside.defines, &around, false);
            let looks = |bound: &&Bound<'_>| match bound {
                Bound::Value(value) => *value == Value::Tensor,
                Bound::Definition => false,
                Bound::Part(expr, path) => path.is_empty() && inside.looks_like_tensor(expr),
                // It stays what it was before.
                Bound::Augmented(..) => true,
            };
            let fails = |bounds: &[&Bound<'_>]| round >= MOST_ROUNDS || !bounds.iter().all(looks);
            let failing: Vec<&str> =
                open.iter().filter(|(_, bounds)| fails(bounds)).map(|(&name, _)| name).collect();
            if failing.is_empty() {
                break;
            }
            for name in failing {
                open.remove(name);
                self.used_as_tensors.remove(name);
            }
        }
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
