//! How much of the total is on lines, and how much is known less precisely.

use std::fmt::Write as _;

use attribution::{Attribution, Place, Unit};

/// Nanoseconds of the leading number in each bucket; they add up to the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    pub lines_ns: i64,
    pub ambiguous_ns: i64,
    pub functions_ns: i64,
    pub unattributed_ns: i64,
    pub total_ns: i64,
}

impl Coverage {
    pub fn of(attribution: &Attribution, unit: &Unit) -> Self {
        let (mut lines_ns, mut ambiguous_ns, mut functions_ns) = (0, 0, 0);
        for charge in &attribution.charges {
            let bucket = match charge.place {
                Place::Line { .. } => &mut lines_ns,
                Place::Ambiguous { .. } => &mut ambiguous_ns,
                Place::Function { .. } => &mut functions_ns,
                Place::None => continue,
            };
            *bucket += unit.ns(charge.cost);
        }
        let unattributed_ns = unit.ns(attribution.unattributed);
        Self { lines_ns, ambiguous_ns, functions_ns, unattributed_ns, total_ns: unit.total_ns }
    }

    /// `94% on lines, 3% ambiguous, 2% functions, 1% unattributed`; what is zero is left out.
    pub fn text(&self) -> String {
        if self.total_ns <= 0 {
            return "nothing measured".to_owned();
        }
        let percent = |ns: i64| format!("{:.0}%", 100.0 * ns as f64 / self.total_ns as f64);
        let mut text = format!("{} on lines", percent(self.lines_ns));
        for (ns, what) in [
            (self.ambiguous_ns, "ambiguous"),
            (self.functions_ns, "functions"),
            (self.unattributed_ns, "unattributed"),
        ] {
            if ns > 0 {
                let _ = write!(text, ", {} {what}", percent(ns));
            }
        }
        text
    }
}
