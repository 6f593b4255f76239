//! Why a file gives no trace at all.

use std::fmt;

/// A file that cannot be read as a trace. Damage inside a trace is never one of these: it goes into the import log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// No byte but white space: a writer has just created the file, or nothing was recorded.
    Empty,
    /// The bytes are not JSON.
    NotJson { offset: u64 },
    /// JSON of something else than a trace.
    NotATrace { offset: u64, why: &'static str },
    /// The caller's flag asked to stop.
    Cancelled,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("empty file (byte 0): nothing was recorded, or the writer has not finished yet")
            }
            Self::NotJson { offset } => {
                write!(f, "not JSON (byte {offset}): expected a trace that torch.profiler exported")
            }
            Self::NotATrace { offset, why } => write!(f, "not a trace (byte {offset}): {why}"),
            Self::Cancelled => f.write_str("reading was cancelled"),
        }
    }
}

impl std::error::Error for ReadError {}
