//! Watches directories, not files: a watch on a file is lost when the file is replaced by rename. What an event says is
//! not trusted beyond "look again": every look is a fresh scan, so polling and watching lead to the same result.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::ModifyKind;
use notify::{Config, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::UnboundedSender;

use crate::coordinator::Event;

/// What watching came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Synced {
    /// Everything was watched already.
    Unchanged,
    /// Directories were added: something may have been written in them before the watch was in place.
    Added,
    /// The system gives no more watches; the reason. From now on: polling.
    Exhausted(String),
}

/// The watched directories.
#[derive(Debug)]
pub struct Watcher {
    inner: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    /// Paths that were removed or renamed: a directory made anew under an old name needs a watch of its own.
    gone: Arc<Mutex<HashSet<PathBuf>>>,
    events: UnboundedSender<Event>,
    polling: bool,
}

impl Watcher {
    pub fn new(events: UnboundedSender<Event>) -> Self {
        Self { inner: None, watched: HashSet::new(), gone: Arc::default(), events, polling: false }
    }

    /// Whether changes are looked for at intervals instead.
    pub fn is_polling(&self) -> bool {
        self.polling
    }

    /// Turns watching off (polling) or on.
    pub fn poll(&mut self, polling: bool) {
        self.polling = polling;
        if polling {
            self.inner = None;
            self.watched.clear();
        }
    }

    /// Watches exactly these directories, each by itself.
    pub fn sync(&mut self, directories: &[PathBuf]) -> Synced {
        if self.polling {
            return Synced::Unchanged;
        }
        match self.try_sync(directories) {
            Ok(true) => Synced::Added,
            Ok(false) => Synced::Unchanged,
            Err(error) => {
                self.poll(true);
                Synced::Exhausted(error.to_string())
            }
        }
    }

    fn try_sync(&mut self, directories: &[PathBuf]) -> notify::Result<bool> {
        let watcher = match &mut self.inner {
            Some(watcher) => watcher,
            None => {
                let (events, gone) = (self.events.clone(), self.gone.clone());
                let handler = move |event: notify::Result<notify::Event>| {
                    if let Ok(event) = &event
                        && matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
                    {
                        gone.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .extend(event.paths.iter().cloned());
                    }
                    if event.map_or(true, |event| matters(&event)) {
                        let _ = events.send(Event::Disk);
                    }
                };
                self.inner.insert(RecommendedWatcher::new(handler, Config::default())?)
            }
        };
        let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
        let wanted: HashSet<&Path> = directories.iter().map(PathBuf::as_path).collect();
        self.watched.retain(|known| {
            let keep = wanted.contains(known.as_path()) && !gone.contains(known);
            if !keep {
                // Gone directories have lost their watch already; that the system says so is no news.
                let _ = watcher.unwatch(known);
            }
            keep
        });
        let mut added = false;
        for directory in
            directories.iter().filter(|directory| !self.watched.contains(*directory)).collect::<Vec<_>>()
        {
            match watcher.watch(directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(directory.clone());
                    added = true;
                }
                Err(error) if is_limit(&error) => return Err(error),
                // Removed or made unreadable since the scan: the next scan sees it.
                Err(error) => tracing::debug!("cannot watch {}: {error}", directory.display()),
            }
        }
        Ok(added)
    }
}

fn is_limit(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        // ENOSPC (28) for watches, EMFILE (24) for instances.
        notify::ErrorKind::Io(io) => matches!(io.raw_os_error(), Some(28 | 24)),
        _ => false,
    }
}

/// Whether an event can change which captures there are: not a mere read, and not a file that cannot be a trace.
fn matters(event: &notify::Event) -> bool {
    if matches!(event.kind, EventKind::Access(_)) {
        return false;
    }
    event.need_rescan()
        || event.paths.iter().any(|path| match path.extension().and_then(|extension| extension.to_str()) {
            Some("json" | "gz") | None => true,
            // A removed directory may have a dot in its name; a file of another kind cannot be a trace.
            Some(_) => !matches!(event.kind, EventKind::Modify(ModifyKind::Data(_))),
        })
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, DataChange};

    use super::*;

    fn event(kind: EventKind, path: &str) -> notify::Event {
        notify::Event::new(kind).add_path(PathBuf::from(path))
    }

    #[test]
    fn reads_and_checkpoints_do_not_matter_but_traces_and_directories_do() {
        let data = EventKind::Modify(ModifyKind::Data(DataChange::Content));
        assert!(!matters(&event(EventKind::Access(AccessKind::Any), "a/trace.json")));
        assert!(!matters(&event(data, "a/checkpoint.pt")));
        assert!(matters(&event(data, "a/trace.json.gz")));
        assert!(matters(&event(EventKind::Create(CreateKind::Folder), "a/i-0.x_pid_1")));
    }
}
