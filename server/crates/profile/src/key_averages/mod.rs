//! `key_averages()`: calls and times by name.
//!
//! [`canonical`] is the table that hints, findings and panels are made of; [`as_torch`] is, row for row, what
//! `torch.profiler` of the trace's own version prints.

mod canonical;
mod torch;

use crate::model::Kind;

pub use canonical::canonical;
pub use torch::{TorchVersion, as_torch};

/// What a row sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    Op,
    Annotation,
    Runtime,
    Overhead,
    /// A kernel, copy or fill by its own name.
    Device,
    /// A Python frame: only torch 2.12 and 2.13 print these.
    Frame,
}

impl RowKind {
    /// The word that JSON output uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Op => "op",
            Self::Annotation => "annotation",
            Self::Runtime => "runtime",
            Self::Overhead => "overhead",
            Self::Device => "device",
            Self::Frame => "frame",
        }
    }

    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Op => Self::Op,
            Kind::Annotation => Self::Annotation,
            Kind::Frame => Self::Frame,
            Kind::Runtime => Self::Runtime,
            Kind::Overhead => Self::Overhead,
            Kind::Device(_) | Kind::DeviceAnnotation => Self::Device,
        }
    }
}

/// One row of a table. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `ProfilerStep*` stands for all steps.
    pub name: String,
    pub kind: RowKind,
    /// A range that an annotation draws on the device's timeline: its time is not device work, and torch leaves it out of
    /// the sum that shares are taken of.
    pub device_annotation: bool,
    pub calls: u64,
    /// `self_cpu_time_total`.
    pub self_cpu_ns: i64,
    /// `cpu_time_total`.
    pub cpu_total_ns: i64,
    /// `self_device_time_total`.
    pub self_device_ns: i64,
    /// `device_time_total`.
    pub device_total_ns: i64,
}

impl Row {
    fn new(name: &str, kind: RowKind, device_annotation: bool) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            device_annotation,
            calls: 0,
            self_cpu_ns: 0,
            cpu_total_ns: 0,
            self_device_ns: 0,
            device_total_ns: 0,
        }
    }
}

/// A whole table. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAverages {
    /// In order of first appearance.
    pub rows: Vec<Row>,
    /// Whose rules made it: `canonical`, `torch>=2.14`.
    pub rules: String,
    /// `Self CPU time total`: Σ of the rows' self CPU.
    pub self_cpu_total_ns: i64,
    /// `Self … time total`: Σ of the device rows, without ranges that annotations draw on the device's timeline.
    pub self_device_total_ns: i64,
}

impl KeyAverages {
    fn new(rows: Vec<Row>, rules: &str) -> Self {
        let work = rows.iter().filter(|row| row.kind == RowKind::Device && !row.device_annotation);
        Self {
            rules: rules.to_owned(),
            self_cpu_total_ns: rows.iter().map(|row| row.self_cpu_ns).sum(),
            self_device_total_ns: work.map(|row| row.self_device_ns).sum(),
            rows,
        }
    }
}

/// The prefix of the steps' names, and the name of their common row.
const STEP: &str = "ProfilerStep#";
const STEPS: &str = "ProfilerStep*";
