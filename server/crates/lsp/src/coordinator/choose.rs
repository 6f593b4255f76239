//! Which capture is shown: the newest that is a trace and has settled, or the one picked by hand.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use capture::{Capture, Found};

use crate::coordinator::{Coordinator, DEBOUNCE};
use crate::job::{self, Job, Loaded};
use crate::status;
use crate::watcher::Synced;

/// A file younger than this may still be written: it is looked at again before it is read.
const SETTLE: Duration = Duration::from_millis(150);
/// A trace without its end is shown as partial only once it has not grown for this long.
const PARTIAL_SETTLE: Duration = Duration::from_secs(3);
/// How often the folders are looked at when they cannot be watched.
const POLL: Duration = Duration::from_secs(2);

impl Coordinator {
    pub(super) fn scanned(&mut self, found: Found) {
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
        if found.missing || self.watcher.is_polling() {
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
    pub(super) fn choose(&mut self) {
        let wanted = match &self.chosen {
            Some((path, _)) => match self.known(path).map_or_else(|| capture::at(path), Ok) {
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
            self.changed();
            self.answer(&Ok(()));
            return;
        }
        let age = SystemTime::now().duration_since(wanted.written()).unwrap_or(Duration::MAX);
        if age < SETTLE && !by_hand {
            self.look_in(SETTLE.saturating_sub(age));
            return;
        }
        self.cancel();
        self.world.status = status::loading(&wanted);
        self.outbox.status(&self.world.status);
        self.job = Some(job::load(
            self.sender.clone(),
            self.generation,
            wanted,
            self.world.settings.clone(),
            self.folders.clone(),
        ));
    }

    /// The capture of a path among those found, which have better names than a path by itself gives.
    fn known(&self, path: &Path) -> Option<Capture> {
        self.world.captures.iter().find(|capture| capture.path == path).cloned()
    }

    pub(super) fn loaded(&mut self, loaded: Loaded) {
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
                self.changed();
                self.answer(&Ok(()));
            }
            Err((capture, reason)) => {
                tracing::debug!("{reason}");
                if self.chosen.take_if(|(path, _)| *path == capture.path).is_some() || !self.asked.is_empty()
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
}
