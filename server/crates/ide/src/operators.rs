//! The operators table: `key_averages` with each row's line, as cells that a client only has to show.

use std::collections::HashMap;

use attribution::FileId;
use attribution::lines::by_op;
use profile::key_averages::{self, KeyAverages, Row, RowKind, TorchVersion};
use profile::units;

use crate::Analysis;

/// A table ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Operators {
    pub columns: Vec<Column>,
    pub rows: Vec<OperatorRow>,
    /// The id of the column that the rows are sorted by, largest first.
    pub sorted_by: &'static str,
    pub footer: Vec<String>,
    /// Which rules made the numbers: `canonical`, `torch>=2.14`, ….
    pub rules: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub id: &'static str,
    pub label: String,
    pub numeric: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OperatorRow {
    pub name: String,
    pub kind: RowKind,
    pub cells: Vec<Cell>,
    /// Share of the leading total, 0–1.
    pub bar: Option<f64>,
    /// The line that costs most for this row.
    pub location: Option<(FileId, u32)>,
    /// How many lines have a part of it.
    pub locations: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub text: String,
    /// What to sort by; `None` sorts by text.
    pub value: Option<f64>,
}

/// The table of an analysed capture: our own numbers, or row for row what the trace's own torch prints.
pub fn operators(analysis: &Analysis, as_torch: bool) -> Operators {
    let profile = &analysis.profile;
    let table = if as_torch {
        key_averages::as_torch(profile, TorchVersion::detect(profile))
    } else {
        key_averages::canonical(profile)
    };
    let device = profile.device.as_ref().map(|device| device.name.as_str());
    let time = if as_torch { units::torch } else { units::short };
    let places = Places::of(analysis);
    let mut rows: Vec<OperatorRow> =
        table.rows.iter().map(|row| operator_row(analysis, row, &table, device, time, &places)).collect();
    let lead = |row: &OperatorRow| row.bar.unwrap_or(0.0);
    rows.sort_by(|a, b| lead(b).total_cmp(&lead(a)));
    Operators {
        columns: columns(device),
        rows,
        sorted_by: if device.is_some() { "self_device" } else { "self_cpu" },
        footer: footer(&table, device, time),
        rules: table.rules.clone(),
    }
}

/// What leads stands first: beside the code the table is narrow, and the rest is scrolled to.
fn columns(device: Option<&str>) -> Vec<Column> {
    let mut columns = vec![
        Column { id: "name", label: "Name".to_owned(), numeric: false },
        Column { id: "line", label: "Line".to_owned(), numeric: false },
        Column { id: "calls", label: "Calls".to_owned(), numeric: true },
    ];
    if let Some(name) = device {
        columns.push(Column { id: "self_device", label: format!("Self {name}"), numeric: true });
        columns.push(Column { id: "share", label: format!("Self {name} %"), numeric: true });
        columns.push(Column { id: "device_total", label: format!("{name} total"), numeric: true });
    }
    columns.push(Column { id: "self_cpu", label: "Self CPU".to_owned(), numeric: true });
    if device.is_none() {
        columns.push(Column { id: "share", label: "Self CPU %".to_owned(), numeric: true });
    }
    columns.push(Column { id: "cpu_total", label: "CPU total".to_owned(), numeric: true });
    columns
}

fn operator_row(
    analysis: &Analysis,
    row: &Row,
    table: &KeyAverages,
    device: Option<&str>,
    time: fn(i64) -> String,
    places: &Places,
) -> OperatorRow {
    let number = |ns: i64| Cell { text: time(ns), value: Some(ns as f64) };
    let (led, total) = if device.is_some() {
        (row.self_device_ns, table.self_device_total_ns)
    } else {
        (row.self_cpu_ns, table.self_cpu_total_ns)
    };
    let bar = (total > 0).then(|| led as f64 / total as f64);
    let share = Cell { text: units::share(led, total), value: Some(bar.unwrap_or(0.0)) };
    let lines = places.of_name(&row.name);
    let location = lines.first().copied();
    let mut cells = vec![
        Cell { text: row.name.clone(), value: None },
        Cell { text: line_cell(analysis, location, lines.len()), value: None },
        Cell { text: row.calls.to_string(), value: Some(row.calls as f64) },
    ];
    if device.is_some() {
        cells.extend([
            number(row.self_device_ns),
            share,
            number(row.device_total_ns),
            number(row.self_cpu_ns),
        ]);
    } else {
        cells.extend([number(row.self_cpu_ns), share]);
    }
    cells.push(number(row.cpu_total_ns));
    OperatorRow { name: row.name.clone(), kind: row.kind, cells, bar, location, locations: lines.len() }
}

fn line_cell(analysis: &Analysis, location: Option<(FileId, u32)>, count: usize) -> String {
    let Some((file, line)) = location else { return String::new() };
    let path = &analysis.attribution.files[file.0 as usize].key.relative;
    let base = path.rsplit('/').next().unwrap_or(path);
    if count > 1 { format!("{base}:{line} +{}", count - 1) } else { format!("{base}:{line}") }
}

fn footer(table: &KeyAverages, device: Option<&str>, time: fn(i64) -> String) -> Vec<String> {
    let mut footer = vec![format!("Self CPU time total: {}", time(table.self_cpu_total_ns))];
    if let Some(name) = device {
        footer.push(format!("Self {name} time total: {}", time(table.self_device_total_ns)));
    }
    footer
}

/// The row to select for a 1-based line: the one of its costliest op.
pub fn row_of_line(analysis: &Analysis, table: &Operators, file: FileId, line: u32) -> Option<usize> {
    let cost = analysis.lines_of(file).line(line)?;
    let ops = by_op(&analysis.profile, &cost.events);
    ops.iter().find_map(|op| table.rows.iter().position(|row| row.name == op.name))
}

/// Per row name: its lines, the costliest first.
struct Places(HashMap<String, Vec<(FileId, u32)>>);

impl Places {
    fn of(analysis: &Analysis) -> Self {
        let profile = &analysis.profile;
        let mut sums: HashMap<&str, HashMap<(FileId, u32), i64>> = HashMap::new();
        for id in profile.ids() {
            use profile::Kind::{Annotation, Op, Runtime};
            if matches!(profile.event(id).kind, Op | Runtime | Annotation)
                && let Some(place) = analysis.line_around(Some(id))
            {
                let ns =
                    if analysis.unit.device { profile.self_device_ns(id) } else { profile.self_cpu_ns(id) };
                *sums.entry(profile.name(id)).or_default().entry(place).or_default() += ns;
            }
        }
        for device in profile.device_events() {
            if let Some(place) = analysis.line_around(device.target.or(device.launch)) {
                let work = profile.event(device.event);
                *sums.entry(profile.text(work.name)).or_default().entry(place).or_default() += work.dur_ns;
            }
        }
        let sorted = |places: HashMap<(FileId, u32), i64>| {
            let mut places: Vec<_> = places.into_iter().collect();
            places.sort_by_key(|&(place, ns)| (std::cmp::Reverse(ns), place));
            places.into_iter().map(|(place, _)| place).collect()
        };
        Self(sums.into_iter().map(|(name, places)| (name.to_owned(), sorted(places))).collect())
    }

    fn of_name(&self, name: &str) -> &[(FileId, u32)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}
