//! Everything in a file that opens a frame: functions, lambdas, comprehensions, class bodies, the module.

use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprGenerator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::LineIndex;

/// A scope of [`crate::Module::scopes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    Module,
    Class,
    Function,
    Lambda,
    ListComprehension,
    SetComprehension,
    DictComprehension,
    /// A generator expression.
    Generator,
}

impl ScopeKind {
    /// Whether it is a comprehension that Python 3.12 and later inline into the function around it.
    pub fn is_inlined_comprehension(self) -> bool {
        matches!(self, Self::ListComprehension | Self::SetComprehension | Self::DictComprehension)
    }

    /// The name that its frames carry, where it has no name of its own.
    fn frame_name(self) -> &'static str {
        match self {
            Self::Module => "<module>",
            Self::Lambda => "<lambda>",
            Self::ListComprehension => "<listcomp>",
            Self::SetComprehension => "<setcomp>",
            Self::DictComprehension => "<dictcomp>",
            Self::Generator => "<genexpr>",
            Self::Class | Self::Function => "",
        }
    }
}

/// Something that opens a frame. Lines are 1-based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub kind: ScopeKind,
    /// The name of its frames: the function's, or `<lambda>`, `<listcomp>`, `<module>`, …
    pub name: Box<str>,
    /// Line of the `def` or `class`, or where the expression begins; 1 for the module.
    pub def_line: u32,
    /// Line of the first decorator, which is what a frame's name says; `def_line` where there is none.
    pub first_line: u32,
    pub end_line: u32,
    /// Bytes of the whole definition, decorators included.
    pub range: Range<u32>,
    /// The scope around it; `None` for the module.
    pub parent: Option<ScopeId>,
    /// Name of the class whose body it is in directly: it is a method.
    pub class: Option<Box<str>>,
    pub is_async: bool,
    /// It holds a `yield` of its own, or is a generator expression.
    pub is_generator: bool,
}

impl Scope {
    /// Whether a whole frame of it lies on one line: then a call's line may equal the frame's own first line.
    pub fn is_one_line(&self) -> bool {
        self.def_line == self.end_line
    }
}

/// How deeply expressions and statements nest, and every scope, parents before children.
pub(crate) struct Collected {
    pub scopes: Vec<Scope>,
    pub depth: usize,
}

pub(crate) fn collect(body: &[Stmt], text: &str, lines: &LineIndex) -> Collected {
    let module = Scope {
        kind: ScopeKind::Module,
        name: "<module>".into(),
        def_line: 1,
        first_line: 1,
        end_line: lines.count(),
        range: 0..text.len() as u32,
        parent: None,
        class: None,
        is_async: false,
        is_generator: false,
    };
    let mut collector = Collector {
        lines,
        scopes: vec![module],
        open: ScopeId(0),
        depth: 0,
        deepest: 0,
        generator_start: None,
    };
    for stmt in body {
        collector.visit_stmt(stmt);
    }
    Collected { scopes: collector.scopes, depth: collector.deepest }
}

struct Collector<'a> {
    lines: &'a LineIndex,
    scopes: Vec<Scope>,
    open: ScopeId,
    depth: usize,
    deepest: usize,
    /// Where the parenthesis of a call's only argument stands, which Python counts as the generator's own.
    generator_start: Option<(TextRange, u32)>,
}

impl Collector<'_> {
    fn line(&self, offset: impl Into<u32>) -> u32 {
        self.lines.line(offset.into()) + 1
    }

    fn enter(&mut self, kind: ScopeKind, name: &str, range: TextRange, def_offset: u32) -> ScopeId {
        let around = &self.scopes[self.open.0 as usize];
        let class = (around.kind == ScopeKind::Class).then(|| around.name.clone());
        let end = u32::from(range.end());
        let scope = Scope {
            kind,
            name: if name.is_empty() { kind.frame_name().into() } else { name.into() },
            def_line: self.line(def_offset),
            first_line: self.line(u32::from(range.start()).min(def_offset)),
            end_line: self.line(end.saturating_sub(1).max(def_offset)),
            range: u32::from(range.start()).min(def_offset)..end,
            parent: Some(self.open),
            class,
            is_async: false,
            is_generator: kind == ScopeKind::Generator,
        };
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(scope);
        std::mem::replace(&mut self.open, id)
    }

    fn nested(&mut self, walk: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        crate::deep(|| walk(self));
        self.depth -= 1;
    }

    fn mark_generator(&mut self) {
        self.scopes[self.open.0 as usize].is_generator = true;
    }

    fn comprehension(&mut self, kind: ScopeKind, expr: &Expr, start: u32) {
        // The first iterable belongs to the frame around; what is nested in it is filed under the comprehension, which
        // changes no line.
        let around = self.enter(kind, "", expr.range(), start);
        visitor::walk_expr(self, expr);
        self.open = around;
    }

    fn generator_start(&self, generator: &ExprGenerator) -> u32 {
        match self.generator_start {
            Some((range, start)) if range == generator.range => start,
            _ => generator.range.start().into(),
        }
    }
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.nested(|this| match stmt {
            Stmt::FunctionDef(def) => {
                for decorator in &def.decorator_list {
                    this.visit_decorator(decorator);
                }
                this.visit_parameters(&def.parameters);
                let start =
                    def_keyword(def.range, def.decorator_list.last().map(|d| d.range), def.name.range);
                let around = this.enter(ScopeKind::Function, &def.name.id, def.range, start);
                this.scopes[this.open.0 as usize].is_async = def.is_async;
                this.visit_body(&def.body);
                this.open = around;
            }
            Stmt::ClassDef(def) => {
                for decorator in &def.decorator_list {
                    this.visit_decorator(decorator);
                }
                if let Some(arguments) = &def.arguments {
                    this.visit_arguments(arguments);
                }
                let start =
                    def_keyword(def.range, def.decorator_list.last().map(|d| d.range), def.name.range);
                let around = this.enter(ScopeKind::Class, &def.name.id, def.range, start);
                this.visit_body(&def.body);
                this.open = around;
            }
            _ => visitor::walk_stmt(this, stmt),
        });
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.nested(|this| match expr {
            Expr::Lambda(lambda) => {
                let around = this.enter(ScopeKind::Lambda, "", lambda.range, lambda.range.start().into());
                visitor::walk_expr(this, expr);
                this.open = around;
            }
            Expr::ListComp(e) => {
                this.comprehension(ScopeKind::ListComprehension, expr, e.range.start().into());
            }
            Expr::SetComp(e) => this.comprehension(ScopeKind::SetComprehension, expr, e.range.start().into()),
            Expr::DictComp(e) => {
                this.comprehension(ScopeKind::DictComprehension, expr, e.range.start().into());
            }
            Expr::Generator(e) => {
                let start = this.generator_start(e);
                this.comprehension(ScopeKind::Generator, expr, start);
            }
            Expr::Call(call) => {
                if let [Expr::Generator(generator)] = &*call.arguments.args
                    && !generator.parenthesized
                {
                    this.generator_start = Some((generator.range, call.arguments.range.start().into()));
                }
                visitor::walk_expr(this, expr);
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                this.mark_generator();
                visitor::walk_expr(this, expr);
            }
            _ => visitor::walk_expr(this, expr),
        });
    }
}

/// Where `def` or `class` may stand at the latest: after the last decorator's line, on the line of the name. The name is
/// taken, since keyword and name share a line in all but the oddest (backslash-continued) code.
fn def_keyword(range: TextRange, last_decorator: Option<TextRange>, name: TextRange) -> u32 {
    match last_decorator {
        None => range.start().into(),
        Some(_) => name.start().into(),
    }
}
