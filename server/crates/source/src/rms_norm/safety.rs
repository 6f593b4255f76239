//! When a rewrite changes nothing else. Strict on purpose: where this is not plain to see, none is offered.

use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Parameter, Stmt};

use super::flow::{Block, Mention, bytes, mentions, plain_assignment, root, used_outside};
use super::pattern::statement_range;
use crate::Scope;

/// Where a norm's result is computed.
pub(super) struct Site<'a, 's> {
    pub block: &'s Block<'a>,
    /// The statement of the result.
    pub at: usize,
    pub result: &'a Expr,
    /// The statements that only lead to it, in order.
    pub temporaries: &'s [usize],
    pub function: &'s Scope,
}

impl Site<'_, '_> {
    /// Whether the temporaries serve nothing else, and nothing that the norm is made of can change before its result.
    pub fn is_safe(&self, inputs: &[&Expr]) -> bool {
        self.temporaries.is_empty()
            || (self.temporaries_are_private()
                && self.nothing_happens_between(inputs)
                && self.result_comes_first())
    }

    /// Names of a function that nothing else reads. Those of a module or class can be seen from elsewhere.
    fn temporaries_are_private(&self) -> bool {
        if self.function.parent.is_none() || self.in_class_body() {
            return false;
        }
        let mut inside: Vec<Range<u32>> = self
            .temporaries
            .iter()
            .filter_map(|&place| self.block.body.get(place))
            .map(statement_range)
            .collect();
        inside.push(bytes(self.result));
        let suite = self.block.module.suite();
        let around = || suite.iter().filter(|stmt| overlaps(&statement_range(stmt), &self.function.range));
        let used = |name: &str| around().any(|stmt| uses_within(stmt, name, &inside, &self.function.range));
        let looks_around = ["locals", "globals", "vars", "eval", "exec"].iter().any(|name| used(name));
        let names =
            self.temporaries.iter().map(|&place| self.block.body.get(place).and_then(plain_assignment));
        // Another function inside may have a name of its own that reads alike: then nothing is offered.
        !looks_around && names.into_iter().all(|name| name.is_some_and(|(name, _)| !used(name)))
    }

    /// Whether the statements are directly in a class body, whose names are attributes.
    fn in_class_body(&self) -> bool {
        let module = self.block.module;
        let start = statement_range(&self.block.body[self.at]).start;
        let around =
            module.scopes().iter().filter(|scope| scope.range.start <= start && start < scope.range.end);
        around
            .max_by_key(|scope| scope.range.start)
            .is_some_and(|scope| scope.kind == crate::ScopeKind::Class)
    }

    /// Between the first temporary and the result there are only the temporaries and assignments that call nothing:
    /// whatever is called may change the input in place, under whatever name it knows it.
    fn nothing_happens_between(&self, inputs: &[&Expr]) -> bool {
        let first = self.temporaries.first().copied().unwrap_or(self.at);
        let inert = |stmt: &Stmt| match stmt {
            Stmt::Pass(_) => true,
            _ => plain_assignment(stmt).is_some_and(|(_, value)| !acts(value)),
        };
        let others_are_inert = (first..self.at)
            .filter(|place| !self.temporaries.contains(place))
            .all(|place| self.block.body.get(place).is_some_and(inert));
        let inputs_stay = inputs.iter().filter_map(|input| root_of_input(input)).all(|name| {
            let changes = |stmt: &Stmt| mentions(stmt, name, Mention::Change);
            (first..self.at).all(|place| self.block.body.get(place).is_some_and(|stmt| !changes(stmt)))
        });
        others_are_inert && inputs_stay
    }

    /// Nothing acts in the result's own statement before the result is computed.
    fn result_comes_first(&self) -> bool {
        let mut earlier = Earlier { result: bytes(self.result), acts: false };
        earlier.visit_stmt(&self.block.body[self.at]);
        !earlier.acts
    }
}

/// What the whole file calls torch: bound by an import at its top level, and by nothing else anywhere.
pub(super) fn torch_everywhere(block: &Block<'_>) -> Option<String> {
    let suite = block.module.suite();
    let name = suite.iter().find_map(|stmt| match stmt {
        Stmt::Import(import) => {
            import.names.iter().find_map(|alias| match (alias.name.as_str(), &alias.asname) {
                ("torch", Some(name)) => Some(name.to_string()),
                (path, None) if path == "torch" || path.starts_with("torch.") => Some("torch".to_owned()),
                _ => None,
            })
        }
        _ => None,
    })?;
    let mut rebinding = Rebinding { name: &name, found: false };
    rebinding.visit_body(suite);
    (!rebinding.found).then_some(name)
}

struct Rebinding<'n> {
    name: &'n str,
    found: bool,
}

impl<'a> Visitor<'a> for Rebinding<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.found |= match stmt {
            Stmt::FunctionDef(def) => def.name.as_str() == self.name,
            Stmt::ClassDef(def) => def.name.as_str() == self.name,
            _ => false,
        };
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.found |=
            expr.as_name_expr().is_some_and(|e| e.ctx != ExprContext::Load && e.id.as_str() == self.name);
        crate::deep(|| visitor::walk_expr(self, expr));
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.found |= parameter.name.as_str() == self.name;
        visitor::walk_parameter(self, parameter);
    }
}

/// Whether evaluating an expression can do anything but compute: a call, a suspension, a binding.
fn acts(expr: &Expr) -> bool {
    let mut earlier = Earlier { result: u32::MAX..u32::MAX, acts: false };
    earlier.visit_expr(expr);
    earlier.acts
}

/// Looks for what acts before the result's bytes and is not around them.
struct Earlier {
    result: Range<u32>,
    acts: bool,
}

impl<'a> Visitor<'a> for Earlier {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let range = bytes(expr);
        let is_before = range.end <= self.result.start;
        if is_before {
            self.acts |= matches!(
                expr,
                Expr::Call(_) | Expr::Named(_) | Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_)
            );
        }
        if range.start < self.result.start || self.result.start == u32::MAX {
            crate::deep(|| visitor::walk_expr(self, expr));
        }
    }
}

fn root_of_input(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::BinOp(e) => root(&e.left).or_else(|| root(&e.right)),
        _ => root(expr),
    }
}

fn overlaps(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Whether a name is used in the function's bytes but outside the norm's own.
fn uses_within(stmt: &Stmt, name: &str, inside: &[Range<u32>], function: &Range<u32>) -> bool {
    let mut allowed = inside.to_vec();
    allowed.push(0..function.start);
    allowed.push(function.end..u32::MAX);
    used_outside(std::slice::from_ref(stmt), name, &allowed)
}
