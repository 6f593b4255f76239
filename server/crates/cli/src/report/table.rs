//! The table for people: torch's own columns and footer, with the backend's own name.

use std::fmt::Write;

use profile::key_averages::Row;
use profile::{DeviceKind, units};

use super::{Arguments, Report, Whose};

/// torch's `max_name_column_width`.
const NAME_WIDTH: usize = 55;
/// Rows printed where no limit is asked for: torch's own.
const ROWS: usize = 100;

struct Column<'a> {
    head: String,
    cell: Box<dyn Fn(&Row) -> String + 'a>,
}

/// The table of one trace, with a blank line after it.
pub(super) fn text(report: &Report, arguments: &Arguments) -> String {
    let shown = arguments.limit.map_or(ROWS, |_| report.shown).min(report.table.rows.len());
    let columns = columns(report, arguments);
    let rows: Vec<Vec<String>> = report.table.rows[..shown]
        .iter()
        .map(|row| columns.iter().map(|column| (column.cell)(row)).collect())
        .collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([columns[at].head.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut out = String::new();
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let rule = rule.join("  ");
    let heads: Vec<String> = columns.iter().map(|column| column.head.clone()).collect();
    let _ = writeln!(out, "{}\n{rule}\n{}\n{rule}", title(report), line(&heads, &widths));
    for row in &rows {
        let _ = writeln!(out, "{}", line(row, &widths));
    }
    let _ = writeln!(out, "{rule}");
    if shown < report.table.rows.len() {
        let _ = writeln!(
            out,
            "{} more rows: --limit {} shows all",
            report.table.rows.len() - shown,
            report.table.rows.len()
        );
    }
    out + &footer(report, arguments)
}

/// The name to the left, numbers to the right.
fn line(cells: &[String], widths: &[usize]) -> String {
    let cell = |(at, (text, &width)): (usize, (&String, &usize))| {
        if at == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
    };
    let cells: Vec<String> = cells.iter().zip(widths).enumerate().map(cell).collect();
    cells.join("  ").trim_end().to_owned()
}

fn title(report: &Report) -> String {
    let rank = report.profile.rank.map_or_else(String::new, |rank| format!(", rank {rank}"));
    let partial = if report.profile.log.partial { ", PARTIAL: the end of the trace is missing" } else { "" };
    format!("{}{rank}{partial}", report.path.display())
}

/// torch prints `CUDA` on `ROCm` too.
fn device_name(report: &Report, arguments: &Arguments) -> Option<String> {
    let device = report.profile.device.as_ref()?;
    let as_cuda = device.kind == DeviceKind::Hip && arguments.whose == Whose::Torch;
    Some(if as_cuda { "CUDA".to_owned() } else { device.name.clone() })
}

fn columns<'a>(report: &'a Report, arguments: &Arguments) -> Vec<Column<'a>> {
    let cpu = report.table.self_cpu_total_ns;
    let device = report.table.self_device_total_ns;
    let column = |head: &str, cell: Box<dyn Fn(&Row) -> String + 'a>| Column { head: head.to_owned(), cell };
    let mut columns = vec![
        column("Name", Box::new(|row| name(&row.name))),
        column("Self CPU %", Box::new(move |row| percent(row.self_cpu_ns, cpu))),
        column("Self CPU", Box::new(|row| units::torch(row.self_cpu_ns))),
        column("CPU total %", Box::new(move |row| percent(row.cpu_total_ns, cpu))),
        column("CPU total", Box::new(|row| units::torch(row.cpu_total_ns))),
        column("CPU time avg", Box::new(|row| units::torch_average(row.cpu_total_ns, row.calls))),
    ];
    if let Some(name) = device_name(report, arguments) {
        columns.extend([
            column(&format!("Self {name}"), Box::new(|row| units::torch(row.self_device_ns))),
            column(&format!("Self {name} %"), Box::new(move |row| percent(row.self_device_ns, device))),
            column(&format!("{name} total"), Box::new(|row| units::torch(row.device_total_ns))),
            column(
                &format!("{name} time avg"),
                Box::new(|row| units::torch_average(row.device_total_ns, row.calls)),
            ),
        ]);
    }
    columns.push(column("# of Calls", Box::new(|row| row.calls.to_string())));
    columns
}

/// Long names are cut where torch cuts them; line breaks in a name must not break the table.
fn name(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() < NAME_WIDTH - 3 {
        return text;
    }
    let cut: String = text.chars().take(NAME_WIDTH - 3).collect();
    cut + "..."
}

fn percent(part: i64, whole: i64) -> String {
    units::torch_share(part, whole)
}

fn footer(report: &Report, arguments: &Arguments) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Self CPU time total: {}", units::torch(report.table.self_cpu_total_ns));
    if let Some(name) = device_name(report, arguments) {
        let total = report.table.self_device_total_ns;
        let _ = writeln!(out, "Self {name} time total: {}", units::torch(total));
        if arguments.whose == Whose::Canonical {
            let _ = writeln!(
                out,
                "{name} busy (union over streams): {}",
                units::torch(report.profile.device_busy_ns)
            );
            let lost = report.profile.unattributed_device_ns();
            if lost > 0 {
                let _ = writeln!(
                    out,
                    "{name} work that no op or launch of this trace started: {}",
                    units::torch(lost)
                );
            }
        }
    } else {
        let _ = writeln!(out, "No device time: the trace holds no device events");
    }
    let _ = writeln!(out, "Rules: {}\n", report.table.rules);
    out
}

/// A warning as one line, with how often it happened.
pub(super) fn warning(warning: &trace::Warning) -> String {
    match warning.count {
        1 => warning.message.clone(),
        count => format!("{} (and {} more like it)", warning.message, count - 1),
    }
}
