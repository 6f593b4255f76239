//! The one writer of the world's state. Everything that can change it arrives as an [`Event`]; readers get snapshots.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use capture::{Capture, Found};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{oneshot, watch};

use crate::documents::Documents;
use crate::job::{self, Job, Loaded};
use crate::outbox::Outbox;
use crate::settings::Settings;
use crate::snapshot::{Shown, Snapshot};
use crate::status;
use crate::watcher::{Synced, Watcher};

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
    Show(PathBuf, oneshot::Sender<Result<(), String>>),
}

/// A file younger than this may still be written: it is looked at again before it is read.
const SETTLE: Duration = Duration::from_millis(150);
/// A trace without its end is shown as partial only once it has not grown for this long.
const PARTIAL_SETTLE: Duration = Duration::from_secs(3);
/// Events within this time are one look.
const DEBOUNCE: Duration = Duration::from_millis(40);
/// How often the folders are looked at when they cannot be watched.
const POLL: Duration = Duration::from_secs(2);
/// Diagnostics follow an edit after this pause.
const EDIT_PAUSE: Duration = Duration::from_millis(120);

/// State behind the snapshots.
pub struct Coordinator {
    events: UnboundedReceiver<Event>,
    sender: UnboundedSender<Event>,
    snapshots: watch::Sender<Arc<Snapshot>>,
    world: Snapshot,
    documents: Arc<Documents>,
    outbox: Outbox,
    watcher: Watcher,
    folders: Vec<PathBuf>,
    started: bool,
    /// When to look at the folders next.
    look_at: Option<Instant>,
    looking: bool,
    look_took: Duration,
    publish_at: Option<Instant>,
    generation: u64,
    job: Option<Job>,
    /// Files that were read and are no trace (or empty), as they then were.
    refused: Vec<Capture>,
    /// A capture chosen by hand, until a newer one arrives.
    chosen: Option<(PathBuf, Option<Capture>)>,
    /// *Clear* holds until another capture arrives.
    cleared: Option<Capture>,
    asked: Vec<oneshot::Sender<Result<(), String>>>,
}

impl Coordinator {
    pub fn new(
        (sender, events): (UnboundedSender<Event>, UnboundedReceiver<Event>),
        snapshots: watch::Sender<Arc<Snapshot>>,
        documents: Arc<Documents>,
        outbox: Outbox,
    ) -> Self {
        let watcher = Watcher::new(sender.clone());
        Self {
            events,
            sender,
            snapshots,
            world: Snapshot::default(),
            documents,
            outbox,
            watcher,
            folders: Vec::new(),
            started: false,
            look_at: None,
            looking: false,
            look_took: Duration::ZERO,
            publish_at: None,
            generation: 0,
            job: None,
            refused: Vec::new(),
            chosen: None,
            cleared: None,
            asked: Vec::new(),
        }
    }

    /// Runs until every sender is gone.
    pub async fn run(mut self) {
        loop {
            let due = [self.look_at.filter(|_| !self.looking), self.publish_at].into_iter().flatten().min();
            let wait = async {
                match due {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.handle(event),
                    None => return,
                },
                () = wait => self.due(),
            }
        }
    }

    fn due(&mut self) {
        let now = Instant::now();
        if self.publish_at.is_some_and(|at| at <= now) {
            self.publish_at = None;
            self.outbox.publish(&self.world, &self.documents);
        }
        if !self.looking && self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            self.looking = true;
            job::scan(self.sender.clone(), self.folders.clone(), self.world.settings.clone());
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start(folders) => {
                self.started = true;
                self.folders = folders;
                self.world.folders = self.folders.clone().into();
                self.look_in(Duration::ZERO);
            }
            Event::Folders { added, removed } => {
                self.folders.retain(|folder| !removed.contains(folder));
                self.folders.extend(added);
                self.world.folders = self.folders.clone().into();
                self.reload();
            }
            Event::Settings(settings) => self.settings(settings),
            Event::Disk => self.look_in(DEBOUNCE.max(self.look_took * 5)),
            Event::Scanned(found) => self.scanned(found),
            Event::Loaded(loaded) => self.loaded(loaded),
            Event::Remarked { generation, shown } => {
                if generation == self.generation && self.world.shown.is_some() {
                    self.world.shown = Some(shown);
                    self.changed();
                }
            }
            Event::Document => {
                self.publish_at.get_or_insert(Instant::now() + EDIT_PAUSE);
            }
            Event::Refresh => {
                self.cleared = None;
                self.refused.clear();
                self.reload();
            }
            Event::Clear => {
                self.cancel();
                self.cleared = self.world.shown.take().map(|shown| shown.capture.clone());
                self.changed();
            }
            Event::Toggle(answer) => {
                self.world.visible = !self.world.visible;
                let _ = answer.send(self.world.visible);
                self.changed();
            }
            Event::Show(path, answer) => {
                self.chosen = Some((path, self.world.captures.first().cloned()));
                self.cleared = None;
                self.asked.push(answer);
                self.reload();
            }
        }
    }

    fn settings(&mut self, settings: Settings) {
        let old = std::mem::replace(&mut self.world.settings, Arc::new(settings));
        let new = self.world.settings.clone();
        if old.poll != new.poll {
            self.watcher.poll(new.poll);
        }
        let elsewhere = old.watch != new.watch || old.exclude != new.exclude || old.poll != new.poll;
        if old.path_mappings != new.path_mappings {
            self.reload();
        } else if elsewhere {
            self.look_in(Duration::ZERO);
        }
        if old.marks != new.marks
            && let Some(shown) = &self.world.shown
        {
            let sources = job::sources(&self.folders, &new, &self.documents);
            job::remark(self.sender.clone(), self.generation, shown.clone(), new, sources);
        }
    }

    /// Reads what is shown again, whatever it is.
    fn reload(&mut self) {
        self.cancel();
        self.world.shown = self.world.shown.take().filter(|_| self.chosen.is_none());
        self.generation += 1;
        self.job = Some(Job::none());
        self.look_in(Duration::ZERO);
    }

    fn cancel(&mut self) {
        self.generation += 1;
        if let Some(job) = self.job.take() {
            job.cancel();
        }
    }

    fn look_in(&mut self, pause: Duration) {
        if !self.started {
            return;
        }
        let at = Instant::now() + pause;
        self.look_at = Some(self.look_at.map_or(at, |known| known.min(at)));
    }

    fn scanned(&mut self, found: Found) {
        self.looking = false;
        self.look_took = found.took;
        match self.watcher.sync(&found.directories) {
            Synced::Unchanged => {}
            Synced::Added => self.look_in(DEBOUNCE),
            Synced::Exhausted(reason) => self.outbox.say_once(
                lsp_types::MessageType::WARNING,
                &format!(
                    "ATen Lens: the system's watch limit is reached ({reason}); looking every {} s instead",
                    POLL.as_secs()
                ),
            ),
        }
        // A folder that is gone cannot be watched for its return.
        let missing = self.folders.iter().any(|folder| !found.directories.contains(folder));
        if missing || self.watcher.is_polling() {
            self.look_in(POLL);
        }
        let newest = found.captures.first().cloned();
        self.world.captures = found.captures.into();
        if let Some((_, seen)) = &self.chosen
            && newest.is_some()
            && newest.as_ref().map(|c| (&c.path, c.modified)) != seen.as_ref().map(|c| (&c.path, c.modified))
            && self.asked.is_empty()
        {
            self.chosen = None;
        }
        self.choose();
    }

    /// Decides what should be shown and starts reading it, unless that is what is shown or being read.
    fn choose(&mut self) {
        let wanted = match &self.chosen {
            Some((path, _)) => match capture::at(path) {
                Ok(capture) => Some(capture),
                Err(error) => {
                    self.answer(&Err(error.to_string()));
                    self.chosen = None;
                    None
                }
            },
            None => None,
        };
        let by_hand = wanted.is_some();
        let refused = |capture: &Capture| self.refused.iter().any(|known| known.same_content(capture));
        let wanted = wanted.or_else(|| self.world.captures.iter().find(|capture| !refused(capture)).cloned());
        let Some(wanted) = wanted else {
            self.cancel();
            self.world.shown = None;
            self.changed();
            return;
        };
        if self.cleared.as_ref().is_some_and(|cleared| cleared.same_content(&wanted)) {
            return;
        }
        let reading = self.job.as_ref().is_some_and(|job| job.is_reading(&wanted));
        let forced = self.job.as_ref().is_some_and(Job::is_none);
        let up_to_date = self.world.shown.as_ref().is_some_and(|shown| shown.capture.same_content(&wanted));
        if reading {
            return;
        }
        if up_to_date && !forced {
            if self.job.is_some() {
                self.cancel();
            }
            self.answer(&Ok(()));
            self.changed();
            return;
        }
        let age = SystemTime::now().duration_since(wanted.modified).unwrap_or(Duration::MAX);
        if age < SETTLE && !by_hand {
            self.look_in(SETTLE.saturating_sub(age));
            return;
        }
        self.cancel();
        let sources = job::sources(&self.folders, &self.world.settings, &self.documents);
        self.world.status = status::loading(&wanted);
        self.outbox.status(&self.world.status);
        self.job = Some(job::load(
            self.sender.clone(),
            self.generation,
            wanted,
            self.world.settings.clone(),
            sources,
        ));
    }

    fn loaded(&mut self, loaded: Loaded) {
        if loaded.generation != self.generation {
            return;
        }
        self.job = None;
        match loaded.result {
            Ok(shown) => {
                let quiet = SystemTime::now().duration_since(shown.capture.modified).unwrap_or(Duration::MAX);
                if shown.analysis.profile.log.partial && quiet < PARTIAL_SETTLE && self.chosen.is_none() {
                    // Still being written: what is shown stays until the file is whole or has stopped growing.
                    self.look_in(Duration::from_millis(250));
                    self.world.status = status::of(&self.world, self.watcher.is_polling());
                    return;
                }
                tracing::info!(
                    path = %shown.capture.path.display(),
                    generation = loaded.generation,
                    took_ms = loaded.took.as_millis() as u64,
                    "trace read"
                );
                self.cleared = None;
                self.world.shown = Some(Arc::new(shown));
                self.answer(&Ok(()));
                self.changed();
            }
            Err((capture, reason)) => {
                tracing::debug!("{reason}");
                if self
                    .chosen
                    .take_if(|(path, _)| capture::canonical(path) == capture::canonical(&capture.path))
                    .is_some()
                    || !self.asked.is_empty()
                {
                    self.chosen = None;
                    self.answer(&Err(reason));
                } else {
                    self.refused.retain(|known| known.path != capture.path);
                    self.refused.push(capture);
                }
                self.choose();
            }
        }
    }

    fn answer(&mut self, result: &Result<(), String>) {
        for asked in self.asked.drain(..) {
            let _ = asked.send(result.clone());
        }
    }

    /// The state changed: a new snapshot for readers, then what the client must be told.
    fn changed(&mut self) {
        self.world.status = status::of(&self.world, self.watcher.is_polling());
        let snapshot = Arc::new(self.world.clone());
        self.snapshots.send_replace(snapshot);
        self.outbox.publish(&self.world, &self.documents);
        self.outbox.refresh();
        self.outbox.status(&self.world.status);
    }
}
