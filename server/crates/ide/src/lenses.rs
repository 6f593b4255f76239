//! Code lenses: on a `def` or `class` that owns hot lines its cost, and on a file's first line the profile in use.

use std::fmt::Write as _;
use std::time::Duration;

use attribution::FileId;
use profile::units;

use crate::{Analysis, Options, candidates};

/// A lens on a 0-based line of the attributed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    pub line: u32,
    pub title: String,
    pub target: LensTarget,
}

/// What a click on a lens leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LensTarget {
    /// The operators table, from the top of the file.
    Table,
    /// The operators table, from the lens's own line: none of its rows belongs to it.
    Candidate,
    /// The operators table, at the costliest op of this 0-based line of the attributed text.
    Line(u32),
}

/// The lenses of a file, by line. `age` is how long ago the trace was written.
pub fn lenses(analysis: &Analysis, file: FileId, options: &Options, age: Option<Duration>) -> Vec<Lens> {
    if !options.lenses {
        return Vec::new();
    }
    let unit = &analysis.unit;
    let mut lenses = vec![Lens { line: 0, title: in_use(analysis, file, age), target: LensTarget::Table }];
    for owner in analysis.owners(file) {
        if unit.share(owner.hottest) < options.hints_min_share {
            continue;
        }
        let ops = if owner.ops == 1 { "op" } else { "ops" };
        let mut title = format!(
            "{} {} · {} {ops} · {}",
            units::short(unit.ns(owner.cost)),
            unit.name,
            owner.ops,
            unit.percent(owner.cost)
        );
        if unit.ns(owner.backward) > 0 {
            let _ = write!(title, " · bwd {}", units::short(unit.ns(owner.backward)));
        }
        lenses.push(Lens { line: owner.line - 1, title, target: LensTarget::Line(owner.hottest_line - 1) });
    }
    for candidate in &analysis.file(file).candidates {
        if unit.share(candidate.cost) >= options.hints_min_share {
            let title = candidates::title(analysis, candidate);
            lenses.push(Lens { line: candidate.def_line - 1, title, target: LensTarget::Candidate });
        }
    }
    lenses
}

fn in_use(analysis: &Analysis, file: FileId, age: Option<Duration>) -> String {
    let age = age.map_or_else(String::new, |age| format!(" · {}", ago(age)));
    let stale = if analysis.file(file).stale { " · file edited since" } else { "" };
    format!("ATen Lens: {}{age} · {}{stale}", analysis.name, analysis.coverage().text())
}

/// `now`, `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`.
pub fn ago(age: Duration) -> String {
    match age.as_secs() {
        0..5 => "now".to_owned(),
        seconds @ 5..60 => format!("{seconds} s ago"),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}
