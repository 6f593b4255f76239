//! `atenLens/captures`: what the quick pick lists.

use std::time::{Duration, Instant, SystemTime};

use capture::Capture;
use dashmap::DashMap;

use crate::protocol::{CaptureItem, Captures};
use crate::snapshot::Snapshot;

/// Traces above this size are listed without being read: a list must appear at once.
const PEEK_BYTES: u64 = 32 << 20;
/// How long reading for one list may take before the rest is listed unread.
const PEEK_TIME: Duration = Duration::from_millis(400);

/// What a capture holds, remembered for as long as its file stays as it is.
#[derive(Debug, Default)]
pub struct Summaries(DashMap<std::path::PathBuf, (Capture, Result<ide::Summary, String>)>);

impl Summaries {
    fn of(&self, capture: &Capture, until: Instant) -> Option<Result<ide::Summary, String>> {
        if let Some(known) = self.0.get(&capture.path).filter(|known| known.0.same_content(capture)) {
            return Some(known.1.clone());
        }
        if capture.len > PEEK_BYTES || Instant::now() > until {
            return None;
        }
        let summary = capture::open(&capture.path)
            .map_err(|error| error.to_string())
            .and_then(|opened| ide::Summary::read(opened.bytes()).map_err(|error| error.to_string()));
        self.0.insert(capture.path.clone(), (capture.clone(), summary.clone()));
        Some(summary)
    }
}

/// The captures found, newest first. Reads files: call it off the protocol's task.
pub fn captures(world: &Snapshot, summaries: &Summaries) -> Captures {
    let until = Instant::now() + PEEK_TIME;
    let shown = world.shown.as_ref().map(|shown| &shown.capture.path);
    // The capture on screen may have been picked by hand from outside the watched folders.
    let outside = world
        .shown
        .as_ref()
        .map(|shown| &shown.capture)
        .filter(|capture| !world.captures.iter().any(|known| known.path == capture.path));
    let items = outside.into_iter().chain(world.captures.iter()).filter_map(|capture| {
        let summary = match summaries.of(capture, until) {
            // In a watched folder, what is no trace is not worth a word.
            Some(Err(_)) => return None,
            Some(Ok(summary)) => Some(summary),
            None => None,
        };
        let age = SystemTime::now().duration_since(capture.modified).unwrap_or_default();
        let text = |pick: fn(&ide::Summary) -> &String| {
            summary.as_ref().map_or_else(String::new, |s| pick(s).clone())
        };
        Some(CaptureItem {
            id: capture.path.display().to_string(),
            name: capture.name.clone(),
            path: capture.path.display().to_string(),
            backend: text(|summary| &summary.backend),
            device: text(|summary| &summary.device),
            steps: text(|summary| &summary.steps),
            age: ide::lenses::ago(age),
            shown: shown == Some(&capture.path),
            problem: summary.and_then(|summary| summary.problem),
        })
    });
    let captures = items.collect();
    Captures { captures, watched: world.folders.iter().map(|folder| folder.display().to_string()).collect() }
}
