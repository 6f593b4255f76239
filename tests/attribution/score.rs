//! Scores an attribution against the lines that a recorder saw while the same code ran.
//!
//! Ground truth: `{"Ev Idx": {"op", "user": [file, line, function], "top"}}`, of which only ops with `top` count (charged
//! ops) whose file is in the sources; for backward passes `{"Ev Idx": {"op", "forward": [file, line, function]}}`. An op
//! counts as known only when it is claimed `exact` or `aligned`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use attribution::{Attribution, Charge, Place, Precision};
use capture::SourceIndex;
use profile::Profile;
use serde_json::Value;

/// The file of a trace or of its ground truth, inflated.
pub fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    capture::open(path).map(|opened| opened.bytes().to_vec()).map_err(|error| error.to_string())
}

/// What of a trace is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    All,
    /// Without `CallFrom` it reads as one of torch 2.13 or earlier.
    NoCallFrom,
    /// Without Python's frames it reads as one that was recorded with `with_stack=False`.
    NoStacks,
}

/// A trace and the cost of its lines.
pub fn attribute(trace: &Path, sources: &Path, recorded: Recorded) -> Result<(Profile, Attribution), String> {
    let mut bytes = bytes(trace)?;
    match recorded {
        Recorded::All => {}
        Recorded::NoCallFrom => hide(&mut bytes, b"\"CallFrom\""),
        Recorded::NoStacks => hide(&mut bytes, b"\"python_function\""),
    }
    let trace = trace::read(&bytes, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    let profile = Profile::build(trace);
    let index = SourceIndex::new(vec![sources.to_path_buf()], Vec::new(), None);
    let attribution = attribution::attribute(&profile, &index);
    Ok((profile, attribution))
}

/// Renames a key or value so that nothing reads it.
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
    /// Of the known ones, how many were claimed `exact`; the others are `aligned`.
    pub exact: usize,
    /// Nanoseconds of all ops and of those that are known: on the device, or on the CPU where the trace has no device.
    pub ns: i64,
    pub known_ns: i64,
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
    /// Expressions that were claimed of known ops and are not the ones that ran, one line each.
    pub wrong_expressions: Vec<String>,
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
        let charge = charges.get(index).copied();
        score.add(&entry["op"], (file, line as u32), charge, attribution);
        if let Some(wrong) = wrong_expression(entry, charge, attribution) {
            score.wrong_expressions.push(wrong);
        }
    }
    Ok(score)
}

/// Compares the expression that is claimed with where the instruction stood that ran: `pos` is `[line, end line, column,
/// end column]`, lines 1-based, columns 0-based bytes. An operator's, call's or subscript's instruction spans its expression.
fn wrong_expression(entry: &Value, charge: Option<&Charge>, attribution: &Attribution) -> Option<String> {
    let at = |place: usize| Some(entry["pos"][place].as_u64()? as usize);
    let (first, last, from, to) = (at(0)?, at(1)?, at(2)?, at(3)?);
    let Place::Line { file, expression: Some(expression), .. } = &charge?.place else { return None };
    let text = &attribution.files[file.0 as usize].text;
    let start_of = |line: usize| Some(text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>());
    let ran = start_of(first)? + from..start_of(last)? + to;
    let claimed = expression.start as usize..expression.end as usize;
    let text = |range: &std::ops::Range<usize>| text.get(range.clone()).unwrap_or("");
    // Taking the next element spans the whole loop.
    let within = ran.start <= claimed.start && claimed.end <= ran.end;
    (!within).then(|| format!("{}: {:?} is not {:?}", entry["op"], text(&claimed), text(&ran)))
}

impl std::ops::AddAssign<&Score> for Score {
    /// Sums everything but the misses.
    fn add_assign(&mut self, other: &Self) {
        self.ops += other.ops;
        self.known += other.known;
        self.exact += other.exact;
        self.ns += other.ns;
        self.known_ns += other.known_ns;
        self.sure_and_wrong += other.sure_and_wrong;
        self.ambiguous += other.ambiguous;
        self.ambiguous_with_truth += other.ambiguous_with_truth;
        self.function += other.function;
        self.nowhere += other.nowhere;
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 100.0 };
        write!(
            f,
            "{} of {} known ({:.2}%, {:.2}% of the time; {} exact, {} aligned), {} sure and wrong, \
             {} ambiguous ({} with the truth), {} function, {} nowhere",
            self.known,
            self.ops,
            share(self.known as f64, self.ops as f64),
            share(self.known_ns as f64, self.ns as f64),
            self.exact,
            self.known - self.exact,
            self.sure_and_wrong,
            self.ambiguous,
            self.ambiguous_with_truth,
            self.function,
            self.nowhere
        )
    }
}

impl Score {
    fn add(&mut self, op: &Value, truth: (&str, u32), charge: Option<&Charge>, attribution: &Attribution) {
        self.ops += 1;
        let on_device = attribution.totals.device_ns > 0;
        let ns =
            charge.map_or(0, |charge| if on_device { charge.cost.device_ns } else { charge.cost.cpu_ns });
        self.ns += ns;
        let place = charge.map_or(&Place::None, |charge| &charge.place);
        let name = |file: attribution::FileId| &*attribution.files[file.0 as usize].key.relative;
        let said = match place {
            Place::Line { file, line, precision, .. } => {
                if (name(*file), *line) == truth {
                    self.known += 1;
                    self.known_ns += ns;
                    self.exact += usize::from(*precision == Precision::Exact);
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
