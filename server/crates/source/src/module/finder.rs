//! The syntax of a scope.

use std::collections::HashSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Decorator, Expr, ExprContext, Parameters, Stmt};
use ruff_text_size::Ranged;

use super::Module;
use crate::emit::Code;
use crate::scopes::{Scope, ScopeId, ScopeKind};

/// A scope's syntax.
pub(super) struct Found<'a> {
    pub code: Code<'a>,
    pub parameters: Option<&'a Parameters>,
    pub decorators: &'a [Decorator],
}

impl<'a> Found<'a> {
    fn plain(code: Code<'a>) -> Self {
        Self { code, parameters: None, decorators: &[] }
    }
}

impl Module {
    /// The syntax of a scope.
    pub(super) fn find(&self, id: ScopeId) -> Option<Found<'_>> {
        let scope = self.scope(id);
        if scope.kind == ScopeKind::Module {
            return Some(Found::plain(Code::Body(self.suite())));
        }
        let mut finder = Finder { scope, found: None };
        for stmt in self.suite() {
            finder.visit_stmt(stmt);
        }
        finder.found
    }
}

/// Finds the node of a scope again by its bytes.
struct Finder<'a, 's> {
    scope: &'s Scope,
    found: Option<Found<'a>>,
}

impl Finder<'_, '_> {
    fn holds(&self, node: &impl Ranged) -> bool {
        let (start, end) = (u32::from(node.start()), u32::from(node.end()));
        // A generator that is a call's only argument begins, for Python, at the call's parenthesis.
        start <= self.scope.range.start.saturating_add(u32::from(self.scope.kind == ScopeKind::Generator))
            && self.scope.range.end <= end
    }

    fn is_it(&self, node: &impl Ranged) -> bool {
        let start = u32::from(node.start());
        u32::from(node.end()) == self.scope.range.end
            && (start == self.scope.range.start || self.scope.kind == ScopeKind::Generator)
    }
}

impl<'a> Visitor<'a> for Finder<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if self.found.is_some() || !self.holds(stmt) {
            return;
        }
        match (stmt, self.scope.kind) {
            (Stmt::FunctionDef(def), ScopeKind::Function) if self.is_it(def) => {
                self.found = Some(Found {
                    code: Code::Body(&def.body),
                    parameters: Some(&def.parameters),
                    decorators: &def.decorator_list,
                });
            }
            (Stmt::ClassDef(def), ScopeKind::Class) if self.is_it(def) => {
                self.found = Some(Found::plain(Code::Body(&def.body)));
            }
            _ => crate::deep(|| visitor::walk_stmt(self, stmt)),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.found.is_some() {
            return;
        }
        match (expr, self.scope.kind) {
            (Expr::Lambda(lambda), ScopeKind::Lambda) if self.is_it(lambda) => {
                self.found = Some(Found {
                    code: Code::Expression(&lambda.body),
                    parameters: lambda.parameters.as_deref(),
                    decorators: &[],
                });
            }
            (Expr::ListComp(_), ScopeKind::ListComprehension)
            | (Expr::SetComp(_), ScopeKind::SetComprehension)
            | (Expr::DictComp(_), ScopeKind::DictComprehension)
            | (Expr::Generator(_), ScopeKind::Generator)
                if self.is_it(expr) =>
            {
                self.found = Some(Found::plain(Code::Comprehension(expr)));
            }
            _ => crate::deep(|| visitor::walk_expr(self, expr)),
        }
    }
}

/// Names of attributes that are assigned to: `self.shape = …`, `model.forward = …`, and those of a class's own.
pub(super) fn assigned_attributes(body: &[Stmt]) -> HashSet<Box<str>> {
    let mut found = Attributes(HashSet::new());
    for stmt in body {
        found.visit_stmt(stmt);
    }
    found.0
}

struct Attributes(HashSet<Box<str>>);

impl<'a> Visitor<'a> for Attributes {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::ClassDef(class) = stmt {
            for own in &class.body {
                let targets = match own {
                    Stmt::Assign(s) => &s.targets[..],
                    Stmt::AnnAssign(s) => std::slice::from_ref(&*s.target),
                    _ => &[],
                };
                self.0.extend(
                    targets.iter().filter_map(Expr::as_name_expr).map(|name| name.id.as_str().into()),
                );
            }
        }
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && attribute.ctx == ExprContext::Store
        {
            self.0.insert(attribute.attr.as_str().into());
        }
        crate::deep(|| visitor::walk_expr(self, expr));
    }
}
