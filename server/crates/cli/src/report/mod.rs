//! `report`: the operator table of each trace, canonical or as torch prints it.

mod json;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use ide::profile as read_profile;
use profile::key_averages::{self, KeyAverages, Row, TorchVersion};
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
    torch: Option<TorchVersion>,
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

fn version(text: &str) -> Result<TorchVersion, String> {
    TorchVersion::of_version(text).ok_or_else(|| "expected a version such as 2.13".to_owned())
}

/// One trace with its table.
struct Report {
    path: PathBuf,
    profile: Profile,
    /// All rows, sorted.
    table: KeyAverages,
    /// How many of them are printed.
    shown: usize,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    if arguments.torch.is_some() && arguments.whose != Whose::Torch {
        output::complain("--torch says which torch's table to print: it goes with --as torch");
        return ExitCode::from(UNUSABLE);
    }
    let mut reports = Vec::new();
    for path in &arguments.paths {
        match read(path, arguments) {
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
                    output::complain(&format!(
                        "{}: warning: {}",
                        report.path.display(),
                        table::warning(warning)
                    ));
                }
            }
            output::write(&text)
        }
    }
}

/// Reads every trace that a path stands for: the file itself, or the files of all ranks of a directory's newest capture.
fn read(path: &Path, arguments: &Arguments) -> Result<Vec<Report>, String> {
    let capture = capture::at(path).map_err(|error| error.to_string())?;
    capture.ranks.iter().map(|trace| report(trace, arguments)).collect()
}

fn report(path: &Path, arguments: &Arguments) -> Result<Report, String> {
    let opened = capture::open(path).map_err(|error| error.to_string())?;
    let profile = read_profile(opened.bytes(), opened.log(), opened.call_lines(), &AtomicBool::new(false))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let mut table = match arguments.whose {
        Whose::Canonical => key_averages::canonical(&profile),
        Whose::Torch => {
            let version = arguments.torch.unwrap_or_else(|| TorchVersion::detect(&profile));
            key_averages::as_torch(&profile, version)
        }
    };
    let by =
        arguments.sort.unwrap_or(if profile.device.is_some() { Sort::SelfDevice } else { Sort::SelfCpu });
    table.rows.sort_by_key(|row| std::cmp::Reverse(by.of(row)));
    let shown = arguments.limit.unwrap_or(table.rows.len()).min(table.rows.len());
    Ok(Report { path: path.to_owned(), profile, table, shown })
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
