//! Python text to facts: functions, what each may launch in evaluation order, the line index, profiler set-up calls.
//!
//! Pure: texts come in through [`SourceFiles`], which the outside world implements.

use std::sync::Arc;

pub mod automaton;
pub mod chrome_exports;
mod digest;
mod emit;
mod imports;
pub mod lines;
mod module;
pub mod profiler_calls;
pub mod rms_norm;
mod scopes;
mod torch_names;
mod values;

pub use automaton::{
    Automaton, Callee, Cost, Emitter, EmitterKind, IMPROBABLE, OBLIGED, Operand, Pause, State, Step,
};
pub use chrome_exports::ChromeExport;
pub use digest::text_sha256;
pub use emit::Comprehensions;
pub use lines::LineIndex;
pub use module::Module;
pub use profiler_calls::{Constant, KeywordArgument, ProfilerCall};
pub use rms_norm::{Edit, Part, PartKind, Rewrite, RmsNorm, TorchName};
pub use scopes::{Scope, ScopeId, ScopeKind};
pub use torch_names::is_builtin;
pub use values::{Arguments, Given, Through, Value, gives_tensor, is_functional};

/// The workspace's Python files, as the outside world offers them.
///
/// Nothing that a trace says makes an implementation read a file outside the folders it was made with.
pub trait SourceFiles {
    /// Keys of the files whose last path component is `base` (`model.py`).
    fn candidates(&self, base: &str) -> Vec<FileKey>;
    /// The text on disk. `None` when it cannot be read.
    fn text(&self, file: &FileKey) -> Option<Arc<str>>;
    /// Whether a file lies where the trace was found: what decides between copies of a project that fit alike.
    fn is_near(&self, _: &FileKey) -> bool {
        false
    }
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

/// Runs `walk` with room on the stack: texts may nest deeper than a thread's stack allows.
pub(crate) fn deep<T>(walk: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(256 * 1024, 4 * 1024 * 1024, walk)
}
