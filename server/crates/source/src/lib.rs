//! Python text to facts: functions, what each may launch in evaluation order, the line index, profiler set-up calls.
//!
//! Pure: texts come in through [`SourceFiles`], which the outside world implements.

use std::sync::Arc;

pub mod lines;

pub use lines::LineIndex;

/// The workspace's Python files, as the outside world offers them.
///
/// Nothing that a trace says makes an implementation read a file outside the folders it was made with.
pub trait SourceFiles {
    /// Keys of the files whose last path component is `base` (`model.py`).
    fn candidates(&self, base: &str) -> Vec<FileKey>;
    /// The text as it now stands: an open document's, else the disk's. `None` when it cannot be read.
    fn text(&self, file: &FileKey) -> Option<Arc<str>>;
    /// Every file, nearest the roots first, at most `most`: what rules about the set-up of the profiler look through.
    fn all(&self, most: usize) -> Vec<FileKey>;
    /// User-configured rewriting of a recorded path (`atenLens.pathMappings`, `--map`), applied before anything else.
    fn map_path(&self, recorded: &str) -> Option<String>;
}

/// A source file: the folder it was found in and its path below that folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileKey {
    /// Absolute, `/`-separated: what recorded paths are compared with.
    pub path: Arc<str>,
    /// Relative to the source folder it was found in, `/`-separated: what is printed.
    pub relative: Arc<str>,
}
