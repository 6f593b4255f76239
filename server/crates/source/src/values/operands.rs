//! The names whose kind decides what a scope launches: operands of operators, tests, indices and loops.

use std::collections::HashSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

use crate::emit::Code;

/// Names that `code` uses where a tensor launches an op and anything else does not.
pub(crate) fn of_operators<'a>(code: &Code<'a>) -> HashSet<&'a str> {
    let mut operands = Operands::default();
    match code {
        Code::Body(body) => operands.visit_body(body),
        Code::Expression(expr) | Code::Comprehension(expr) => operands.visit_expr(expr),
    }
    operands.0
}

#[derive(Default)]
struct Operands<'a>(HashSet<&'a str>);

impl<'a> Operands<'a> {
    fn add(&mut self, operand: &'a Expr) {
        if let Expr::Name(name) = operand {
            self.0.insert(&name.id);
        }
    }
}

impl<'a> Visitor<'a> for Operands<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::AugAssign(s) => [&s.target, &s.value].into_iter().for_each(|operand| self.add(operand)),
            Stmt::For(s) => self.add(&s.iter),
            Stmt::If(s) => self.add(&s.test),
            Stmt::While(s) => self.add(&s.test),
            _ => {}
        }
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::BinOp(e) => [&e.left, &e.right].into_iter().for_each(|operand| self.add(operand)),
            Expr::UnaryOp(e) => self.add(&e.operand),
            Expr::Compare(e) => {
                self.add(&e.left);
                e.comparators.iter().for_each(|operand| self.add(operand));
            }
            Expr::Subscript(e) => self.add(&e.value),
            Expr::Attribute(e) => self.add(&e.value),
            _ => {}
        }
        crate::deep(|| visitor::walk_expr(self, expr));
    }
}
