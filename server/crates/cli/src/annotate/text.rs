//! `annotate --format text`: each file with its costs in a left margin, like `git blame`.

use std::fmt::Write;

use attribution::lines::{FileLines, by_line};
use attribution::{Cost, FileCosts, Precision, Unit};
use ide::coverage::Coverage;
use profile::units;

use crate::lines::Costs;

/// What stands in the margin of one line.
#[derive(Clone, Default)]
struct Margin {
    forward: Cost,
    backward: Cost,
    mark: &'static str,
}

/// What may stand before a line's number, the surest first.
const MARKS: [&str; 5] = ["", "=", "≈", "~", "f"];

const LEGEND: &str = "= the trace names the line   ≈ the only line that fits   ~ one of several lines, on their def   \
                      f known to the function only, on its def";

const CANDIDATES: &str = "? may be here: the trace has no stacks, but runs of its ops read like these functions; counted in no sum";

const INFERRED: &str = "the trace names functions but no lines, so they are inferred: aten-lens recorder DIR adds what records them";

pub(super) fn text(costs: &Costs, wanted: &dyn Fn(&FileCosts) -> bool) -> String {
    let Costs { profile, attribution } = costs;
    let unit = Unit::of(profile, attribution.totals);
    let mut files: Vec<_> = attribution
        .files
        .iter()
        .zip(by_line(attribution))
        .filter(|(file, _)| wanted(file))
        .map(|(file, lines)| (file, margins(file, &lines)))
        .filter(|(_, margins)| margins.iter().any(|margin| !margin.mark.is_empty()))
        .collect();
    files.sort_by_key(|(_, margins)| {
        std::cmp::Reverse([is_known, is_candidate].map(|counts| unit.ns(sum(margins, counts))))
    });
    let mut text = format!("{} · {}\n", unit.name, Coverage::of(attribution, &unit).text());
    if files.is_empty() {
        text.push_str("no line of the sources ran anything that the trace recorded\n");
        return text;
    }
    for (legend, counts) in [(LEGEND, is_known as fn(&Margin) -> bool), (CANDIDATES, is_candidate)] {
        if files.iter().any(|(_, margins)| margins.iter().any(counts)) {
            let _ = writeln!(text, "{legend}");
        }
    }
    if rules::infers_lines(profile) {
        let _ = writeln!(text, "{INFERRED}");
    }
    for (file, margins) in files {
        let _ = write!(text, "\n{}", file.key.relative);
        if margins.iter().any(is_known) {
            let _ = write!(text, " · {} {}", unit.name, units::short(unit.ns(sum(&margins, is_known))));
        }
        let _ = match file.candidates.len() {
            0 => Ok(()),
            1 => write!(text, " · 1 candidate"),
            count => write!(text, " · {count} candidates"),
        };
        text.push_str(if file.stale { " · edited since it was profiled\n" } else { "\n" });
        source(&mut text, &unit, file, &margins);
    }
    text
}

/// Whether the line has a cost, however well the line is known.
fn is_known(margin: &Margin) -> bool {
    !matches!(margin.mark, "" | "?")
}

/// Whether the line only may have one.
fn is_candidate(margin: &Margin) -> bool {
    margin.mark == "?"
}

fn sum(margins: &[Margin], counts: fn(&Margin) -> bool) -> Cost {
    let mut total = Cost::default();
    for margin in margins.iter().filter(|margin| counts(margin)) {
        total += margin.forward;
        total += margin.backward;
    }
    total
}

/// The margin of each line of the file.
fn margins(file: &FileCosts, lines: &FileLines) -> Vec<Margin> {
    let mut margins = vec![Margin::default(); source::LineIndex::new(&file.text).count() as usize];
    let mut add = |line: u32, forward: Cost, backward: Cost, mark: &'static str| {
        if let Some(margin) = (line as usize).checked_sub(1).and_then(|at| margins.get_mut(at)) {
            margin.forward += forward;
            margin.backward += backward;
            // Of several marks the least sure one stays.
            let rank = |mark: &str| MARKS.iter().position(|known| *known == mark);
            if rank(mark) > rank(margin.mark) {
                margin.mark = mark;
            }
        }
    };
    for cost in &lines.lines {
        add(
            cost.line,
            cost.forward,
            cost.backward,
            if cost.precision == Precision::Exact { "=" } else { "≈" },
        );
    }
    for set in &lines.ambiguous {
        add(file.functions[set.function.0 as usize].def_line, set.forward, set.backward, "~");
    }
    for function in file.functions.iter().filter(|function| function.own != Cost::default()) {
        add(function.def_line, function.own, Cost::default(), "f");
    }
    let lines = file.candidates.iter().flat_map(|candidate| &candidate.lines);
    for &(line, _, cost) in lines {
        if let Some(margin) = (line as usize).checked_sub(1).and_then(|at| margins.get_mut(at))
            && !is_known(margin)
        {
            margin.forward += cost;
            margin.mark = "?";
        }
    }
    margins
}

/// A column's head and what it shows, in nanoseconds.
type Column = (String, fn(&Margin) -> i64);

/// Writes the lines with their margins: device time, its backward part, CPU time, its backward part; columns that are
/// empty for the whole file are left out.
fn source(text: &mut String, unit: &Unit, file: &FileCosts, margins: &[Margin]) {
    let backward = margins.iter().any(|margin| margin.backward != Cost::default());
    let mut columns: Vec<Column> = Vec::new();
    if unit.device {
        columns.push((unit.name.clone(), |margin| margin.forward.device_ns));
        if backward {
            columns.push(("backward".to_owned(), |margin| margin.backward.device_ns));
        }
    }
    columns.push(("CPU".to_owned(), |margin| margin.forward.cpu_ns));
    if backward {
        columns.push(("backward".to_owned(), |margin| margin.backward.cpu_ns));
    }
    let digits = margins.len().to_string().len();
    for (name, _) in &columns {
        let _ = write!(text, "{name:>9}  ");
    }
    let _ = writeln!(text, "  {:>digits$} │", "");
    let mut rest = &*file.text;
    for (line, margin) in (1..).zip(margins) {
        let (content, after) = next_line(rest);
        rest = after;
        if rest.is_empty() && content.is_empty() && line == margins.len() {
            break;
        }
        for (_, value) in &columns {
            let ns = value(margin);
            let shown = if ns == 0 { String::new() } else { units::short(ns) };
            let _ = write!(text, "{shown:>9}  ");
        }
        let mark = if margin.mark.is_empty() { " " } else { margin.mark };
        let row = format!("{mark} {line:>digits$} │ {}", content.trim_start_matches('\u{feff}'));
        let _ = writeln!(text, "{}", row.trim_end());
    }
}

/// The first line of a text without its ending, and what follows.
fn next_line(text: &str) -> (&str, &str) {
    let Some(end) = text.find(['\n', '\r']) else { return (text, "") };
    let ending = if text[end..].starts_with("\r\n") { 2 } else { 1 };
    (&text[..end], &text[end + ending..])
}
