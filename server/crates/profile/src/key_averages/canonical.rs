//! The canonical table: host tree of ops, annotations, runtime calls and overhead; device time at the launching op.

use trace::Symbol;

use super::{Row, RowKind, STEP, STEPS};
use crate::hash::Map;
use crate::model::{EventId, Kind, Profile};

/// Self and total times of every host event, in nanoseconds; 0 for all other events.
#[derive(Debug)]
pub struct HostTimes {
    self_cpu: Vec<i64>,
    self_device: Vec<i64>,
    device_total: Vec<i64>,
}

impl HostTimes {
    /// Computes the times of one profile.
    pub fn of(profile: &Profile) -> Self {
        let count = profile.events().len();
        let mut times =
            Self { self_cpu: vec![0; count], self_device: vec![0; count], device_total: vec![0; count] };
        for device in profile.device_events() {
            if let Some(target) = device.target {
                times.self_device[target.0 as usize] += profile.event(device.event).dur_ns;
            }
        }
        for &id in profile.host().order().iter().rev() {
            let at = id.0 as usize;
            times.self_cpu[at] += profile.event(id).dur_ns;
            times.device_total[at] += times.self_device[at];
            if let Some(parent) = profile.host().parent(id) {
                times.self_cpu[parent.0 as usize] -= profile.event(id).dur_ns;
                times.device_total[parent.0 as usize] += times.device_total[at];
            }
        }
        times
    }

    /// Own duration less that of the direct children. Negative only where siblings overlap.
    pub fn self_cpu_ns(&self, id: EventId) -> i64 {
        self.self_cpu[id.0 as usize]
    }

    /// Device work joined to the event itself.
    pub fn self_device_ns(&self, id: EventId) -> i64 {
        self.self_device[id.0 as usize]
    }

    /// Device work joined to the event or to anything below it.
    pub fn device_total_ns(&self, id: EventId) -> i64 {
        self.device_total[id.0 as usize]
    }
}

/// The canonical rows, in order of first appearance: host rows, then device rows by their own names.
pub fn canonical(profile: &Profile) -> Vec<Row> {
    let times = HostTimes::of(profile);
    let mut table = Table::default();
    for id in profile.ids() {
        let event = profile.event(id);
        if !event.kind.is_host() || profile.merged_into(id).is_some() {
            continue;
        }
        let row = table.row(profile, event.name, RowKind::of(event.kind), false);
        row.calls += 1;
        row.cpu_total_ns += event.dur_ns;
        row.self_cpu_ns += times.self_cpu_ns(id);
        row.self_device_ns += times.self_device_ns(id);
        row.device_total_ns += times.device_total_ns(id);
    }
    for device in profile.device_events() {
        let event = profile.event(device.event);
        let row = table.row(profile, event.name, RowKind::Device, false);
        row.calls += 1;
        row.self_device_ns += event.dur_ns;
        row.device_total_ns += event.dur_ns;
    }
    table.rows
}

/// Rows by name and kind.
#[derive(Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    places: Map<(Symbol, RowKind, bool), usize>,
    /// The first step's name stands for all steps.
    step: Option<Symbol>,
}

impl Table {
    pub(super) fn row(&mut self, profile: &Profile, name: Symbol, kind: RowKind, annotation: bool) -> &mut Row {
        let rows = &mut self.rows;
        if let Some(&at) = self.places.get(&(name, kind, annotation)) {
            return &mut rows[at];
        }
        let is_step = profile.text(name).starts_with(STEP);
        let key = if is_step { *self.step.get_or_insert(name) } else { name };
        let at = *self.places.entry((key, kind, annotation)).or_insert_with(|| {
            let text = if is_step { STEPS } else { profile.text(name) };
            let device_annotation = annotation && kind == RowKind::Device;
            rows.push(Row::new(text, kind, device_annotation));
            rows.len() - 1
        });
        self.places.insert((name, kind, annotation), at);
        &mut rows[at]
    }
}

impl Profile {
    /// Σ of the device events that belong to no host event, in nanoseconds.
    pub fn unattributed_device_ns(&self) -> i64 {
        let lost = self.device_events().iter().filter(|d| d.target.is_none());
        lost.map(|d| self.event(d.event).dur_ns).sum()
    }

    /// Whether an event is an op or a runtime call: what the inclusive time of functions and modules is made of.
    pub(crate) fn is_work(&self, id: EventId) -> bool {
        matches!(self.event(id).kind, Kind::Op | Kind::Runtime)
    }
}
