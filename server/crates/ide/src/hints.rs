//! Inline hints: what a hot line costs, at its end.

use std::fmt::Write as _;

use attribution::lines::{LineCost, OpCost, by_op, short_name};
use attribution::{Direction, FileId};

use crate::{Analysis, Options};

/// VS Code's `editor.inlayHints.maximumLength`: it cuts what is longer, all hints of a line together.
pub const MAX_CHARS: usize = 43;

/// A hint at the end of a 0-based line of the attributed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    pub line: u32,
    pub text: String,
}

/// The hints of a file, by line: lines at or above the minimum share, and on a `def` what is not on one line.
pub fn hints(analysis: &Analysis, file: FileId, options: &Options) -> Vec<Hint> {
    if !options.hints {
        return Vec::new();
    }
    let unit = &analysis.unit;
    let mut hints: Vec<Hint> = analysis
        .lines_of(file)
        .lines
        .iter()
        .filter(|cost| unit.share(cost.both()) >= options.hints_min_share)
        .map(|cost| Hint { line: cost.line - 1, text: line_text(analysis, cost) })
        .collect();
    for rest in analysis.rests(file) {
        if unit.share(rest.cost) < options.hints_min_share
            || hints.iter().any(|hint| hint.line == rest.def_line - 1)
        {
            continue;
        }
        let (cost, share) = (profile::units::short(unit.ns(rest.cost)), unit.percent(rest.cost));
        let text = format!("~{cost} {} {share} on no one line", unit.name);
        hints.push(Hint { line: rest.def_line - 1, text });
    }
    hints.sort_by_key(|hint| hint.line);
    hints
}

/// `mul ×3 · 1.16 ms NEURON 49.5% · bwd 7.8 ms`, shortened until it fits [`MAX_CHARS`].
fn line_text(analysis: &Analysis, cost: &LineCost) -> String {
    let unit = &analysis.unit;
    let ops = by_op(&analysis.profile, &cost.events);
    let (forward, backward): (Vec<_>, Vec<_>) = ops.iter().partition(|op| op.direction == Direction::Forward);
    let backward_only = forward.is_empty();
    let (shown, led) = if backward_only { (backward, cost.backward) } else { (forward, cost.forward) };
    let number = format!("{} {} {}", profile::units::short(unit.ns(led)), unit.name, unit.percent(led));
    let tail = if !backward_only && unit.ns(cost.backward) > 0 {
        format!(" · bwd {}", profile::units::short(unit.ns(cost.backward)))
    } else {
        String::new()
    };
    let prefix = if backward_only { "bwd " } else { "" };
    let fits = |text: &String| text.chars().count() <= MAX_CHARS;
    let candidates = [
        format!("{prefix}{} · {number}{tail}", names(&shown, 3)),
        format!("{prefix}{} · {number}{tail}", names(&shown, 1)),
        format!("{prefix}{} · {number}", names(&shown, 2)),
        format!("{prefix}{} · {number}", names(&shown, 1)),
        format!("{prefix}{number}"),
    ];
    let [.., shortest] = &candidates;
    candidates.iter().find(|text| fits(text)).unwrap_or(shortest).clone()
}

/// The first `most` op names with their calls, and how many more there are: `mul ×3, mean +1`.
fn names(ops: &[&OpCost], most: usize) -> String {
    let mut text = String::new();
    for op in ops.iter().take(most) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(short_name(&op.name));
        if op.calls > 1 {
            let _ = write!(text, " ×{}", op.calls);
        }
    }
    if ops.len() > most {
        let _ = write!(text, " +{}", ops.len() - most);
    }
    text
}
