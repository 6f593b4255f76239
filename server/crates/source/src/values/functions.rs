//! Functions in variables, lists and dicts: which of them a call may call.

use std::collections::HashMap;

use ruff_python_ast::Expr;

use super::Evaluator;
use super::binder::Bound;

/// Names with more functions than this may as well hold any.
const MOST_FUNCTIONS: usize = 64;

/// The functions that each name may hold: `fn` of `for fn in [torch.sin, torch.cos]`.
pub(super) fn functions(
    bindings: &[(&str, Bound<'_>)],
    outside: &Evaluator<'_>,
) -> HashMap<Box<str>, Vec<Box<str>>> {
    let mut known: HashMap<&str, Option<Vec<Box<str>>>> = HashMap::new();
    // In order: what a name is made of was bound before it.
    for (name, bound) in bindings {
        let found = match bound {
            Bound::Part(expr, _) => {
                let local =
                    |name: &str| known.get(name).map(|functions| functions.clone().unwrap_or_default());
                Some(references(expr, &|name| {
                    local(name).or_else(|| outside.functions(name).map(<[_]>::to_vec))
                }))
            }
            Bound::Definition => Some(vec![(*name).into()]),
            Bound::Value(_) | Bound::Augmented(..) => None,
        };
        let all = known.entry(name).or_insert_with(|| Some(Vec::new()));
        match (all.as_mut(), found) {
            (Some(known), Some(found)) => {
                known.extend(found);
                known.sort_unstable();
                known.dedup();
                // Here and not at the end: a list of lists of lists doubles with every name.
                if known.len() > MOST_FUNCTIONS {
                    *all = None;
                }
            }
            _ => *all = None,
        }
    }
    let kept = known.into_iter().filter_map(|(name, functions)| {
        let functions = functions.filter(|functions| !functions.is_empty())?;
        Some((name.into(), functions))
    });
    kept.collect()
}

/// The names of functions among the values of an expression: in displays, arms, dicts. `of` tells what names hold.
pub(super) fn references(expr: &Expr, of: &dyn Fn(&str) -> Option<Vec<Box<str>>>) -> Vec<Box<str>> {
    crate::deep(|| references_inner(expr, of))
}

fn references_inner(expr: &Expr, of: &dyn Fn(&str) -> Option<Vec<Box<str>>>) -> Vec<Box<str>> {
    let all = |list: &[Expr]| list.iter().flat_map(|e| references(e, of)).collect();
    match expr {
        Expr::Name(name) => of(&name.id).unwrap_or_else(|| vec![name.id.as_str().into()]),
        Expr::Attribute(e) => vec![e.attr.as_str().into()],
        Expr::Lambda(_) => vec!["<lambda>".into()],
        Expr::Tuple(e) => all(&e.elts),
        Expr::List(e) => all(&e.elts),
        Expr::Set(e) => all(&e.elts),
        Expr::Dict(e) => e.items.iter().flat_map(|item| references(&item.value, of)).collect(),
        Expr::If(e) => [&e.body, &e.orelse].into_iter().flat_map(|e| references(e, of)).collect(),
        Expr::BoolOp(e) => all(&e.values),
        Expr::Subscript(e) => references(&e.value, of),
        Expr::Starred(e) => references(&e.value, of),
        Expr::Call(e) => match &*e.func {
            Expr::Attribute(method) if matches!(method.attr.as_str(), "items" | "values" | "get") => {
                references(&method.value, of)
            }
            Expr::Name(name)
                if matches!(name.id.as_str(), "enumerate" | "zip" | "reversed" | "list" | "tuple") =>
            {
                all(&e.arguments.args)
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
