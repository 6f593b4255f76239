//! The outside world: finds captures on disk, opens traces, indexes source files. `lsp` and `cli` read files through this
//! crate alone.

mod call_lines;
mod find;
mod naming;
mod open;
mod paths;
mod recorder;
mod sources;
mod stamp;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use find::{Found, check_glob, find, in_directory};
pub use open::{OpenError, Opened, open};
pub use paths::{canonical, read_source};
pub use recorder::{AddRecorderError, RECORDER_NAME, RECORDER_TEXT, RECORDER_USAGE, add_recorder};
pub use sources::SourceIndex;

/// What is watched unless the user says otherwise: names that exporters choose, and Neuron's output directories, where
/// a file's content tells whether it is a trace.
pub const DEFAULT_WATCH: &[&str] = &["**/*trace*.json{,.gz}", "**/profile_output/**"];

/// The files of one run and cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The trace that is shown of it: rank 0's, or the only one.
    pub path: PathBuf,
    /// What it is called on screen: the telling part of its path.
    pub name: String,
    /// When that trace was last written.
    pub modified: SystemTime,
    /// Bytes on disk of that trace.
    pub len: u64,
    /// When the call lines beside that trace were last written, and their bytes on disk; `None` without any.
    pub call_lines: Option<(SystemTime, u64)>,
    /// All its traces by rank, the shown one first.
    pub ranks: Vec<PathBuf>,
}

impl Capture {
    /// Whether both are one file with the same content, as far as its size and time tell.
    pub fn same_content(&self, other: &Self) -> bool {
        self.path == other.path
            && self.modified == other.modified
            && self.len == other.len
            && self.call_lines == other.call_lines
    }

    /// When anything of it was last written.
    pub fn written(&self) -> SystemTime {
        self.call_lines.map_or(self.modified, |(modified, _)| modified.max(self.modified))
    }
}

/// The capture at a path: a trace, or a directory with traces, whose newest capture it is.
///
/// # Errors
/// When there is none; one line that says why.
pub fn at(path: &Path) -> Result<Capture, OpenError> {
    let path = path.to_path_buf();
    let metadata = std::fs::metadata(&path).map_err(|error| OpenError::io(&path, &error))?;
    if metadata.is_dir() {
        return in_directory(&path).into_iter().next().ok_or(OpenError::NoTraces { path });
    }
    open::must_be_regular(&path, &metadata)?;
    let name = naming::name(&path, None);
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let (ranks, call_lines) = (vec![path.clone()], call_lines::state(&path));
    Ok(Capture { ranks, name, modified, len: metadata.len(), call_lines, path })
}
