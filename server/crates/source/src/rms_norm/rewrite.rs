//! From a match to the report, and to the edits where they change nothing else.

use std::ops::Range;

use ruff_python_ast::{Expr, Stmt};

use super::flow::{Block, Mention, bytes, mentions, plain_assignment, root, used_outside};
use super::pattern::{Match, statement_range};
use super::{Edit, RmsNorm};
use crate::Scope;

/// The report of a match whose result is `result`, in the statement at `at`.
pub(super) fn norm(block: &Block<'_>, at: usize, result: &Expr, matched: &Match<'_>) -> Option<RmsNorm> {
    let (x, eps) = (matched.x?, matched.eps?);
    let module = block.module;
    let line = module.lines().line(bytes(result).start) + 1;
    let function = module.enclosing_function(line);
    let mut temporaries = matched.temporaries.clone();
    temporaries.sort_unstable();
    temporaries.dedup();
    let first = temporaries.first().copied().unwrap_or(at);
    let range = statement_range(&block.body[first]).start..statement_range(&block.body[at]).end;
    let (x_text, eps_text) = (block.text(x), block.text(eps));
    let weight = matched.weight.map(|weight| block.text(weight));
    let torch = torch_name(block);
    let call = torch.as_deref().unwrap_or("torch");
    let tail = match weight {
        Some(weight) => format!("{weight}, {eps_text}"),
        None => format!("eps={eps_text}"),
    };
    let replacement = format!("{call}.rms_norm({x_text}, ({x_text}.shape[-1],), {tail})");
    let names = [Some(x), Some(eps), matched.weight];
    let safe = torch.is_some()
        && !matched.cast
        && !x_text.contains('\n')
        && is_safe(block, at, result, &temporaries, names.into_iter().flatten(), module.scope(function));
    let rewrite = safe.then(|| {
        let mut edits: Vec<_> = temporaries
            .iter()
            .map(|&place| Edit { range: deletion(block, place, &temporaries), text: String::new() })
            .collect();
        edits.push(Edit { range: bytes(result), text: replacement.clone() });
        edits
    });
    Some(RmsNorm {
        function,
        def_line: module.scope(function).def_line,
        x: x_text.to_owned(),
        weight: weight.map(str::to_owned),
        eps: eps_text.to_owned(),
        range,
        result: bytes(result),
        parts: matched.parts.iter().map(|&(kind, expr)| block.part(kind, expr)).collect(),
        replacement,
        rewrite,
    })
}

/// What the file calls torch.
fn torch_name(block: &Block<'_>) -> Option<String> {
    block.imports.name_of("torch")
}

/// Whether the temporaries serve nothing else, and nothing they are made of can change before the result.
fn is_safe<'a>(
    block: &Block<'a>,
    at: usize,
    result: &Expr,
    temporaries: &[usize],
    inputs: impl Iterator<Item = &'a Expr>,
    function: &Scope,
) -> bool {
    let mut inside: Vec<Range<u32>> =
        temporaries.iter().filter_map(|&place| block.body.get(place)).map(statement_range).collect();
    inside.push(bytes(result));
    let body = block.module.suite();
    let own: Vec<&Stmt> =
        body.iter().filter(|stmt| overlaps(&statement_range(stmt), &function.range)).collect();
    let temporaries_are_ours = temporaries.iter().all(|&place| {
        let Some((name, _)) = block.body.get(place).and_then(plain_assignment) else { return false };
        // Another function may have a name of its own that reads alike: then nothing is offered.
        !own.iter().any(|stmt| {
            let range = if function.parent.is_none() { 0..u32::MAX } else { function.range.clone() };
            uses_within(stmt, name, &inside, &range)
        })
    });
    let first = temporaries.first().copied().unwrap_or(at);
    let inputs_stay = inputs.filter_map(root_of_input).all(|name| {
        (first..at)
            .filter(|place| !temporaries.contains(place))
            .all(|place| block.body.get(place).is_none_or(|stmt| !mentions(stmt, name, Mention::Any)))
            && temporaries.iter().all(|&place| {
                block.body.get(place).and_then(plain_assignment).is_none_or(|(target, _)| target != name)
            })
    });
    temporaries_are_ours && inputs_stay
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

/// The bytes to take out so that a statement is gone: its lines where nothing else stands on them, else the statement
/// with its semicolon. A temporary is never the last statement of its block.
fn deletion(block: &Block<'_>, place: usize, temporaries: &[usize]) -> Range<u32> {
    let lines = block.module.lines();
    let text = &**block.module.text();
    let range = |at: usize| statement_range(&block.body[at]);
    let share_line = |before: usize| {
        before + 1 < block.body.len() && lines.line(range(before).end) == lines.line(range(before + 1).start)
    };
    let first = (0..place).rev().take_while(|&before| share_line(before)).last().unwrap_or(place);
    let own = range(place);
    if (first..place).any(|before| !temporaries.contains(&before)) {
        return range(place - 1).end..own.end;
    }
    let line_start = lines.range(text, lines.line(own.start)).map_or(own.start, |line| line.start);
    let alone = text.get(line_start as usize..own.start as usize).is_some_and(|lead| lead.trim().is_empty());
    if share_line(place) {
        let last = (place..block.body.len()).find(|&at| !share_line(at)).unwrap_or(place);
        let whole_line = alone && (place..=last).all(|at| temporaries.contains(&at));
        return if whole_line { line_start } else { own.start }..range(place + 1).start;
    }
    let next_line = lines.line(own.end.saturating_sub(1).max(own.start)) + 1;
    let end = lines.range(text, next_line).map_or(own.end, |line| line.start);
    if alone { line_start..end } else { own.start..end }
}
