//! Work off the protocol's task: scans, loads, marks. Each ends as an event; a cancelled one ends unheard.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use capture::{Capture, SourceIndex};
use ide::Marks;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::coordinator::Event;
use crate::settings::Settings;
use crate::snapshot::Shown;

/// A load under way.
#[derive(Debug)]
pub struct Job {
    capture: Option<Capture>,
    cancel: Arc<AtomicBool>,
}

impl Job {
    /// No load yet, but one is due even if what is shown looks up to date.
    pub fn none() -> Self {
        Self { capture: None, cancel: Arc::default() }
    }

    pub fn is_none(&self) -> bool {
        self.capture.is_none()
    }

    pub fn is_reading(&self, capture: &Capture) -> bool {
        self.capture.as_ref().is_some_and(|reading| reading.same_content(capture))
    }

    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// The end of a load.
#[derive(Debug)]
pub struct Loaded {
    pub generation: u64,
    pub took: Duration,
    /// Or the capture and one line why it cannot be shown.
    pub result: Result<Shown, (Capture, String)>,
}

/// The sources of a capture.
fn sources(folders: &[PathBuf], settings: &Settings, capture: &Capture) -> SourceIndex {
    SourceIndex::new(folders.to_vec(), settings.path_mappings.clone(), Some(&capture.path))
}

/// Looks through the folders.
pub fn scan(events: UnboundedSender<Event>, folders: Vec<PathBuf>, settings: Arc<Settings>) {
    tokio::task::spawn_blocking(move || {
        let found = capture::find(&folders, &settings.watch, &settings.exclude);
        let _ = events.send(Event::Scanned(found));
    });
}

/// Finds out which capture a path is: a directory is looked through for its newest.
pub fn pick(events: UnboundedSender<Event>, path: PathBuf, answer: oneshot::Sender<Result<(), String>>) {
    tokio::task::spawn_blocking(move || {
        let picked = capture::at(&path).map_err(|error| error.to_string());
        let _ = events.send(Event::Picked(picked, answer));
    });
}

/// Reads a capture and works everything out.
pub fn load(
    events: UnboundedSender<Event>,
    generation: u64,
    capture: Capture,
    settings: Arc<Settings>,
    folders: Vec<PathBuf>,
) -> Job {
    let cancel = Arc::new(AtomicBool::new(false));
    let job = Job { capture: Some(capture.clone()), cancel: cancel.clone() };
    tokio::task::spawn_blocking(move || {
        let span = tracing::info_span!("load", path = %capture.path.display(), generation);
        let _entered = span.enter();
        let started = Instant::now();
        let sources = sources(&folders, &settings, &capture);
        let result = read(&capture, &settings, &sources, &cancel).map_err(|reason| (capture, reason));
        if !cancel.load(Ordering::Relaxed) {
            let _ = events.send(Event::Loaded(Loaded { generation, took: started.elapsed(), result }));
        }
    });
    job
}

fn read(
    capture: &Capture,
    settings: &Settings,
    sources: &SourceIndex,
    cancel: &AtomicBool,
) -> Result<Shown, String> {
    // A defect of ours on one trace must not end the server: it becomes the reason why that trace is not shown.
    let work = std::panic::AssertUnwindSafe(|| {
        let opened = capture::open(&capture.path).map_err(|error| error.to_string())?;
        let (name, lines) = (capture.name.clone(), opened.call_lines());
        let analysis = ide::load(name, opened.bytes(), opened.log(), lines, sources, cancel)
            .map_err(|error| format!("{}: {error}", capture.path.display()))?;
        let marks = Marks::new(&analysis, &settings.marks, sources);
        Ok(Shown::new(Arc::new(analysis), Arc::new(marks), capture.clone()))
    });
    std::panic::catch_unwind(work).unwrap_or_else(|_| {
        Err(format!("{}: internal error while reading this trace", capture.path.display()))
    })
}

/// Makes the marks anew after an option changed.
pub fn remark(
    events: UnboundedSender<Event>,
    generation: u64,
    shown: Arc<Shown>,
    settings: Arc<Settings>,
    folders: Vec<PathBuf>,
) {
    tokio::task::spawn_blocking(move || {
        let sources = sources(&folders, &settings, &shown.capture);
        let marks = Arc::new(Marks::new(&shown.analysis, &settings.marks, &sources));
        let shown = Arc::new(Shown::new(shown.analysis.clone(), marks, shown.capture.clone()));
        let _ = events.send(Event::Remarked { generation, shown });
    });
}
