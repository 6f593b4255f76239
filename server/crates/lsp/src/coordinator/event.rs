//! The closed set of what can happen.

use std::path::PathBuf;
use std::sync::Arc;

use capture::{Capture, Found};
use tokio::sync::oneshot;

use crate::job::Loaded;
use crate::settings::Settings;
use crate::snapshot::Shown;

/// All that can happen.
#[derive(Debug)]
pub enum Event {
    /// The client is ready; its folders.
    Start(Vec<PathBuf>),
    Folders {
        added: Vec<PathBuf>,
        removed: Vec<PathBuf>,
    },
    Settings(Settings),
    /// Something may have changed on disk.
    Disk,
    Scanned(Found),
    Loaded(Loaded),
    /// Marks were made anew for other options.
    Remarked {
        generation: u64,
        shown: Arc<Shown>,
    },
    /// A document was opened, changed or closed.
    Document,
    Refresh,
    Clear,
    Toggle(oneshot::Sender<bool>),
    /// A trace or directory was picked by hand.
    Show(PathBuf, oneshot::Sender<Result<(), String>>),
    /// Which capture a pick is.
    Picked(Result<Capture, String>, oneshot::Sender<Result<(), String>>),
}
