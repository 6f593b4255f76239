//! `report --format json`, schema 1: stable, for scripts. Times are integer nanoseconds.

use profile::key_averages::Row;
use profile::{DeviceSource, Profile};
use serde::Serialize;

use super::{Report, kind};

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    trace: String,
    rank: Option<i64>,
    partial: bool,
    rules: &'a str,
    device: Option<Device<'a>>,
    steps: Vec<Step<'a>>,
    rows: Vec<Line<'a>>,
    modules: Vec<Module>,
    self_cpu_total_ns: i64,
    self_device_total_ns: i64,
    unattributed_device_ns: i64,
    device_busy_ns: i64,
    import: Import<'a>,
}

#[derive(Serialize)]
struct Device<'a> {
    kind: &'a str,
    name: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
struct Step<'a> {
    name: &'a str,
    start_ns: i64,
    dur_ns: i64,
    device_ns: i64,
    complete: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    kind: &'a str,
    calls: u64,
    self_cpu_ns: i64,
    cpu_total_ns: i64,
    self_device_ns: i64,
    device_total_ns: i64,
}

#[derive(Serialize)]
struct Module {
    name: String,
    calls: u64,
    cpu_total_ns: i64,
    device_total_ns: i64,
}

#[derive(Serialize)]
struct Import<'a> {
    events: u64,
    skipped: u64,
    warnings: Vec<Warning<'a>>,
}

#[derive(Serialize)]
struct Warning<'a> {
    kind: String,
    offset: u64,
    count: u64,
    message: &'a str,
}

/// All reports as one array.
pub(super) fn text(reports: &[Report]) -> String {
    let documents: Vec<Document<'_>> = reports.iter().map(document).collect();
    let mut text =
        serde_json::to_string(&documents).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    text.push('\n');
    text
}

fn document(report: &Report) -> Document<'_> {
    let profile = &report.profile;
    Document {
        schema: 1,
        trace: report.path.display().to_string(),
        rank: profile.rank,
        partial: profile.log.partial,
        rules: &report.table.rules,
        device: profile.device.as_ref().map(|device| Device {
            kind: kind(device),
            name: &device.name,
            source: match device.source {
                DeviceSource::Kernel => "kernel",
                DeviceSource::Stream => "stream",
            },
        }),
        steps: steps(profile),
        rows: report.table.rows[..report.shown].iter().map(line).collect(),
        modules: modules(profile),
        self_cpu_total_ns: report.table.self_cpu_total_ns,
        self_device_total_ns: report.table.self_device_total_ns,
        unattributed_device_ns: profile.unattributed_device_ns(),
        device_busy_ns: profile.device_busy_ns,
        import: import(profile),
    }
}

fn steps(profile: &Profile) -> Vec<Step<'_>> {
    let step = |step: &profile::Step| {
        let event = profile.event(step.event);
        Step {
            name: profile.name(step.event),
            start_ns: event.start_ns,
            dur_ns: event.dur_ns,
            device_ns: step.device_ns,
            complete: step.complete,
        }
    };
    profile.steps.iter().map(step).collect()
}

fn line(row: &Row) -> Line<'_> {
    Line {
        name: &row.name,
        kind: row.kind.as_str(),
        calls: row.calls,
        self_cpu_ns: row.self_cpu_ns,
        cpu_total_ns: row.cpu_total_ns,
        self_device_ns: row.self_device_ns,
        device_total_ns: row.device_total_ns,
    }
}

fn modules(profile: &Profile) -> Vec<Module> {
    let module = |m: profile::modules::Module| Module {
        name: m.name,
        calls: m.calls,
        cpu_total_ns: m.cpu_total_ns,
        device_total_ns: m.device_total_ns,
    };
    profile::modules::modules(profile).into_iter().map(module).collect()
}

fn import(profile: &Profile) -> Import<'_> {
    let warning = |w: &'_ trace::Warning| (w.kind.to_string(), w.offset, w.count);
    let warnings = profile.log.warnings.iter().map(|w| {
        let (kind, offset, count) = warning(w);
        Warning { kind, offset, count, message: &w.message }
    });
    Import { events: profile.log.events, skipped: profile.log.skipped, warnings: warnings.collect() }
}
