//! Everything that is known of one capture, computed once when its trace settles; requests are look-ups.

use std::collections::HashMap;

use attribution::lines::{FileLines, by_line};
use attribution::{Attribution, Cost, FileCosts, FileId, FunctionId, Place, Unit};
use profile::{EventId, Profile};

use crate::coverage::Coverage;
use crate::lenses::Owner;

/// One capture, analysed.
#[derive(Debug)]
pub struct Analysis {
    /// How the capture is called on screen.
    pub name: String,
    pub profile: Profile,
    pub attribution: Attribution,
    /// Which number leads.
    pub unit: Unit,
    lines: Vec<FileLines>,
    launched: HashMap<EventId, Vec<EventId>>,
}

/// What of a function is on no one line: its ambiguous costs and what is known to the function only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    pub name: String,
    /// 1-based.
    pub def_line: u32,
    pub cost: Cost,
}

impl Analysis {
    pub fn new(name: String, profile: Profile, attribution: Attribution) -> Self {
        let unit = Unit::of(&profile, attribution.totals);
        let lines = by_line(&attribution);
        let launched = launched(&profile, &attribution);
        Self { name, profile, attribution, unit, lines, launched }
    }

    /// The costs of a file by line.
    pub fn lines_of(&self, file: FileId) -> &FileLines {
        &self.lines[file.0 as usize]
    }

    /// The costs of all files, indexed by [`FileId`].
    pub fn lines(&self) -> &[FileLines] {
        &self.lines
    }

    pub fn file(&self, file: FileId) -> &FileCosts {
        &self.attribution.files[file.0 as usize]
    }

    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.attribution.files.len() as u32).map(FileId)
    }

    /// The device events charged to an event, in order of start.
    pub fn launched_by(&self, event: EventId) -> &[EventId] {
        self.launched.get(&event).map_or(&[], Vec::as_slice)
    }

    pub fn coverage(&self) -> Coverage {
        Coverage::of(&self.attribution, &self.unit)
    }

    pub fn any_stale(&self) -> bool {
        self.attribution.files.iter().any(|file| file.stale)
    }

    /// Per function of a file: what is on no one line, where there is any.
    pub fn rests(&self, file: FileId) -> impl Iterator<Item = Rest> + '_ {
        let functions = &self.attribution.files[file.0 as usize].functions;
        functions.iter().enumerate().filter_map(move |(at, function)| {
            let mut cost = function.own;
            for set in &self.lines_of(file).ambiguous {
                if set.function == FunctionId(at as u32) {
                    cost += set.forward;
                    cost += set.backward;
                }
            }
            let rest = Rest { name: function.name.clone(), def_line: function.def_line, cost };
            (cost != Cost::default()).then_some(rest)
        })
    }

    /// The functions of a file that own lines with a cost, each with its inclusive cost.
    pub fn owners(&self, file: FileId) -> Vec<Owner> {
        let functions = &self.attribution.files[file.0 as usize].functions;
        let mut owners: Vec<Owner> = functions
            .iter()
            .enumerate()
            .filter(|(_, function)| function.name != MODULE)
            .filter_map(|(at, function)| {
                let own =
                    || self.lines_of(file).lines.iter().filter(|line| line.function == FunctionId(at as u32));
                let hottest = own().max_by_key(|line| self.unit.ns(line.both()))?;
                let mut backward = Cost::default();
                own().for_each(|line| backward += line.backward);
                Some(Owner {
                    line: function.def_line,
                    cost: function.inclusive,
                    backward,
                    ops: function.inclusive_ops as usize,
                    hottest: hottest.both(),
                    hottest_line: hottest.line,
                })
            })
            .collect();
        owners.sort_by_key(|owner| owner.line);
        owners
    }
}

/// The name that module-level code goes by in traces.
pub const MODULE: &str = "<module>";

/// Which device events went to which charge: each climbs from the event that holds it to the charged one around it.
fn launched(profile: &Profile, attribution: &Attribution) -> HashMap<EventId, Vec<EventId>> {
    let mut launched: HashMap<EventId, Vec<EventId>> =
        attribution.charges.iter().map(|charge| (charge.event, Vec::new())).collect();
    for device in profile.device_events() {
        let mut at = device.target.or(device.launch);
        while let Some(event) = at {
            if let Some(list) = launched.get_mut(&event) {
                list.push(device.event);
                break;
            }
            at = profile.tree().parent(event);
        }
    }
    launched.retain(|_, list| !list.is_empty());
    for list in launched.values_mut() {
        list.sort_by_key(|&event| profile.event(event).start_ns);
    }
    launched
}

/// Per event of a charge: the file and 1-based line it went to.
pub(crate) fn place_of(attribution: &Attribution) -> HashMap<EventId, (FileId, u32)> {
    attribution
        .charges
        .iter()
        .filter_map(|charge| match charge.place {
            Place::Line { file, line, .. } => Some((charge.event, (file, line))),
            _ => None,
        })
        .collect()
}
