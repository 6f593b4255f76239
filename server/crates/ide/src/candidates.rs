//! What is shown of candidates: functions that may have launched ops of a trace without stacks.

use std::fmt::Write as _;

use attribution::{Candidate, Cost, FileId};
use profile::units;

use crate::Analysis;

/// What stands on the `def` of a candidate.
pub(crate) fn title(analysis: &Analysis, candidate: &Candidate) -> String {
    format!("candidate: {} may be here · {}", cost(analysis, candidate.cost), runs(candidate))
}

/// What the hover says of the candidates that a 1-based line belongs to.
pub(crate) fn section(text: &mut String, analysis: &Analysis, file: FileId, line: u32) {
    for candidate in &analysis.file(file).candidates {
        if candidate.def_line == line {
            let _ = writeln!(
                text,
                "**{}** may be here: the trace has no stacks, but what `{}` would launch is in it: {}.{} A candidate, no more: record with \
                 `with_stack=True` to know.\n",
                cost(analysis, candidate.cost),
                candidate.name,
                runs(candidate),
                rivals(candidate),
            );
        } else if let Some((_, ops, here)) = candidate.lines.iter().find(|(at, ..)| *at == line) {
            let ops = if *ops == 1 { "1 op".to_owned() } else { format!("{ops} ops") };
            let _ = writeln!(
                text,
                "**{}** may be here: {ops}, if `{}` is what ran. A candidate: the trace has no stacks.{}\n",
                cost(analysis, *here),
                candidate.name,
                rivals(candidate),
            );
        }
    }
}

fn cost(analysis: &Analysis, cost: Cost) -> String {
    let unit = &analysis.unit;
    format!("~{} {} ({})", units::short(unit.ns(cost)), unit.name, unit.percent(cost))
}

fn runs(candidate: &Candidate) -> String {
    let ops = if candidate.ops == 1 { "op" } else { "ops" };
    let runs = if candidate.runs == 1 { "1 run".to_owned() } else { format!("{} runs", candidate.runs) };
    format!("{runs} · {} {ops}", candidate.ops)
}

fn rivals(candidate: &Candidate) -> String {
    match candidate.rivals {
        0 => String::new(),
        1 => " Another function reads the same.".to_owned(),
        count => format!(" {count} other functions read the same."),
    }
}
