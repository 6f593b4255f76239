//! The user's own calls that set up `torch.profiler`, for the rules on how a trace was recorded and their fixes.

use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Number, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::Module;
use crate::imports::Imports;
use crate::lines::newline;

/// The paths under which torch offers its profilers.
const PROFILERS: [&str; 5] = [
    "torch.profiler.profile",
    "torch.profiler.profiler.profile",
    "torch.autograd.profiler.profile",
    "torch.profiler.profiler._KinetoProfile",
    "torch.profiler._KinetoProfile",
];

/// A constant that an argument is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
}

/// `name=value` in a call. Ranges are in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct KeywordArgument {
    pub name: String,
    /// The whole `name=value`.
    pub range: Range<u32>,
    pub value_range: Range<u32>,
    /// The value where it is a literal.
    pub value: Option<Constant>,
}

/// A call of torch's profiler.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfilerCall {
    /// What is called, with imports resolved: `torch.profiler.profile`.
    pub path: String,
    /// Bytes of the whole call.
    pub range: Range<u32>,
    /// Bytes of what is called: a good place for a mark.
    pub callee_range: Range<u32>,
    /// 1-based line of the call.
    pub line: u32,
    pub keywords: Vec<KeywordArgument>,
    pub positional: u32,
    /// `**options` is passed: any keyword may be in it.
    pub has_unpacked_keywords: bool,
    /// Byte offset where a new keyword goes.
    insert_at: u32,
    insert_before: String,
    insert_after: &'static str,
}

impl ProfilerCall {
    pub fn keyword(&self, name: &str) -> Option<&KeywordArgument> {
        self.keywords.iter().find(|keyword| keyword.name == name)
    }

    /// Where a new argument goes and the text that puts it there, in the call's own layout: `(offset, text)`.
    pub fn insertion(&self, argument: &str) -> (u32, String) {
        (self.insert_at, format!("{}{argument}{}", self.insert_before, self.insert_after))
    }
}

impl Module {
    /// Calls of torch's profiler in this file, in order.
    pub fn profiler_calls(&self) -> Vec<ProfilerCall> {
        if !self.text().contains("profile") {
            return Vec::new();
        }
        let mut finder = Finder { module: self, imports: Imports::of(self.suite()), found: Vec::new() };
        for stmt in self.suite() {
            finder.visit_stmt(stmt);
        }
        finder.found.sort_by_key(|call| call.range.start);
        finder.found
    }
}

struct Finder<'a> {
    module: &'a Module,
    imports: Imports,
    found: Vec<ProfilerCall>,
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && let Some(path) = self.imports.resolve(&call.func)
            && PROFILERS.contains(&path.as_str())
        {
            self.found.push(read(self.module, call, path));
        }
        crate::deep(|| visitor::walk_expr(self, expr));
    }
}

fn bytes(range: TextRange) -> Range<u32> {
    range.start().into()..range.end().into()
}

fn read(module: &Module, call: &ExprCall, path: String) -> ProfilerCall {
    let keywords = call
        .arguments
        .keywords
        .iter()
        .filter_map(|keyword| {
            Some(KeywordArgument {
                name: keyword.arg.as_ref()?.to_string(),
                range: bytes(keyword.range),
                value_range: bytes(keyword.value.range()),
                value: constant(&keyword.value),
            })
        })
        .collect();
    let (insert_at, insert_before, insert_after) = insertion(module, call);
    ProfilerCall {
        path,
        range: bytes(call.range()),
        callee_range: bytes(call.func.range()),
        line: module.lines().line(call.range().start().into()) + 1,
        keywords,
        positional: call.arguments.args.len() as u32,
        has_unpacked_keywords: call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none()),
        insert_at,
        insert_before,
        insert_after,
    }
}

fn constant(value: &Expr) -> Option<Constant> {
    Some(match value {
        Expr::NoneLiteral(_) => Constant::None,
        Expr::BooleanLiteral(literal) => Constant::Bool(literal.value),
        Expr::StringLiteral(literal) => Constant::Str(literal.value.to_str().to_owned()),
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(int) => Constant::Int(int.as_i64()?),
            Number::Float(float) => Constant::Float(*float),
            Number::Complex { .. } => return None,
        },
        _ => return None,
    })
}

/// After the last argument, on a line of its own where the call has one argument a line. A trailing comma is kept where it
/// is and one is added after the new argument; comments between the last argument and `)` stay behind it.
fn insertion(module: &Module, call: &ExprCall) -> (u32, String, &'static str) {
    let text = &**module.text();
    let arguments = &call.arguments;
    let last = arguments.iter_source_order().map(|argument| argument.end()).max();
    let inside = u32::from(arguments.range.start()) + 1;
    let Some(last) = last.map(u32::from) else {
        return (inside, String::new(), "");
    };
    let close = u32::from(arguments.range.end()).saturating_sub(1).max(last);
    let rest = text.get(last as usize..close as usize).unwrap_or("");
    let (parenthesis, comma) = after_last(rest);
    let last = last + parenthesis;
    let first = arguments.iter_source_order().map(|argument| argument.start()).min().map_or(last, u32::from);
    let lines = module.lines();
    let on_own_lines = lines.line(inside - 1) != lines.line(first);
    let separator = if on_own_lines {
        let start = lines.range(text, lines.line(first)).map_or(first, |range| range.start);
        let indent = text.get(start as usize..first as usize).unwrap_or("");
        let indent: String = indent.chars().take_while(|c| c.is_whitespace()).collect();
        format!("{}{indent}", newline(text))
    } else {
        " ".to_owned()
    };
    match comma {
        Some(at) => (at + last - parenthesis, separator, ","),
        None => (last, format!(",{separator}"), ""),
    }
}

/// In what follows the last argument: offset after its own closing parentheses, and after a trailing comma.
/// What stands in a comment is neither.
fn after_last(rest: &str) -> (u32, Option<u32>) {
    let (mut comment, mut parenthesis) = (false, 0);
    for (at, byte) in (0u32..).zip(rest.bytes()) {
        match byte {
            b'#' => comment = true,
            b'\n' | b'\r' => comment = false,
            b')' if !comment => parenthesis = at + 1,
            b',' if !comment => return (parenthesis, Some(at + 1)),
            _ => {}
        }
    }
    (parenthesis, None)
}

#[cfg(test)]
mod tests;
