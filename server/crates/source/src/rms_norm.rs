//! Root-mean-square normalization written out op by op, and what it would be as one call.
//!
//! The data flow is `square → mean over the last dim, kept → + eps → rsqrt → times x [→ times weight]`, in one expression
//! or over several statements of one block with temporaries. A rewrite is offered only where it changes nothing else.

mod flow;
mod pattern;
mod rewrite;
mod safety;

use std::ops::Range;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{self, Visitor};

use crate::imports::Imports;
use crate::{Module, ScopeId};

/// A step of the normalization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    Square,
    Mean,
    AddEpsilon,
    Rsqrt,
    Normalize,
    Scale,
}

/// Where a step of it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub kind: PartKind,
    /// Bytes of the expression.
    pub range: Range<u32>,
    /// 1-based first and last line of the expression.
    pub lines: (u32, u32),
}

/// A replacement of bytes; an empty text deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<u32>,
    pub text: String,
}

/// One hand-written RMS norm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RmsNorm {
    /// The function it is in (the module for top-level code).
    pub function: ScopeId,
    /// 1-based line of that function's `def`.
    pub def_line: u32,
    pub x: String,
    pub weight: Option<String>,
    pub eps: String,
    /// Bytes from its first statement to the end of its last.
    pub range: Range<u32>,
    /// Bytes of the expression that gives the result.
    pub result: Range<u32>,
    /// In order of evaluation.
    pub parts: Vec<Part>,
    /// What the whole file calls torch; `None` where that is not certain.
    pub torch: Option<String>,
    /// The norm as one call, times the weight where there is one: right whatever the weight is. `None` where something
    /// else uses the temporaries or the input may change in between.
    pub rewrite: Option<Rewrite>,
    /// The norm and the weight as one call: right only where the weight is a vector as long as the last dim of `x`, and of
    /// its dtype, which the text does not tell.
    pub rewrite_with_weight: Option<Rewrite>,
}

/// A rewrite of the norm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The call that does the same: `torch.rms_norm(x, (x.shape[-1],), weight, eps)`.
    pub call: String,
    /// In order, without overlap: the result's expression, and the statements that are no longer needed.
    pub edits: Vec<Edit>,
}

impl Module {
    /// Every hand-written RMS norm in the file, in order.
    pub fn rms_norms(&self) -> Vec<RmsNorm> {
        let mut blocks = Blocks { module: self, imports: Imports::of(self.suite()), found: Vec::new() };
        blocks.visit_body(self.suite());
        blocks.found.sort_by_key(|norm| norm.range.start);
        blocks.found
    }
}

struct Blocks<'a> {
    module: &'a Module,
    imports: Imports,
    found: Vec<RmsNorm>,
}

impl<'a> Visitor<'a> for Blocks<'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        let block = flow::Block { module: self.module, imports: &self.imports, body };
        self.found.extend(pattern::find(&block));
        crate::deep(|| visitor::walk_body(self, body));
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, _: &'a ruff_python_ast::Expr) {}
}

#[cfg(test)]
mod tests;
