//! `report`: the operator table of each trace, canonical or as torch prints it.

mod json;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use profile::key_averages::{self, Row, Rules};
use profile::{Device, DeviceKind, Profile};

use crate::{UNUSABLE, output};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Traces (`.json`, `.json.gz`) or profile directories.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Whose table: the one that hints are made of, or what the trace's own torch prints.
    #[arg(long = "as", value_enum, default_value_t = Whose::Canonical)]
    whose: Whose,
    /// The torch version whose rules `--as torch` follows; by default what the trace shows signs of.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    torch: Option<Rules>,
    /// The column to sort by, largest first; by default device time, or CPU time where there is no device.
    #[arg(long, value_enum)]
    sort: Option<Sort>,
    /// Print at most this many rows.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    Canonical,
    Torch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    SelfDevice,
    SelfCpu,
    Device,
    Cpu,
    Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

fn version(text: &str) -> Result<Rules, String> {
    Rules::of_version(text).ok_or_else(|| "expected a version such as 2.13".to_owned())
}

/// One trace with its table.
struct Report {
    path: PathBuf,
    profile: Profile,
    /// How output names the rules that made the rows.
    rules: &'static str,
    /// All rows, sorted.
    rows: Vec<Row>,
    /// How many of them are printed.
    shown: usize,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut reports = Vec::new();
    for path in &arguments.paths {
        match traces(path).and_then(|traces| traces.iter().map(|trace| report(trace, arguments)).collect::<Result<Vec<_>, _>>()) {
            Ok(found) => reports.extend(found),
            Err(error) => {
                output::complain(&error);
                return ExitCode::from(UNUSABLE);
            }
        }
    }
    match arguments.format {
        Format::Json => output::write(&json::text(&reports)),
        Format::Table => {
            let text: String = reports.iter().map(|report| table::text(report, arguments)).collect();
            for report in &reports {
                for warning in &report.profile.log.warnings {
                    output::complain(&format!("{}: warning: {}", report.path.display(), table::warning(warning)));
                }
            }
            output::write(&text)
        }
    }
}

/// The path itself, or the traces of the newest capture in a directory.
fn traces(path: &Path) -> Result<Vec<PathBuf>, String> {
    Ok(vec![path.to_owned()])
}

fn report(path: &Path, arguments: &Arguments) -> Result<Report, String> {
    let trace = capture::load(path, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    let profile = Profile::build(trace);
    let (rules, mut rows) = match arguments.whose {
        Whose::Canonical => ("canonical", key_averages::canonical(&profile)),
        Whose::Torch => {
            let rules = arguments.torch.unwrap_or_else(|| Rules::detect(&profile));
            (rules.word(), key_averages::as_torch(&profile, rules))
        }
    };
    let by = arguments.sort.unwrap_or(if profile.device.is_some() { Sort::SelfDevice } else { Sort::SelfCpu });
    rows.sort_by_key(|row| std::cmp::Reverse(by.of(row)));
    let shown = arguments.limit.unwrap_or(rows.len()).min(rows.len());
    Ok(Report { path: path.to_owned(), profile, rules, rows, shown })
}

impl Sort {
    fn of(self, row: &Row) -> i64 {
        match self {
            Self::SelfDevice => row.self_device_ns,
            Self::SelfCpu => row.self_cpu_ns,
            Self::Device => row.device_total_ns,
            Self::Cpu => row.cpu_total_ns,
            Self::Calls => row.calls as i64,
        }
    }
}

/// torch's own word for a kind of device.
fn kind(device: &Device) -> &'static str {
    match device.kind {
        DeviceKind::Cuda => "CUDA",
        DeviceKind::Hip => "HIP",
        DeviceKind::Xpu => "XPU",
        DeviceKind::Mtia => "MTIA",
        DeviceKind::Npu => "NPU",
        DeviceKind::PrivateUse1 => "PrivateUse1",
    }
}
