//! The status item's words, which also answer why nothing is shown.

use std::fmt::Write as _;
use std::time::SystemTime;

use capture::Capture;

use crate::protocol::{State, Status};
use crate::snapshot::Snapshot;

/// While a trace is read.
pub fn loading(capture: &Capture) -> Status {
    Status {
        state: State::Loading,
        text: format!("reading {}", capture.name),
        detail: format!("Reading `{}`.", capture.path.display()),
    }
}

/// What is shown, or why nothing is.
pub fn of(world: &Snapshot, polling: bool) -> Status {
    let Some(shown) = &world.shown else { return nothing(world, polling) };
    let analysis = &shown.analysis;
    let mut text = shown.capture.name.clone();
    if let Ok(age) = SystemTime::now().duration_since(shown.capture.modified) {
        let _ = write!(text, " · {}", ide::lenses::ago(age));
    }
    let mut detail = format!("`{}`\n\n{}.", shown.capture.path.display(), analysis.summary());
    for notice in analysis.notices() {
        let _ = write!(detail, "\n\n{notice}");
    }
    if !world.visible {
        detail.push_str("\n\nMarks are hidden: run *ATen Lens: Toggle Marks*.");
    }
    Status { state: State::Ready, text, detail }
}

fn nothing(world: &Snapshot, polling: bool) -> Status {
    let mut detail = String::from("No trace found.");
    if world.folders.is_empty() {
        detail.push_str(" No folder is open, so none is watched.");
    } else {
        let how = if polling { "Looked at every few seconds" } else { "Watched" };
        let globs: Vec<_> = world.settings.watch.iter().map(|glob| format!("`{glob}`")).collect();
        let _ = write!(detail, " {how}: {} in:", globs.join(", "));
        for folder in &*world.folders {
            let _ = write!(detail, "\n- `{}`", folder.display());
        }
    }
    if !world.captures.is_empty() {
        let _ = write!(
            detail,
            "\n\n{} file(s) match but hold no trace, or marks were cleared.",
            world.captures.len()
        );
    }
    detail.push_str(
        "\n\nRecord one with `torch.profiler.profile(..., with_stack=True)` and an `on_trace_ready` handler.",
    );
    Status { state: State::None, text: "no trace".to_owned(), detail }
}
