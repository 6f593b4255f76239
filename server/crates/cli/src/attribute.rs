//! `attribute`: one JSON row for each charged op, launch and backward op, in order of start.

use std::process::ExitCode;

use attribution::{Attribution, Charge, ChargeKind, Direction, FileId, FunctionId, Place};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::lines::{Costs, Input, precision, word};
use crate::{UNUSABLE, output};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Jsonl,
}

/// A row, schema 1: stable, for scripts. Times are integer nanoseconds and the charged cost.
#[derive(Serialize)]
struct Row<'a> {
    ev_idx: Option<u64>,
    kind: &'a str,
    op: &'a str,
    ts_ns: i64,
    cpu_ns: i64,
    device_ns: i64,
    direction: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    function: Option<&'a str>,
    precision: &'a str,
    candidates: Vec<u32>,
    expression: Option<&'a str>,
    why: &'a str,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Format::Jsonl = arguments.format;
    match arguments.input.read() {
        Ok(costs) => output::write(&text(&costs)),
        Err(error) => {
            output::complain(&error);
            ExitCode::from(UNUSABLE)
        }
    }
}

fn text(costs: &Costs) -> String {
    let mut text = String::new();
    for charge in &costs.attribution.charges {
        // A row is plain data: writing it cannot fail.
        text.push_str(&serde_json::to_string(&row(costs, charge)).unwrap_or_default());
        text.push('\n');
    }
    text
}

fn row<'a>(Costs { profile, attribution }: &'a Costs, charge: &'a Charge) -> Row<'a> {
    let (function, line, candidates) = match &charge.place {
        Place::Line { file, function, line, .. } => (Some((*file, *function)), Some(*line), vec![*line]),
        Place::Ambiguous { file, function, lines } => (Some((*file, *function)), None, lines.clone()),
        Place::Function { file, function } => (Some((*file, *function)), None, Vec::new()),
        Place::None => (None, None, Vec::new()),
    };
    Row {
        ev_idx: profile.info(charge.event).ev_idx,
        kind: match charge.kind {
            ChargeKind::Op => "op",
            ChargeKind::Launch => "launch",
        },
        op: profile.name(charge.event),
        ts_ns: profile.event(charge.event).start_ns,
        cpu_ns: charge.cost.cpu_ns,
        device_ns: charge.cost.device_ns,
        direction: match charge.direction {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        },
        file: function.map(|(file, _)| relative(attribution, file)),
        line,
        function: function.map(|(file, function)| name(attribution, file, function)),
        precision: word(precision(&charge.place)),
        candidates,
        expression: expression(attribution, &charge.place),
        why: &charge.why,
    }
}

/// The text of the expression that launched it.
fn expression<'a>(attribution: &'a Attribution, place: &Place) -> Option<&'a str> {
    let Place::Line { file, expression: Some(range), .. } = place else { return None };
    attribution.files[file.0 as usize].text.get(range.start as usize..range.end as usize)
}

fn relative(attribution: &Attribution, file: FileId) -> &str {
    &attribution.files[file.0 as usize].key.relative
}

fn name(attribution: &Attribution, file: FileId, function: FunctionId) -> &str {
    &attribution.files[file.0 as usize].functions[function.0 as usize].name
}
