//! The hover of a hot line: the table behind its hint, how the line is known, and the kernels it launched.

use std::fmt::Write as _;

use attribution::lines::{LineCost, OpCost, by_op, short_name};
use attribution::{Charge, Direction, FileId, Place, Precision, View};
use profile::units;

use crate::{Analysis, candidates};

/// How many kernels a hover lists.
const KERNELS_SHOWN: usize = 4;
/// How many expressions of a line a hover lists, and how long each may be.
const EXPRESSIONS_SHOWN: usize = 4;
const EXPRESSION_CHARS: usize = 40;
/// How many of the modules and ranges that a line sets off a hover lists.
const VIEWS_SHOWN: usize = 4;
/// How many characters of shapes a table cell holds.
const SHAPES_CHARS: usize = 40;

/// The Markdown of the hover on a 1-based line of the attributed text; `None` where nothing is charged.
///
/// `now` is the text of the file that the user sees; `links` is what the client can follow, appended as the last line.
pub fn hover(analysis: &Analysis, file: FileId, line: u32, now: &str, links: Option<&str>) -> Option<String> {
    let lines = analysis.lines_of(file);
    let mut text = String::new();
    if let Some(cost) = lines.line(line) {
        line_section(&mut text, analysis, file, cost, now);
    }
    for set in lines.ambiguous.iter().filter(|set| set.lines.contains(&line)) {
        separate(&mut text);
        let names: Vec<_> = set.lines.iter().map(u32::to_string).collect();
        let ops = by_op(&analysis.profile, &set.events);
        let mut sum = set.forward;
        sum += set.backward;
        let _ = writeln!(
            text,
            "**~{} {}** ({}) may be here: {} on one of the lines {}, which the trace cannot tell apart.",
            units::short(analysis.unit.ns(sum)),
            analysis.unit.name,
            analysis.unit.percent(sum),
            ops.iter()
                .map(|op| format!("`{}` ×{}", short_name(&op.name), op.calls))
                .collect::<Vec<_>>()
                .join(", "),
            names.join(", "),
        );
    }
    for rest in analysis.rests(file).filter(|rest| rest.def_line == line) {
        separate(&mut text);
        let _ = writeln!(
            text,
            "**~{} {}** ({}) of `{}` is on no one line: known to the function only, or to several of its lines.",
            units::short(analysis.unit.ns(rest.cost)),
            analysis.unit.name,
            analysis.unit.percent(rest.cost),
            rest.name,
        );
    }
    candidates::section(&mut text, analysis, file, line);
    set_off(&mut text, analysis, file, line);
    if text.is_empty() {
        return None;
    }
    if let Some(links) = links {
        separate(&mut text);
        text.push_str(links);
        text.push('\n');
    }
    Some(text)
}

/// What the line sets off as a whole: the cost is charged to the lines inside, which may be in other files.
fn set_off(text: &mut String, analysis: &Analysis, file: FileId, line: u32) {
    let views = &analysis.file(file).views;
    let first = views.partition_point(|view| view.line < line);
    let here = &views[first..first + views[first..].partition_point(|view| view.line == line)];
    if here.is_empty() {
        return;
    }
    separate(text);
    let unit = &analysis.unit;
    let one = |view: &View| {
        let (ns, share) = (unit.ns(view.cost), unit.percent(view.cost));
        format!("`{}` ×{} {} {} ({share})", escape(&view.name), view.calls, units::short(ns), unit.name)
    };
    let shown: Vec<_> = here.iter().take(VIEWS_SHOWN).map(one).collect();
    let more = here.len().saturating_sub(VIEWS_SHOWN);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let _ = writeln!(text, "In all, from here: {}{more}", shown.join(", "));
}

fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

fn line_section(text: &mut String, analysis: &Analysis, file: FileId, cost: &LineCost, now: &str) {
    let unit = &analysis.unit;
    let ops = by_op(&analysis.profile, &cost.events);
    let _ = write!(text, "**{} {}**", units::short(unit.ns(cost.forward)), unit.name);
    let _ = write!(text, " · {} of {}", unit.percent(cost.forward), units::short(unit.total_ns));
    if unit.device {
        let _ = write!(text, " · CPU {}", units::short(cost.forward.cpu_ns));
    }
    if unit.ns(cost.backward) > 0 {
        let _ = write!(text, " · backward {}", units::short(unit.ns(cost.backward)));
    }
    text.push_str("\n\n");
    table(text, analysis, &ops);
    as_torch_prints(text, analysis, &ops);
    per_step(text, analysis, cost);
    expressions(text, analysis, file, cost);
    kernels(text, analysis, cost);
    let _ = writeln!(text, "\n{}", known_by(analysis, file, cost, now));
}

fn table(text: &mut String, analysis: &Analysis, ops: &[OpCost]) {
    let shapes = ops.iter().any(|op| !op.shapes.is_empty());
    let device = analysis.unit.device.then_some(analysis.unit.name.as_str());
    text.push_str("| op | calls | CPU self | CPU total |");
    if let Some(name) = device {
        let _ = write!(text, " {name} self | {name} total | share |");
    } else {
        text.push_str(" share |");
    }
    text.push_str(if shapes { " shapes |\n" } else { "\n" });
    text.push_str("|:--|--:|--:|--:|--:|");
    text.push_str(if device.is_some() { "--:|--:|" } else { "" });
    text.push_str(if shapes { ":--|\n" } else { "\n" });
    for op in ops {
        let direction = if op.direction == Direction::Backward { "bwd " } else { "" };
        let name = escape(short_name(&op.name));
        let (cpu_self, cpu_total) = (units::short(op.self_cpu_ns), units::short(op.cpu_total_ns));
        let _ = write!(text, "| {direction}`{name}` | {} | {cpu_self} | {cpu_total} |", op.calls);
        if device.is_some() {
            let share = units::share(op.device_total_ns, analysis.unit.total_ns);
            let (own, total) = (units::short(op.self_device_ns), units::short(op.device_total_ns));
            let _ = write!(text, " {own} | {total} | {share} |");
        } else {
            let _ = write!(text, " {} |", units::share(op.cpu_total_ns, analysis.unit.total_ns));
        }
        if shapes {
            let _ = write!(text, " {} |", shape_text(&op.shapes));
        }
        text.push('\n');
    }
}

/// Raw `Input Dims` made readable: `[[4,512],[4,512]]` → `4×512, 4×512`; scalars (`[]`) are left out.
fn shape_text(shapes: &[String]) -> String {
    let one = |raw: &String| {
        let inner: String = raw.chars().filter(|c| !c.is_whitespace()).collect();
        let inner =
            inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&inner).to_owned();
        inner
            .split("],[")
            .map(|dims| dims.trim_matches(['[', ']']).replace(',', "×"))
            .filter(|dims| !dims.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let joined = shapes.iter().map(one).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    shortened(&joined, SHAPES_CHARS)
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Both numbers where torch's table has another: a user who compares must not wonder which one is wrong.
fn as_torch_prints(text: &mut String, analysis: &Analysis, ops: &[OpCost]) {
    for op in ops {
        if let Some(differing) = analysis.differing(&op.name) {
            let _ = writeln!(
                text,
                "\nOver the whole trace `{}` has Self CPU {}; torch prints {}, without the Python frames inside it.",
                escape(short_name(&op.name)),
                units::short(differing.self_cpu_ns),
                units::torch(differing.torch_self_cpu_ns),
            );
        }
    }
}

fn per_step(text: &mut String, analysis: &Analysis, cost: &LineCost) {
    let steps = &analysis.profile.steps;
    let complete = steps.iter().filter(|step| step.complete).count();
    if steps.len() < 2 || complete == 0 {
        return;
    }
    let unit = &analysis.unit;
    let mean = unit.ns(cost.forward) / steps.len() as i64;
    let _ = write!(text, "\n{} {} per step over {} steps", units::short(mean), unit.name, steps.len());
    if complete < steps.len() {
        let _ =
            write!(text, " ({} incomplete: work launched in it was not recorded)", steps.len() - complete);
    }
    text.push('\n');
}

/// Where on the line the cost is, if more than one expression has any.
fn expressions(text: &mut String, analysis: &Analysis, file: FileId, cost: &LineCost) {
    let unit = &analysis.unit;
    let mut known: Vec<_> = cost.expressions.iter().map(|(range, cost)| (range, unit.ns(*cost))).collect();
    if known.len() < 2 {
        return;
    }
    known.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let source = &analysis.file(file).text;
    let shown = known.iter().take(EXPRESSIONS_SHOWN).map(|&(range, ns)| {
        let code = source.get(range.start as usize..range.end as usize).unwrap_or_default();
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("`{}` {}", escape(&shortened(&code, EXPRESSION_CHARS)), units::short(ns))
    });
    let shown: Vec<_> = shown.collect();
    let more = known.len().saturating_sub(EXPRESSIONS_SHOWN);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let _ = writeln!(text, "\nBy expression: {}{more}", shown.join(", "));
}

fn kernels(text: &mut String, analysis: &Analysis, cost: &LineCost) {
    let mut named: Vec<(&str, u32, i64)> = Vec::new();
    for &(event, _) in &cost.events {
        for &at in analysis.launched_by(event) {
            let work = analysis.profile.event(at);
            let name = analysis.profile.text(work.name);
            match named.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, calls, ns)) => {
                    *calls += 1;
                    *ns += work.dur_ns;
                }
                None => named.push((name, 1, work.dur_ns)),
            }
        }
    }
    if named.is_empty() {
        return;
    }
    named.sort_by_key(|&(_, _, ns)| std::cmp::Reverse(ns));
    let shown: Vec<_> = named
        .iter()
        .take(KERNELS_SHOWN)
        .map(|(name, calls, ns)| format!("`{}` ×{calls} {}", escape(name), units::short(*ns)))
        .collect();
    let more = named.len().saturating_sub(KERNELS_SHOWN);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let _ = writeln!(text, "\nLaunched: {}{more}", shown.join(", "));
}

fn known_by(analysis: &Analysis, file: FileId, cost: &LineCost, now: &str) -> String {
    // The reason of the least certain op is the line's.
    let is_least = |charge: &&Charge| matches!(charge.place, Place::Line { precision, .. } if precision == cost.precision);
    let charges = || cost.events.iter().filter_map(|&(event, _)| analysis.charge(event));
    let why = charges().find(is_least).map_or("", |charge| charge.why.as_str());
    let label = match cost.precision {
        Precision::Exact => "exact",
        Precision::Aligned => "aligned",
        Precision::Ambiguous => "ambiguous",
        Precision::Function | Precision::None => "function",
    };
    let functions = &analysis.file(file).functions;
    let is_stale = |charge: &Charge| matches!(charge.place, Place::Line { function, .. } if functions[function.0 as usize].stale);
    let stale = match (analysis.is_edited(file, now), charges().any(is_stale)) {
        (true, true) => " The file was edited after the run; the lines of this function were found anew.",
        (true, false) => " The file was edited after the run; this line still fits it.",
        (false, _) => "",
    };
    if why.is_empty() {
        format!("Line: *{label}*.{stale}")
    } else {
        format!("Line: *{label}* ({why}).{stale}")
    }
}

/// A name inside a Markdown table's code span: no bars, backticks or line breaks.
fn escape(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '`' => '\'',
            '\n' | '\r' => ' ',
            _ => c,
        })
        .collect::<String>()
        .replace('|', "\\|")
}
