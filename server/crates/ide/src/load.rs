//! The one way in: bytes of a trace to an [`Analysis`].

use std::sync::atomic::AtomicBool;

use profile::{Profile, units};
use source::SourceFiles;
use trace::{CallLines, ImportLog, ReadError};

use crate::Analysis;

/// Reads a trace and works out what every line of the sources costs.
///
/// `outer` is what opening the file lost (a damaged gzip stream, say); it becomes part of the profile's log. `call_lines`
/// are those recorded beside the trace.
///
/// # Errors
/// Only when the bytes hold no trace at all or the load was cancelled. Damage is in the profile's log.
pub fn load(
    name: String,
    bytes: &[u8],
    outer: &ImportLog,
    call_lines: Option<&CallLines>,
    sources: &dyn SourceFiles,
    cancel: &AtomicBool,
) -> Result<Analysis, ReadError> {
    let profile = profile(bytes, outer, call_lines, cancel)?;
    let attribution = attribution::attribute(&profile, sources);
    Ok(Analysis::new(name, profile, attribution))
}

/// Reads a trace without looking at any source.
///
/// # Errors
/// As [`load`].
pub fn profile(
    bytes: &[u8],
    outer: &ImportLog,
    call_lines: Option<&CallLines>,
    cancel: &AtomicBool,
) -> Result<Profile, ReadError> {
    let mut trace = trace::read(bytes, cancel)?;
    trace.log.absorb(outer);
    if let Some(call_lines) = call_lines {
        trace.add_call_lines(call_lines);
    }
    Ok(Profile::build(trace))
}

/// What a list of captures says of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// `NEURON`, `CUDA`, or `CPU`.
    pub backend: String,
    /// The device total as text, or `no device`.
    pub device: String,
    pub steps: String,
    /// Why nothing of it could be put on lines, if so.
    pub problem: Option<String>,
}

impl Summary {
    /// Reads a trace for its summary.
    ///
    /// # Errors
    /// As [`load`].
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let profile = profile(bytes, &ImportLog::default(), None, &AtomicBool::new(false))?;
        let device = profile.device.as_ref();
        let steps = profile.steps.len();
        Ok(Self {
            backend: device.map_or_else(|| "CPU".to_owned(), |device| device.name.clone()),
            device: device
                .map_or_else(|| "no device".to_owned(), |_| units::short(profile.device_total_ns())),
            steps: match steps {
                0 => "no steps".to_owned(),
                1 => "1 step".to_owned(),
                _ => format!("{steps} steps"),
            },
            problem: (!profile.has_stacks()).then(|| "no stacks".to_owned()),
        })
    }
}
