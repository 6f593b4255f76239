//! The state that handlers read: an immutable value, replaced as a whole by its one writer, the coordinator.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ide::{Analysis, FileId, Marks};

use crate::documents::Document;
use crate::protocol::{State, Status};
use crate::settings::Settings;

/// The capture whose numbers are on screen.
#[derive(Debug)]
pub struct Shown {
    pub analysis: Arc<Analysis>,
    pub marks: Arc<Marks>,
    pub capture: capture::Capture,
    /// The analysed files by path with symlinks resolved.
    pub files: HashMap<PathBuf, FileId>,
}

impl Shown {
    pub fn new(analysis: Arc<Analysis>, marks: Arc<Marks>, capture: capture::Capture) -> Self {
        let canonical = |file: FileId| capture::canonical(analysis.file(file).key.path.as_ref().as_ref());
        let files = analysis.files().map(|file| (canonical(file), file)).collect();
        Self { analysis, marks, capture, files }
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
