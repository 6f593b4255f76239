//! `hotspot`: the lines that cost most.
//!
//! Why: optimising anything else cannot pay. Evidence: charges on a line known exactly or by alignment; a line below the
//! minimum share is no hot spot, however high it ranks.

use std::ops::Range;

use attribution::lines::{LineCost, by_op, short_name};
use attribution::{FileCosts, FileId};
use profile::units;
use source::LineIndex;

use crate::finding::Finding;
use crate::registry::{Context, Rule};

pub const RULE: Rule = Rule {
    code: "hotspot",
    summary: "One of the lines that cost most",
    link: "https://docs.pytorch.org/docs/stable/profiler.html",
    at_most_hint: false,
    check,
};

fn check(context: &Context) -> Vec<Finding> {
    let mut hot: Vec<(FileId, &LineCost)> = context
        .lines
        .iter()
        .enumerate()
        .flat_map(|(file, lines)| lines.lines.iter().map(move |line| (FileId(file as u32), line)))
        .filter(|(_, line)| {
            let share = context.unit.share(line.both());
            share > 0.0 && share >= context.limits.min_share
        })
        .collect();
    hot.sort_by_key(|(file, line)| (std::cmp::Reverse(context.unit.ns(line.both())), *file, line.line));
    hot.truncate(context.limits.top);
    hot.iter()
        .enumerate()
        .filter_map(|(at, (file, line))| {
            finding(context, &context.attribution.files[file.0 as usize], line, at + 1)
        })
        .collect()
}

fn finding(context: &Context, file: &FileCosts, line: &LineCost, rank: usize) -> Option<Finding> {
    let unit = context.unit;
    let code = code_range(&file.text, line.line)?;
    let range =
        line.costliest(unit).and_then(|expression| on_line(expression, &code)).unwrap_or(code.clone());
    let both = line.both();
    let ops: Vec<_> = by_op(context.profile, &line.events)
        .iter()
        .take(3)
        .map(|op| format!("{} ×{}", short_name(&op.name), op.calls))
        .collect();
    let message = format!(
        "Hot spot {rank}: {} {} ({}) in {}",
        units::short(unit.ns(both)),
        unit.name,
        unit.percent(both),
        ops.join(", ")
    );
    Some(Finding {
        code: RULE.code,
        file: file.key.clone(),
        text: file.text.clone(),
        range,
        scope: code,
        basis: Vec::new(),
        message,
        related: Vec::new(),
        fixes: Vec::new(),
    })
}

/// The part of an expression that is on its line: a call over several lines is underlined on one.
fn on_line(expression: &Range<u32>, code: &Range<u32>) -> Option<Range<u32>> {
    let (start, end) = (expression.start.max(code.start), expression.end.min(code.end));
    (start < end).then_some(start..end)
}

/// The bytes of a 1-based line without its indentation and trailing blanks.
fn code_range(text: &str, line: u32) -> Option<Range<u32>> {
    let range = LineIndex::new(text).range(text, line.checked_sub(1)?)?;
    let whole = text.get(range.start as usize..range.end as usize)?;
    let code = whole.trim_end();
    let start = range.start + (code.len() - code.trim_start().len()) as u32;
    Some(start..range.start + code.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::{RULE, code_range, on_line};
    use crate::registry::Limits;
    use crate::testing::{findings, frame, op};

    const SOURCE: &str = "import torch\n\n\ndef f(x, y):\n    a = x @ y\n    b = a + 1\n    return b * 2\n";

    fn lines(limits: Limits) -> Vec<String> {
        let events = [
            frame("model.py(4): f", 0, 1000),
            op("aten::matmul", 10, 700),
            op("aten::add", 720, 250),
            op("aten::mul", 980, 10),
        ];
        let found = findings(RULE.code, &events.join(","), &[("model.py", SOURCE)], limits);
        found.iter().map(|f| SOURCE[f.range.start as usize..f.range.end as usize].to_owned()).collect()
    }

    #[test]
    fn a_call_over_several_lines_is_underlined_on_its_own() {
        let text = "y = f(\n    x,\n)\n";
        let code = |line| code_range(text, line).expect("the line is there");
        assert_eq!(on_line(&(4..13), &code(1)), Some(4..6));
        assert_eq!(on_line(&(4..13), &code(3)), Some(14..14).filter(|range| !range.is_empty()));
        assert_eq!(on_line(&(4..14), &code(2)), Some(11..13));
    }

    #[test]
    fn the_costliest_lines_come_first_and_small_ones_not_at_all() {
        assert_eq!(lines(Limits { top: 5, min_share: 0.05 }), ["x @ y", "a + 1"]);
        assert_eq!(lines(Limits { top: 1, min_share: 0.05 }), ["x @ y"]);
        assert!(lines(Limits { top: 5, min_share: 0.99 }).is_empty());
    }

    #[test]
    fn without_cost_nothing_is_hot() {
        let events = [frame("model.py(4): f", 0, 10), op("aten::matmul", 1, 0), op("aten::add", 2, 0)];
        let limits = Limits { top: 5, min_share: 0.0 };
        assert!(findings(RULE.code, &events.join(","), &[("model.py", SOURCE)], limits).is_empty());
    }

    #[test]
    fn the_underline_is_the_code_of_the_line() {
        let text = "def f(x):\r\n    y = x * x  \r\n";
        assert_eq!(code_range(text, 2).map(|r| &text[r.start as usize..r.end as usize]), Some("y = x * x"));
        assert_eq!(code_range(text, 9), None);
        assert_eq!(code_range(text, 0), None);
    }
}
