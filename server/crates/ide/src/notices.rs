//! What the user should know about the capture itself: why something is missing, what was lost.

use profile::units;
use trace::WarningKind;

use crate::Analysis;

/// How many edited files a notice names.
const NAMED: usize = 3;

impl Analysis {
    /// One line: the leading total, steps, and how much of it is on lines.
    pub fn summary(&self) -> String {
        let steps = match self.profile.steps.len() {
            0 => String::new(),
            1 => " · 1 step".to_owned(),
            count => format!(" · {count} steps"),
        };
        let cpu = if self.unit.device {
            format!(" · {} CPU", units::short(self.attribution.totals.cpu_ns))
        } else {
            String::new()
        };
        let coverage = self.coverage().text();
        format!("{} {}{cpu}{steps} · {coverage}", units::short(self.unit.total_ns), self.unit.name)
    }

    /// Sentences that answer "why is nothing shown?", the most important first.
    pub fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let log = &self.profile.log;
        if log.partial {
            notices.push("The trace is truncated: what its end held is not in these numbers.".to_owned());
        }
        if !self.profile.has_stacks() {
            let candidates: usize = self.attribution.files.iter().map(|file| file.candidates.len()).sum();
            let by_ops = match candidates {
                0 => String::new(),
                1 => " By the order of its ops one function is a candidate for what ran.".to_owned(),
                count => format!(" By the order of its ops {count} functions are candidates for what ran."),
            };
            notices.push(format!(
                "The trace has no Python stacks: record it with `with_stack=True` to see costs on lines.{by_ops}"
            ));
        } else if self.attribution.files.is_empty() && !self.attribution.charges.is_empty() {
            notices.push(
                "None of the files in the trace's stacks is in this workspace; `atenLens.pathMappings` can tell where they are."
                    .to_owned(),
            );
        }
        notices.extend(self.edited());
        let said = [WarningKind::Truncated];
        notices.extend(log.warnings.iter().filter(|warning| !said.contains(&warning.kind)).map(|warning| {
            let times = if warning.count > 1 { format!(" ({} times)", warning.count) } else { String::new() };
            format!("{}{times}", warning.message)
        }));
        notices
    }

    /// Which sources were edited after they were profiled.
    fn edited(&self) -> Option<String> {
        let mut edited = self.attribution.files.iter().filter(|file| file.stale);
        let names: Vec<_> =
            edited.by_ref().take(NAMED).map(|file| format!("`{}`", file.key.relative)).collect();
        let more = match edited.count() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let were = if names.len() == 1 && more.is_empty() { "was" } else { "were" };
        (!names.is_empty()).then(|| {
            let names = names.join(", ");
            format!("{names}{more} {were} edited after the run: what no longer fits is not on lines.")
        })
    }
}
