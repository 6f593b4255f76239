//! What the names of a file stand for, as far as its imports say.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

/// Local names and the dotted paths they were imported from, over the whole file (imports inside functions too).
#[derive(Debug, Default)]
pub(crate) struct Imports {
    names: HashMap<String, String>,
}

impl Imports {
    pub fn of(body: &[Stmt]) -> Self {
        let mut imports = Self::default();
        for stmt in body {
            imports.visit_stmt(stmt);
        }
        imports
    }

    /// The name that an imported function has where it is defined: `sigmoid` after `from torch import sigmoid as gate`.
    pub fn own_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name).and_then(|path| path.rsplit('.').next()).unwrap_or(name)
    }

    /// The full dotted path of a name or attribute path: `p.profile` is `torch.profiler.profile` after
    /// `import torch.profiler as p`. `None` for anything else, or when its first name was not imported.
    pub fn resolve(&self, expr: &Expr) -> Option<String> {
        let mut tail = Vec::new();
        let mut at = expr;
        while let Expr::Attribute(attribute) = at {
            tail.push(attribute.attr.as_str());
            at = &attribute.value;
        }
        let mut path = self.names.get(at.as_name_expr()?.id.as_str())?.clone();
        for part in tail.into_iter().rev() {
            path.push('.');
            path.push_str(part);
        }
        Some(path)
    }
}

impl<'a> Visitor<'a> for Imports {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let path = alias.name.as_str();
                    let first = path.split('.').next().unwrap_or(path);
                    let (name, path) =
                        alias.asname.as_ref().map_or((first, first), |name| (name.as_str(), path));
                    self.names.insert(name.to_owned(), path.to_owned());
                }
            }
            Stmt::ImportFrom(import) => {
                // A relative import's path begins with its dots: it is no other's.
                let mut module = ".".repeat(import.level as usize);
                if let Some(name) = &import.module {
                    module.push_str(name);
                    module.push('.');
                }
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.names.insert(name.to_string(), format!("{module}{}", alias.name));
                }
            }
            _ => crate::deep(|| visitor::walk_stmt(self, stmt)),
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}
