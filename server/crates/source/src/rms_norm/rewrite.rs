//! From a match to the report, and to the edits where they change nothing else.

use std::ops::Range;

use ruff_python_ast::Expr;

use super::flow::{Block, bytes};
use super::pattern::{Match, statement_range};
use super::safety::{Site, torch_everywhere};
use super::{Edit, Rewrite, RmsNorm};

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
    let torch = torch_everywhere(block);
    let names: Vec<&Expr> = [Some(x), Some(eps), matched.weight].into_iter().flatten().collect();
    let site = Site { block, at, result, temporaries: &temporaries, function: module.scope(function) };
    let safe = !matched.cast && !x_text.contains('\n') && site.is_safe(&names);
    let rewrites = |torch: &str| {
        let call = |tail: &str| format!("{torch}.rms_norm({x_text}, ({x_text}.shape[-1],), {tail})");
        let edits = |text: &str| {
            let deleted = temporaries.iter().map(|&place| deletion(block, place, &temporaries));
            let mut edits: Vec<_> = deleted.map(|range| Edit { range, text: String::new() }).collect();
            edits.push(Edit { range: bytes(result), text: text.to_owned() });
            edits
        };
        let alone = call(&format!("eps={eps_text}"));
        let plain = match matched.weight {
            Some(weight) => scaled(block, result, weight, &alone),
            None => alone.clone(),
        };
        let weighted = matched.weight.map(|weight| {
            let call = call(&format!("{}, {eps_text}", block.text(weight)));
            Rewrite { edits: edits(&call), call }
        });
        (Rewrite { edits: edits(&plain), call: alone }, weighted)
    };
    let (rewrite, rewrite_with_weight) = match torch.as_deref().filter(|_| safe).map(rewrites) {
        Some((plain, weighted)) => (Some(plain), weighted),
        None => (None, None),
    };
    Some(RmsNorm {
        function,
        def_line: module.scope(function).def_line,
        x: x_text.to_owned(),
        weight: matched.weight.map(|weight| block.text(weight).to_owned()),
        eps: eps_text.to_owned(),
        range,
        result: bytes(result),
        parts: matched.parts.iter().map(|&(kind, expr)| block.part(kind, expr)).collect(),
        torch,
        rewrite,
        rewrite_with_weight,
    })
}

/// `call` times the weight, in the order that the result has them.
fn scaled(block: &Block<'_>, result: &Expr, weight: &Expr, call: &str) -> String {
    let text = match weight {
        Expr::BinOp(_) => format!("({})", block.text(weight)),
        _ => block.text(weight).to_owned(),
    };
    let weight_first =
        matches!(result, Expr::BinOp(product) if bytes(&*product.left).end >= bytes(weight).end);
    if weight_first { format!("{text} * {call}") } else { format!("{call} * {text}") }
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
