//! Scores an attribution against the lines that a recorder saw while the same code ran.
//!
//! Ground truth: `{"Ev Idx": {"op", "user": [file, line, function], "top"}}`, of which only ops with `top` count (charged
//! ops) whose file is in the sources; for backward passes `{"Ev Idx": {"op", "forward": [file, line, function]}}`. An op
//! counts as known only when it is claimed `exact` or `aligned`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use attribution::{Attribution, Charge, Place};
use capture::SourceIndex;
use profile::Profile;
use serde_json::Value;

/// The file of a trace or of its ground truth, inflated.
pub fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    capture::open(path).map(|opened| opened.bytes().to_vec()).map_err(|error| error.to_string())
}

/// A trace and the cost of its lines. Without `CallFrom` it reads as one of torch 2.13 or earlier.
pub fn attribute(
    trace: &Path,
    sources: &Path,
    with_call_from: bool,
) -> Result<(Profile, Attribution), String> {
    let mut bytes = bytes(trace)?;
    if !with_call_from {
        hide(&mut bytes, b"\"CallFrom\"");
    }
    let trace = trace::read(&bytes, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    let profile = Profile::build(trace);
    let index = SourceIndex::new(vec![sources.to_path_buf()], Vec::new(), HashMap::new());
    let attribution = attribution::attribute(&profile, &index);
    Ok((profile, attribution))
}

/// Renames a key so that nothing reads it.
fn hide(bytes: &mut [u8], key: &[u8]) {
    let mut at = 0;
    while at + key.len() <= bytes.len() {
        if bytes[at..].starts_with(key) {
            bytes[at + 1] = b'_';
            at += key.len();
        } else {
            at += 1;
        }
    }
}

/// How many ops were placed, and how well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Score {
    pub ops: usize,
    /// Claimed `exact` or `aligned`, and true.
    pub known: usize,
    /// Claimed `exact` or `aligned`, and not true. The defect of the first order.
    pub sure_and_wrong: usize,
    pub ambiguous: usize,
    /// Of the ambiguous ones, how often the truth is among the lines.
    pub ambiguous_with_truth: usize,
    /// The function only.
    pub function: usize,
    /// No place at all, or not charged.
    pub nowhere: usize,
    /// What was not known, one line each: op, truth, what was said.
    pub misses: Vec<String>,
}

/// Scores the forward ops (`key` is `user`) or the backward ops (`forward`).
pub fn score(
    profile: &Profile,
    attribution: &Attribution,
    truth: &[u8],
    key: &str,
    sources: &Path,
) -> Result<Score, String> {
    let truth: BTreeMap<u64, Value> = serde_json::from_slice(truth).map_err(|error| error.to_string())?;
    let charges: HashMap<u64, &Charge> = attribution
        .charges
        .iter()
        .filter_map(|charge| Some((profile.info(charge.event).ev_idx?, charge)))
        .collect();
    let mut score = Score::default();
    for (index, entry) in &truth {
        if entry["top"] == Value::Bool(false) {
            continue;
        }
        let (Some(file), Some(line)) = (entry[key][0].as_str(), entry[key][1].as_u64()) else { continue };
        if !sources.join(file).is_file() {
            continue;
        }
        score.add(&entry["op"], (file, line as u32), charges.get(index).copied(), attribution);
    }
    Ok(score)
}

impl Score {
    fn add(&mut self, op: &Value, truth: (&str, u32), charge: Option<&Charge>, attribution: &Attribution) {
        self.ops += 1;
        let place = charge.map_or(&Place::None, |charge| &charge.place);
        let name = |file: attribution::FileId| &*attribution.files[file.0 as usize].key.relative;
        let said = match place {
            Place::Line { file, line, .. } => {
                if (name(*file), *line) == truth {
                    self.known += 1;
                    return;
                }
                self.sure_and_wrong += 1;
                format!("WRONG {}:{line}", name(*file))
            }
            Place::Ambiguous { file, lines, .. } => {
                self.ambiguous += 1;
                let holds = name(*file) == truth.0 && lines.contains(&truth.1);
                self.ambiguous_with_truth += usize::from(holds);
                format!("ambiguous {}:{lines:?}{}", name(*file), if holds { "" } else { " WITHOUT TRUTH" })
            }
            Place::Function { file, function } => {
                self.function += 1;
                let function = &attribution.files[file.0 as usize].functions[function.0 as usize];
                format!("function {}:{}", name(*file), function.name)
            }
            Place::None => {
                self.nowhere += 1;
                "nowhere".to_owned()
            }
        };
        let why = charge.map_or("", |charge| &charge.why);
        self.misses.push(format!("{op} {}:{} is {said} ({why})", truth.0, truth.1));
    }
}
