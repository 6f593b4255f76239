//! Data flow within one block of statements: which expression a name stands for, and who else uses or changes it.

use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Stmt};
use ruff_text_size::Ranged;

use crate::Module;
use crate::imports::Imports;

/// A list of statements that run one after another.
pub(super) struct Block<'a> {
    pub module: &'a Module,
    pub imports: &'a Imports,
    pub body: &'a [Stmt],
}

/// An expression and the statement of the block it is evaluated in.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub expr: &'a Expr,
    pub at: usize,
}

impl<'a> Value<'a> {
    /// Another expression of the same statement.
    pub fn with(self, expr: &'a Expr) -> Self {
        Self { expr, at: self.at }
    }
}

pub(super) fn bytes(node: &impl Ranged) -> Range<u32> {
    node.start().into()..node.end().into()
}

impl<'a> Block<'a> {
    pub fn text(&self, node: &impl Ranged) -> &'a str {
        self.module.text().get(usize::from(node.start())..usize::from(node.end())).unwrap_or("")
    }

    /// What a name stands for: the value of the nearest plain assignment before, and the place of that statement; the
    /// expression itself where it is no temporary of this block.
    pub fn resolve(&self, value: Value<'a>) -> (Value<'a>, Option<usize>) {
        let Expr::Name(name) = value.expr else { return (value, None) };
        for at in (0..value.at).rev() {
            let Some(stmt) = self.body.get(at) else { break };
            if let Some((target, assigned)) = plain_assignment(stmt)
                && target == name.id.as_str()
            {
                return (Value { expr: assigned, at }, Some(at));
            }
            if mentions(stmt, name.id.as_str(), Mention::Change) {
                break;
            }
        }
        (value, None)
    }
}

/// `name = value`, also with an annotation.
pub(super) fn plain_assignment(stmt: &Stmt) -> Option<(&str, &Expr)> {
    match stmt {
        Stmt::Assign(assign) => match &assign.targets[..] {
            [Expr::Name(name)] => Some((name.id.as_str(), &assign.value)),
            _ => None,
        },
        Stmt::AnnAssign(assign) => match (&*assign.target, &assign.value) {
            (Expr::Name(name), Some(value)) => Some((name.id.as_str(), value)),
            _ => None,
        },
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    /// Any use of the name.
    Any,
    /// The name is bound anew or deleted.
    Change,
}

/// Whether a statement mentions a name, nested functions included.
pub(super) fn mentions(stmt: &Stmt, name: &str, mention: Mention) -> bool {
    let mut finder = NameFinder { name, mention, outside: &[], found: false };
    finder.visit_stmt(stmt);
    finder.found
}

/// Whether a name occurs in the statements anywhere outside the byte ranges.
pub(super) fn used_outside(body: &[Stmt], name: &str, outside: &[Range<u32>]) -> bool {
    let mut finder = NameFinder { name, mention: Mention::Any, outside, found: false };
    finder.visit_body(body);
    finder.found
}

struct NameFinder<'n> {
    name: &'n str,
    mention: Mention,
    outside: &'n [Range<u32>],
    found: bool,
}

impl<'a> Visitor<'a> for NameFinder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Global(s) => self.found |= s.names.iter().any(|name| name.as_str() == self.name),
            Stmt::Nonlocal(s) => self.found |= s.names.iter().any(|name| name.as_str() == self.name),
            _ => crate::deep(|| visitor::walk_stmt(self, stmt)),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.id.as_str() == self.name
            && (self.mention == Mention::Any || name.ctx != ExprContext::Load)
        {
            let range = bytes(expr);
            self.found |= !self.outside.iter().any(|r| r.start <= range.start && range.end <= r.end);
        }
        if !self.found {
            crate::deep(|| visitor::walk_expr(self, expr));
        }
    }
}

/// The first name of a path: `self` of `self.eps`.
pub(super) fn root(expr: &Expr) -> Option<&str> {
    let mut at = expr;
    while let Expr::Attribute(attribute) = at {
        at = &attribute.value;
    }
    at.as_name_expr().map(|name| name.id.as_str())
}

/// A name or an attribute path.
pub(super) fn is_path(expr: &Expr) -> bool {
    root(expr).is_some()
}
