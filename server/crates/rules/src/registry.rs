//! The one table of rules. Settings, documentation and the order of findings come from it.

use attribution::lines::FileLines;
use attribution::{Attribution, Unit};
use profile::Profile;
use source::SourceFiles;

use crate::finding::Finding;
use crate::{hotspot, inferred_lines, no_stacks, unfused_rms_norm};

/// What a rule looks at.
pub struct Context<'a> {
    /// How the capture is called on screen.
    pub capture: &'a str,
    pub profile: &'a Profile,
    pub attribution: &'a Attribution,
    /// The charges of each file by line, indexed by `FileId`.
    pub lines: &'a [FileLines],
    pub unit: &'a Unit,
    pub sources: &'a dyn SourceFiles,
    pub limits: Limits,
}

/// What the user set about how many findings to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How many hot spots at most.
    pub top: usize,
    /// Share of the total, 0–1, below which a line is no hot spot.
    pub min_share: f64,
}

/// A rule and its documentation.
pub struct Rule {
    /// Stable; what editors show behind the message.
    pub code: &'static str,
    /// One line: what it finds.
    pub summary: &'static str,
    /// A public page that explains the remedy.
    pub link: &'static str,
    /// It tells of no cost and no fault: it is shown as a hint, however findings are shown.
    pub at_most_hint: bool,
    pub check: fn(&Context) -> Vec<Finding>,
}

/// All rules, in the order their findings are listed.
pub const RULES: &[Rule] = &[hotspot::RULE, unfused_rms_norm::RULE, no_stacks::RULE, inferred_lines::RULE];

/// The findings of all rules.
pub fn check(context: &Context) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| (rule.check)(context)).collect()
}

/// The rule of a code.
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_found_again() {
        for (at, one) in RULES.iter().enumerate() {
            assert!(RULES[at + 1..].iter().all(|other| other.code != one.code));
            assert_eq!(rule(one.code).map(|found| found.summary), Some(one.summary));
        }
    }
}
