//! The candidates of a trace without stacks, against the functions and lines that were seen while the same code ran.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use attribution::Attribution;
use profile::Profile;
use serde_json::Value;

/// Ops by line: what the candidates say, and what ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Score {
    /// Charged ops whose line is known.
    pub ops: usize,
    /// Ops that some candidate has on their true line.
    pub found: usize,
    /// Ops that a candidate has on a line which launched fewer: chance, or another function that reads the same.
    pub beyond: usize,
    pub functions: usize,
    /// Lines with more ops than they launched, one sentence each.
    pub misses: Vec<String>,
}

/// Compares the candidates with the ground truth of the same trace.
pub fn score(profile: &Profile, attribution: &Attribution, truth: &[u8]) -> Result<Score, String> {
    let truth: BTreeMap<u64, Value> = serde_json::from_slice(truth).map_err(|error| error.to_string())?;
    let charged: HashSet<u64> =
        attribution.charges.iter().filter_map(|charge| profile.info(charge.event).ev_idx).collect();
    let mut ran: BTreeMap<(String, u32), usize> = BTreeMap::new();
    for (index, entry) in &truth {
        if entry["top"] == Value::Bool(false) || !charged.contains(index) {
            continue;
        }
        if let (Some(file), Some(line)) = (entry["user"][0].as_str(), entry["user"][1].as_u64()) {
            *ran.entry((file.to_owned(), line as u32)).or_default() += 1;
        }
    }
    let mut score = Score { ops: ran.values().sum(), ..Score::default() };
    let mut said: BTreeMap<(String, u32), usize> = BTreeMap::new();
    for file in &attribution.files {
        for candidate in &file.candidates {
            score.functions += 1;
            for &(line, ops, _) in &candidate.lines {
                *said.entry((file.key.relative.to_string(), line)).or_default() += ops as usize;
            }
        }
    }
    for ((file, line), said) in said {
        let ran = ran.get(&(file.clone(), line)).copied().unwrap_or(0);
        score.found += said.min(ran);
        score.beyond += said.saturating_sub(ran);
        if said > ran {
            score.misses.push(format!("{file}:{line} may have launched {said}, launched {ran}"));
        }
    }
    Ok(score)
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = if self.ops > 0 { 100.0 * self.found as f64 / self.ops as f64 } else { 100.0 };
        write!(
            f,
            "{} of {} ops ({share:.1}%) on their line in one of {} candidates, {} on lines that launched fewer",
            self.found, self.ops, self.functions, self.beyond
        )
    }
}
