//! `annotate --format json`, schema 1: stable, for scripts. Times are integer nanoseconds; `own_*` is what is known to the
//! function only.

use attribution::lines::{FileLines, by_line};
use attribution::{Candidate, Cost, Direction, FileCosts, Unit, ViewKind};
use ide::coverage::Coverage as Buckets;
use profile::{EventId, Profile};
use serde::Serialize;

use crate::lines::{Costs, word};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    coverage: Coverage,
    totals: Ns,
    files: Vec<FileRow<'a>>,
    ambiguous: Vec<AmbiguousRow<'a>>,
    unattributed: Ns,
}

/// Shares of the leading total, 0–1.
#[derive(Serialize)]
struct Coverage {
    lines: f64,
    ambiguous: f64,
    functions: f64,
    unattributed: f64,
}

#[derive(Serialize)]
struct Ns {
    cpu_ns: i64,
    device_ns: i64,
}

#[derive(Serialize)]
struct FileRow<'a> {
    file: &'a str,
    stale: bool,
    lines: Vec<LineRow<'a>>,
    functions: Vec<FunctionRow<'a>>,
    views: Vec<ViewRow<'a>>,
    candidates: Vec<CandidateRow<'a>>,
}

#[derive(Serialize)]
struct LineRow<'a> {
    line: u32,
    ops: Vec<&'a str>,
    calls: usize,
    cpu_ns: i64,
    device_ns: i64,
    backward_cpu_ns: i64,
    backward_device_ns: i64,
    precision: &'a str,
}

#[derive(Serialize)]
struct FunctionRow<'a> {
    name: &'a str,
    def_line: u32,
    stale: bool,
    own_cpu_ns: i64,
    own_device_ns: i64,
    inclusive_cpu_ns: i64,
    inclusive_device_ns: i64,
}

#[derive(Serialize)]
struct ViewRow<'a> {
    line: u32,
    kind: &'a str,
    name: &'a str,
    calls: u32,
    cpu_ns: i64,
    device_ns: i64,
    precision: &'a str,
}

/// A function that may have launched ops of a trace without stacks; what it costs is `unattributed` all the same.
#[derive(Serialize)]
struct CandidateRow<'a> {
    name: &'a str,
    def_line: u32,
    runs: u32,
    ops: u32,
    cpu_ns: i64,
    device_ns: i64,
    rivals: u32,
    lines: Vec<CandidateLine>,
}

#[derive(Serialize)]
struct CandidateLine {
    line: u32,
    ops: u32,
    cpu_ns: i64,
    device_ns: i64,
}

#[derive(Serialize)]
struct AmbiguousRow<'a> {
    file: &'a str,
    ops: Vec<&'a str>,
    lines: Vec<u32>,
    cpu_ns: i64,
    device_ns: i64,
}

impl From<Cost> for Ns {
    fn from(cost: Cost) -> Self {
        Self { cpu_ns: cost.cpu_ns, device_ns: cost.device_ns }
    }
}

pub(super) fn text(costs: &Costs, wanted: &dyn Fn(&FileCosts) -> bool) -> String {
    let Costs { profile, attribution } = costs;
    let by_file = by_line(attribution);
    let shown = || attribution.files.iter().zip(&by_file).filter(|(file, _)| wanted(file));
    let unit = Unit::of(profile, attribution.totals);
    let buckets = Buckets::of(attribution, &unit);
    let share = |ns: i64| if buckets.total_ns > 0 { ns as f64 / buckets.total_ns as f64 } else { 0.0 };
    let document = Document {
        schema: 1,
        coverage: Coverage {
            lines: share(buckets.lines_ns),
            ambiguous: share(buckets.ambiguous_ns),
            functions: share(buckets.functions_ns),
            unattributed: share(buckets.unattributed_ns),
        },
        totals: attribution.totals.into(),
        files: shown().map(|(file, costs)| self::file(profile, file, costs)).collect(),
        ambiguous: shown().flat_map(|(file, costs)| ambiguous(profile, file, costs)).collect(),
        unattributed: attribution.unattributed.into(),
    };
    let mut text = serde_json::to_string(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn file<'a>(profile: &'a Profile, file: &'a FileCosts, costs: &FileLines) -> FileRow<'a> {
    let lines = costs.lines.iter().map(|cost| LineRow {
        line: cost.line,
        ops: ops(profile, &cost.events),
        calls: cost.events.len(),
        cpu_ns: cost.forward.cpu_ns,
        device_ns: cost.forward.device_ns,
        backward_cpu_ns: cost.backward.cpu_ns,
        backward_device_ns: cost.backward.device_ns,
        precision: word(cost.precision),
    });
    let functions = file.functions.iter().map(|function| FunctionRow {
        name: &function.name,
        def_line: function.def_line,
        stale: function.stale,
        own_cpu_ns: function.own.cpu_ns,
        own_device_ns: function.own.device_ns,
        inclusive_cpu_ns: function.inclusive.cpu_ns,
        inclusive_device_ns: function.inclusive.device_ns,
    });
    let views = file.views.iter().map(|view| ViewRow {
        line: view.line,
        kind: match view.kind {
            ViewKind::Module => "module",
            ViewKind::Optimizer => "optimizer",
            ViewKind::DataLoading => "data_loading",
            ViewKind::Range => "range",
        },
        name: &view.name,
        calls: view.calls,
        cpu_ns: view.cost.cpu_ns,
        device_ns: view.cost.device_ns,
        precision: word(view.precision),
    });
    FileRow {
        file: &file.key.relative,
        stale: file.stale,
        lines: lines.collect(),
        functions: functions.collect(),
        views: views.collect(),
        candidates: file.candidates.iter().map(candidate).collect(),
    }
}

fn candidate(candidate: &Candidate) -> CandidateRow<'_> {
    let line = |&(line, ops, cost): &(u32, u32, Cost)| CandidateLine {
        line,
        ops,
        cpu_ns: cost.cpu_ns,
        device_ns: cost.device_ns,
    };
    CandidateRow {
        name: &candidate.name,
        def_line: candidate.def_line,
        runs: candidate.runs,
        ops: candidate.ops,
        cpu_ns: candidate.cost.cpu_ns,
        device_ns: candidate.cost.device_ns,
        rivals: candidate.rivals,
        lines: candidate.lines.iter().map(line).collect(),
    }
}

fn ambiguous<'a>(profile: &'a Profile, file: &'a FileCosts, costs: &FileLines) -> Vec<AmbiguousRow<'a>> {
    let sets = costs.ambiguous.iter().map(|set| {
        let mut both = set.forward;
        both += set.backward;
        AmbiguousRow {
            file: &file.key.relative,
            ops: ops(profile, &set.events),
            lines: set.lines.clone(),
            cpu_ns: both.cpu_ns,
            device_ns: both.device_ns,
        }
    });
    sets.collect()
}

/// The distinct names of events, in order.
pub(super) fn ops<'a>(profile: &'a Profile, events: &[(EventId, Direction)]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for &(event, _) in events {
        let name = profile.name(event);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
