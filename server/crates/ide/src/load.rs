//! The one way in: bytes of a trace to an [`Analysis`].

use std::sync::atomic::AtomicBool;

use profile::{Profile, units};
use source::SourceFiles;
use trace::{ImportLog, ReadError};

use crate::Analysis;

/// Reads a trace and works out what every line of the sources costs.
///
/// `outer` is what opening the file lost (a damaged gzip stream, say); it becomes part of the profile's log.
///
/// # Errors
/// Only when the bytes hold no trace at all or the load was cancelled. Damage is in the profile's log.
pub fn load(
    name: String,
    bytes: &[u8],
    outer: &ImportLog,
    sources: &dyn SourceFiles,
    cancel: &AtomicBool,
) -> Result<Analysis, ReadError> {
    let profile = profile(bytes, outer, cancel)?;
    let attribution = attribution::attribute(&profile, sources);
    Ok(Analysis::new(name, profile, attribution))
}

/// Reads a trace without looking at any source.
///
/// # Errors
/// As [`load`].
pub fn profile(bytes: &[u8], outer: &ImportLog, cancel: &AtomicBool) -> Result<Profile, ReadError> {
    let mut trace = trace::read(bytes, cancel)?;
    trace.log.absorb(outer);
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
        let profile = profile(bytes, &ImportLog::default(), &AtomicBool::new(false))?;
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
            problem: (!rules::has_stacks(&profile)).then(|| "no stacks".to_owned()),
        })
    }
}
