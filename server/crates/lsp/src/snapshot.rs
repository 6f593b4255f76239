//! The state that handlers read: an immutable value, replaced as a whole by its one writer, the coordinator.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ide::{Analysis, FileId, Finding, Marks};

use crate::documents::Document;
use crate::protocol::{State, Status};
use crate::settings::Settings;

/// The capture whose numbers are on screen.
#[derive(Debug)]
pub struct Shown {
    pub analysis: Arc<Analysis>,
    pub marks: Arc<Marks>,
    pub capture: capture::Capture,
    /// The analysed files by path with symlinks resolved: resolved here, once, since a request is a look-up.
    pub files: HashMap<PathBuf, FileId>,
    /// The same paths by file.
    paths: Vec<PathBuf>,
    /// Per finding of `marks`: the real path of its file.
    finding_paths: Vec<PathBuf>,
}

impl Shown {
    pub fn new(analysis: Arc<Analysis>, marks: Arc<Marks>, capture: capture::Capture) -> Self {
        let real = |path: &str| capture::canonical(path.as_ref());
        let paths: Vec<PathBuf> = analysis.files().map(|file| real(&analysis.file(file).key.path)).collect();
        let files = paths.iter().cloned().zip(analysis.files()).collect();
        let finding_paths = marks.findings.iter().map(|finding| real(&finding.file.path)).collect();
        Self { analysis, marks, capture, files, paths, finding_paths }
    }

    /// The real path of an analysed file.
    pub fn path(&self, file: FileId) -> &Path {
        &self.paths[file.0 as usize]
    }

    /// The findings, each with the real path of its file.
    pub fn findings(&self) -> impl Iterator<Item = (&Path, &Finding)> {
        self.finding_paths.iter().map(PathBuf::as_path).zip(&self.marks.findings)
    }

    /// How long ago the trace was written.
    pub fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.capture.modified).ok()
    }
}

/// One state of the world.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub settings: Arc<Settings>,
    pub captures: Arc<[capture::Capture]>,
    /// Workspace folders, for messages.
    pub folders: Arc<[PathBuf]>,
    pub shown: Option<Arc<Shown>>,
    /// The marks are not hidden by *Toggle Marks* or *Clear*.
    pub visible: bool,
    pub status: Status,
}

impl Default for Snapshot {
    fn default() -> Self {
        let status = Status { state: State::None, text: String::new(), detail: String::new() };
        Self {
            settings: Arc::default(),
            captures: Arc::from([]),
            folders: Arc::from([]),
            shown: None,
            visible: true,
            status,
        }
    }
}

impl Snapshot {
    /// What is shown, and the analysed file behind an open document, if marks are visible.
    pub fn marked(&self, document: &Document) -> Option<(&Shown, FileId)> {
        let shown = self.shown.as_deref().filter(|_| self.visible)?;
        let file = shown.files.get(document.path.as_ref()?)?;
        Some((shown, *file))
    }
}
