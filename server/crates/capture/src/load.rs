//! A path to a trace: opening and reading, with one log.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use trace::{ReadError, Trace};

use crate::open::{OpenError, open};

/// Why a path gives no trace. `Display` is one line: which file, which byte, what to do.
#[derive(Debug)]
pub enum LoadError {
    Open(OpenError),
    Read { path: PathBuf, error: ReadError },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Read { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for LoadError {}

/// Opens and reads one trace. What inflating lost stands first in [`Trace::log`].
pub fn load(path: &Path, cancel: &AtomicBool) -> Result<Trace, LoadError> {
    let opened = open(path).map_err(LoadError::Open)?;
    let read = |error| LoadError::Read { path: path.to_owned(), error };
    let mut trace = trace::read(&opened.bytes, cancel).map_err(read)?;
    let read = std::mem::replace(&mut trace.log, opened.log);
    trace.log.events = read.events;
    trace.log.skipped = read.skipped;
    trace.log.partial |= read.partial;
    let known: Vec<_> = trace.log.warnings.iter().map(|w| w.kind).collect();
    trace.log.warnings.extend(read.warnings.into_iter().filter(|w| !known.contains(&w.kind)));
    Ok(trace)
}
