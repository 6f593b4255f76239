//! The one writer of the world's state. Everything that can change it arrives as an [`Event`]; readers get snapshots.

mod choose;
mod event;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capture::Capture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{oneshot, watch};

use crate::documents::Documents;
use crate::job::{self, Job};
use crate::outbox::Outbox;
use crate::protocol::State;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::status;
use crate::watcher::Watcher;

pub use event::Event;

/// Events within this time are one look.
const DEBOUNCE: Duration = Duration::from_millis(40);
/// Diagnostics follow an edit after this pause.
const EDIT_PAUSE: Duration = Duration::from_millis(120);

/// How often what is said of a trace's age is brought up to date.
const AGE: Duration = Duration::from_secs(30);

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
    /// When the age of what is shown is said anew.
    age_at: Option<Instant>,
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
            age_at: None,
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
            let due = [self.look_at.filter(|_| !self.looking), self.publish_at, self.age_at]
                .into_iter()
                .flatten()
                .min();
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
        if self.age_at.is_some_and(|at| at <= now) {
            self.age_at = self.world.shown.as_ref().map(|_| now + AGE);
            self.say_age();
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
                // First the state, then the answer: who acts on the answer must find the state.
                self.changed();
                let _ = answer.send(self.world.visible);
            }
            Event::Show(path, answer) => job::pick(self.sender.clone(), path, answer),
            Event::Picked(Err(reason), answer) => {
                let _ = answer.send(Err(reason));
            }
            Event::Picked(Ok(capture), answer) => {
                self.chosen = Some((capture.path, self.world.captures.first().cloned()));
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
            let folders = self.folders.clone();
            job::remark(self.sender.clone(), self.generation, shown.clone(), new, folders);
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

    /// Says how old the trace is by now, unless it is being read or the words are the same.
    fn say_age(&mut self) {
        let now = status::of(&self.world, self.watcher.is_polling());
        if self.world.status.state == State::Ready && self.world.status != now {
            self.world.status = now;
            self.outbox.status(&self.world.status);
            self.outbox.refresh();
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
        self.age_at = self.world.shown.as_ref().map(|_| Instant::now() + AGE);
    }
}
