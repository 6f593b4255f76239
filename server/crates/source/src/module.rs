//! A parsed file and what is asked of it.

mod finder;
mod values;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use ruff_python_ast::{ModModule, PySourceType, Stmt};
use ruff_python_parser::{Parsed, parse_unchecked_source};

use crate::LineIndex;
use crate::imports::Imports;
use crate::scopes::{self, Scope, ScopeId, ScopeKind};
use crate::values::{Given, Names};

/// Bytes of stack that dropping one level of nesting may take, with a margin for unoptimized builds.
const DROP_FRAME: usize = 8192;

/// A Python file. Parsing never fails: a broken file gives what could be made out of it.
#[derive(Debug)]
pub struct Module {
    text: Arc<str>,
    lines: LineIndex,
    /// `None` only while it is dropped.
    parsed: Option<Parsed<ModModule>>,
    scopes: Vec<Scope>,
    /// Functions of the module and methods without decorators: their frames have their names.
    plain_functions: HashSet<Box<str>>,
    /// Every function, method and property.
    function_names: HashSet<Box<str>>,
    depth: usize,
    imports: OnceLock<Imports>,
    attributes: OnceLock<HashSet<Box<str>>>,
    /// What the module's own names hold.
    names: OnceLock<Names>,
    /// The same of its functions, for each way to call them.
    scope_names: Mutex<ScopeNames>,
}

type ScopeNames = HashMap<(ScopeId, Given), Arc<Names>>;

impl Module {
    pub fn parse(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let lines = LineIndex::new(&text);
        let parsed = parse_unchecked_source(&text, PySourceType::Python);
        let collected = scopes::collect(parsed.suite(), &text, &lines);
        let scopes = collected.scopes;
        let functions = || scopes.iter().filter(|scope| scope.kind == ScopeKind::Function);
        let decorated: HashSet<&str> =
            functions().filter(|s| s.first_line < s.def_line).map(|s| &*s.name).collect();
        // A function within a function may be any variable's value elsewhere.
        let nested =
            |scope: &Scope| scope.parent.is_some_and(|at| scopes[at.0 as usize].kind == ScopeKind::Function);
        let plain = functions().filter(|scope| !decorated.contains(&*scope.name) && !nested(scope));
        let plain_functions = plain.map(|scope| scope.name.clone()).collect();
        let function_names = functions().map(|scope| scope.name.clone()).collect();
        Self {
            text,
            lines,
            parsed: Some(parsed),
            scopes,
            plain_functions,
            function_names,
            depth: collected.depth,
            imports: OnceLock::new(),
            attributes: OnceLock::new(),
            names: OnceLock::new(),
            scope_names: Mutex::default(),
        }
    }

    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// Whether the whole text is valid Python.
    pub fn is_valid(&self) -> bool {
        self.parsed.as_ref().is_some_and(Parsed::has_valid_syntax)
    }

    pub(crate) fn suite(&self) -> &[Stmt] {
        self.parsed.as_ref().map_or(&[], |parsed| parsed.suite())
    }

    /// Everything that opens a frame, the module first, what is outside before what is inside.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    fn ids(&self) -> impl Iterator<Item = (ScopeId, &Scope)> {
        self.scopes.iter().enumerate().map(|(at, scope)| (ScopeId(at as u32), scope))
    }

    /// The functions (not lambdas, comprehensions or classes), in order of their first byte.
    pub fn functions(&self) -> impl Iterator<Item = (ScopeId, &Scope)> {
        self.ids().filter(|(_, scope)| scope.kind == ScopeKind::Function)
    }

    /// The innermost function around a 1-based line, decorators included; the module where there is none.
    pub fn enclosing_function(&self, line: u32) -> ScopeId {
        self.functions()
            .filter(|(_, scope)| scope.first_line <= line && line <= scope.end_line)
            .max_by_key(|(_, scope)| scope.first_line)
            .map_or(ScopeId(0), |(id, _)| id)
    }

    /// The function that a scope belongs to: itself, or for a lambda, comprehension or class body the function around.
    pub fn function_of(&self, id: ScopeId) -> ScopeId {
        let mut at = id;
        loop {
            let scope = self.scope(at);
            match (scope.kind, scope.parent) {
                (ScopeKind::Function | ScopeKind::Module, _) | (_, None) => return at,
                (_, Some(parent)) => at = parent,
            }
        }
    }

    /// The scope whose frames are named `name` and whose definition begins at the 1-based `line` (its first decorator's
    /// or its own); else the innermost of that name that `line` lies in: a frame that was already running, or a resumed
    /// generator, names the line it stood on.
    pub fn scope_at(&self, name: &str, line: u32) -> Option<ScopeId> {
        if name == "<module>" {
            return (line <= self.lines.count()).then_some(ScopeId(0));
        }
        let named = || self.ids().filter(|(_, scope)| &*scope.name == name);
        let begins = named().find(|(_, scope)| scope.first_line <= line && line <= scope.def_line);
        begins
            .or_else(|| {
                named()
                    .filter(|(_, scope)| scope.first_line <= line && line <= scope.end_line)
                    .max_by_key(|(_, scope)| scope.first_line)
            })
            .map(|(id, _)| id)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let parsed = self.parsed.take();
        if self.depth > 256 {
            stacker::grow(self.depth * DROP_FRAME + 1024 * 1024, || drop(parsed));
        }
    }
}

#[cfg(test)]
mod tests;
