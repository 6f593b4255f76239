//! The table as `torch.profiler` prints it (`torch/autograd/profiler_util.py`: `EventList._build_tree`, `key_averages`).
//!
//! Rules differ by version: up to 2.11 Python frames are not in the tree; 2.12 and 2.13 have them in the tree and print
//! rows for them; from 2.14 on the rows are hidden, but the frames' time is still taken from the ops around them.

use trace::ExternalId;

use super::canonical::Table;
use super::{KeyAverages, RowKind, STEP};
use crate::hash::Map;
use crate::model::{EventId, Kind, Profile, TrackId};
use crate::nest::Open;

/// Which torch's table is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TorchVersion {
    UpTo2_11,
    From2_12To2_13,
    From2_14,
}

impl TorchVersion {
    /// The rules that a trace shows signs of: `CallFrom` is written from 2.14 on. 2.12 and 2.13 leave no sign and must be
    /// asked for, unless call lines were recorded, which name their version.
    pub fn detect(profile: &Profile) -> Self {
        if let Some(version) = &profile.recorded_torch {
            Self::of_version(version).unwrap_or(Self::UpTo2_11)
        } else if profile.frames.iter().any(|frame| frame.call_from.is_some()) {
            Self::From2_14
        } else {
            Self::UpTo2_11
        }
    }

    /// The rules of a version such as `2.13` or `2.15.0`; `None` for what is no version.
    pub fn of_version(version: &str) -> Option<Self> {
        let mut parts = version.trim().trim_start_matches('v').split('.');
        let major: u32 = parts.next()?.parse().ok()?;
        let minor: u32 = parts.next()?.parse().ok()?;
        Some(match (major, minor) {
            (0..=1, _) | (2, 0..=11) => Self::UpTo2_11,
            (2, 12..=13) => Self::From2_12To2_13,
            _ => Self::From2_14,
        })
    }

    /// How output names the rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UpTo2_11 => "torch<=2.11",
            Self::From2_12To2_13 => "torch 2.12-2.13",
            Self::From2_14 => "torch>=2.14",
        }
    }
}

/// The rows that torch's `key_averages()` prints, in order of first start.
pub fn as_torch(profile: &Profile, version: TorchVersion) -> KeyAverages {
    let list = EventList::of(profile, version);
    let mut table = Table::default();
    let totals = list.totals(profile);
    for (at, &id) in list.order.iter().enumerate() {
        let event = profile.event(id);
        let kind = RowKind::of(event.kind);
        if list.removed[at] || (kind == RowKind::Frame && version == TorchVersion::From2_14) {
            continue;
        }
        let annotation = matches!(event.kind, Kind::Annotation | Kind::DeviceAnnotation);
        // torch knows no kinds among host events: a call and an op of one name share a row.
        let kind = if kind == RowKind::Device { kind } else { list.host_kind(profile, id) };
        let row = table.row(profile, event.name, kind, annotation);
        row.calls += 1;
        row.self_device_ns += totals.self_device[at];
        row.device_total_ns += totals.device[at];
        if kind != RowKind::Device {
            row.cpu_total_ns += event.dur_ns;
            row.self_cpu_ns += totals.self_cpu[at];
        }
    }
    KeyAverages::new(table.rows, version.as_str())
}

/// torch's `EventList`: events by start, their parents, and the wrappers that were removed. Indices are places in `order`.
struct EventList {
    order: Vec<EventId>,
    parent: Vec<Option<usize>>,
    removed: Vec<bool>,
    kernels: Vec<i64>,
    kinds: Map<(trace::Symbol, bool), RowKind>,
}

struct Totals {
    self_cpu: Vec<i64>,
    self_device: Vec<i64>,
    device: Vec<i64>,
}

fn is_device(kind: Kind) -> bool {
    matches!(kind, Kind::Device(_) | Kind::DeviceAnnotation)
}

impl EventList {
    fn of(profile: &Profile, version: TorchVersion) -> Self {
        let frames = version != TorchVersion::UpTo2_11;
        let mut order: Vec<EventId> =
            profile.ids().filter(|&id| frames || profile.event(id).kind != Kind::Frame).collect();
        order.sort_by_key(|&id| {
            (profile.event(id).start_ns, std::cmp::Reverse(profile.event(id).end_ns()), id)
        });
        let linked = Self::linked(profile, &order);
        let parent = Self::parents(profile, &order, &linked);
        let mut kernels = vec![0; order.len()];
        for &id in &order {
            let external = profile.info(id).external_id.filter(|external| external.0 != 0);
            if is_device(profile.event(id).kind)
                && let Some(&op) = external.and_then(|external| linked.get(&external))
            {
                kernels[op] += profile.event(id).dur_ns;
            }
        }
        let mut kinds = Map::default();
        for &id in order.iter().filter(|&&id| !is_device(profile.event(id).kind)) {
            let event = profile.event(id);
            kinds.entry((event.name, event.kind == Kind::Annotation)).or_insert(RowKind::of(event.kind));
        }
        let mut list = Self { removed: vec![false; order.len()], order, parent, kernels, kinds };
        list.remove_duplicates(profile);
        list
    }

    /// Ops and annotations by External id; the last-started counts.
    fn linked(profile: &Profile, order: &[EventId]) -> Map<ExternalId, usize> {
        let ids = order.iter().enumerate();
        let linked = ids.filter(|(_, id)| matches!(profile.event(**id).kind, Kind::Op | Kind::Annotation));
        linked.filter_map(|(at, &id)| profile.info(id).external_id.map(|external| (external, at))).collect()
    }

    fn parents(profile: &Profile, order: &[EventId], linked: &Map<ExternalId, usize>) -> Vec<Option<usize>> {
        let mut open: Map<TrackId, Open> = Map::default();
        let mut place_of: Map<EventId, usize> = Map::default();
        let mut parents = Vec::with_capacity(order.len());
        for (at, &id) in order.iter().enumerate() {
            let event = profile.event(id);
            if is_device(event.kind) {
                parents.push(None);
                continue;
            }
            // torch gives a runtime call the thread of its op, whether or not the op is still open.
            let op = (event.kind == Kind::Runtime).then(|| profile.info(id).external_id).flatten();
            let track =
                op.and_then(|op| linked.get(&op)).map_or(event.track, |&op| profile.event(order[op]).track);
            let parent = open.entry(track).or_default().enter(id, event.start_ns, event.end_ns());
            parents.push(parent.and_then(|parent| place_of.get(&parent).copied()));
            place_of.insert(id, at);
        }
        parents
    }

    /// `_remove_dup_nodes`: an only child of its parent's name goes; the parent gets its children, and its kernels in
    /// place of its own.
    fn remove_duplicates(&mut self, profile: &Profile) {
        let mut children: Vec<u32> = vec![0; self.order.len()];
        for parent in self.parent.iter().flatten() {
            children[*parent] += 1;
        }
        let name = |at: usize| {
            let text = profile.name(self.order[at]);
            if text.starts_with(STEP) { None } else { Some(profile.event(self.order[at]).name) }
        };
        // A removed node's children look for their parent through it: parents come first, so one pass is enough.
        let mut stands_for: Vec<usize> = (0..self.order.len()).collect();
        for at in 0..self.order.len() {
            let Some(parent) = self.parent[at].map(|parent| stands_for[parent]) else { continue };
            self.parent[at] = Some(parent);
            if children[parent] == 1 && name(at) == name(parent) {
                self.removed[at] = true;
                stands_for[at] = parent;
                children[parent] = children[at];
                self.kernels[parent] = self.kernels[at];
            }
        }
    }

    fn totals(&self, profile: &Profile) -> Totals {
        let count = self.order.len();
        let mut totals =
            Totals { self_cpu: vec![0; count], self_device: vec![0; count], device: vec![0; count] };
        for at in (0..count).rev().filter(|&at| !self.removed[at]) {
            let event = profile.event(self.order[at]);
            if is_device(event.kind) {
                (totals.self_device[at], totals.device[at]) = (event.dur_ns, event.dur_ns);
                continue;
            }
            totals.self_cpu[at] += event.dur_ns;
            totals.self_device[at] = self.kernels[at];
            totals.device[at] += self.kernels[at];
            if let Some(parent) = self.parent[at] {
                totals.self_cpu[parent] -= event.dur_ns;
                totals.device[parent] += totals.device[at];
            }
        }
        totals
    }

    /// The kind that a host row is listed under: that of the first event of its name.
    fn host_kind(&self, profile: &Profile, id: EventId) -> RowKind {
        let event = profile.event(id);
        self.kinds
            .get(&(event.name, event.kind == Kind::Annotation))
            .copied()
            .unwrap_or(RowKind::of(event.kind))
    }
}
