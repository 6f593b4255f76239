//! Everything that is known of one capture, computed once when its trace settles; requests are look-ups.

use std::collections::HashMap;
use std::sync::OnceLock;

use attribution::lines::{FileLines, by_line};
use attribution::{Attribution, Charge, Cost, FileCosts, FileId, FunctionId, Place, Unit};
use profile::key_averages::{self, RowKind, TorchVersion};
use profile::{EventId, Profile};
use source::text_sha256;

use crate::coverage::Coverage;
use crate::owners::{Owner, owners};

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
    owners: Vec<Vec<Owner>>,
    /// Index into the charges of each charged event.
    charge_of: HashMap<EventId, u32>,
    launched: HashMap<EventId, Vec<EventId>>,
    differing: OnceLock<HashMap<String, Differing>>,
}

/// A row of the table whose own CPU time torch prints otherwise than it is counted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differing {
    pub self_cpu_ns: i64,
    pub torch_self_cpu_ns: i64,
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
        let owners = owners(&attribution, &lines, &unit);
        let charge_of = (0..).zip(&attribution.charges).map(|(at, charge)| (charge.event, at)).collect();
        let launched = launched(&profile, &charge_of);
        Self {
            name,
            profile,
            attribution,
            unit,
            lines,
            owners,
            charge_of,
            launched,
            differing: OnceLock::new(),
        }
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

    /// Where `key_averages()` of the trace's torch prints another Self CPU for an op than is counted here (from 2.14 on it
    /// subtracts Python frames inside ops).
    pub fn differing(&self, op: &str) -> Option<Differing> {
        self.differing.get_or_init(|| differing(&self.profile)).get(op).copied()
    }

    /// The charge of an event.
    pub fn charge(&self, event: EventId) -> Option<&Charge> {
        self.charge_of.get(&event).map(|&at| &self.attribution.charges[at as usize])
    }

    /// The 1-based line that an event is charged to, or the charged event around it.
    pub fn line_around(&self, event: Option<EventId>) -> Option<(FileId, u32)> {
        let mut at = event;
        while let Some(event) = at {
            match self.charge(event).map(|charge| &charge.place) {
                Some(&Place::Line { file, line, .. }) => return Some((file, line)),
                Some(_) => return None,
                None => at = self.profile.tree().parent(event),
            }
        }
        None
    }

    pub fn coverage(&self) -> Coverage {
        Coverage::of(&self.attribution, &self.unit)
    }

    /// Whether a present text of a file is another than the one that was profiled, as far as that is known.
    pub fn is_edited(&self, file: FileId, now: &str) -> bool {
        let file = self.file(file);
        match file.recorded {
            Some(recorded) => text_sha256(now).is_some_and(|now| now != recorded),
            None => file.stale || text_sha256(now) != text_sha256(&file.text),
        }
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

    /// The functions and classes of a file that own lines with a cost, by line.
    pub fn owners(&self, file: FileId) -> &[Owner] {
        &self.owners[file.0 as usize]
    }
}

/// Which device events went to which charge: each climbs from the event that holds it to the charged one around it.
fn launched(profile: &Profile, charge_of: &HashMap<EventId, u32>) -> HashMap<EventId, Vec<EventId>> {
    let mut launched: HashMap<EventId, Vec<EventId>> = HashMap::new();
    for device in profile.device_events() {
        // A compiled kernel that names its lines is charged to its own launch, not to the region it is joined to.
        let named = profile.info(device.event).stacks.is_some();
        let own = device.launch.filter(|launch| named && charge_of.contains_key(launch));
        let mut at = own.or(device.target).or(device.launch);
        while let Some(event) = at {
            if charge_of.contains_key(&event) {
                launched.entry(event).or_default().push(device.event);
                break;
            }
            at = profile.tree().parent(event);
        }
    }
    for list in launched.values_mut() {
        list.sort_by_key(|&event| profile.event(event).start_ns);
    }
    launched
}

fn differing(profile: &Profile) -> HashMap<String, Differing> {
    let printed = key_averages::as_torch(profile, TorchVersion::detect(profile));
    let printed: HashMap<&str, i64> = printed
        .rows
        .iter()
        .filter(|row| row.kind == RowKind::Op)
        .map(|row| (&*row.name, row.self_cpu_ns))
        .collect();
    let counted = key_averages::canonical(profile).rows.into_iter().filter(|row| row.kind == RowKind::Op);
    counted
        .filter_map(|row| {
            let torch_self_cpu_ns = *printed.get(&*row.name)?;
            let differs = torch_self_cpu_ns != row.self_cpu_ns;
            differs.then_some((row.name, Differing { self_cpu_ns: row.self_cpu_ns, torch_self_cpu_ns }))
        })
        .collect()
}
