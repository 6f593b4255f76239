//! The canonical table: host tree of ops, annotations, runtime calls and overhead; device time at the launching op.

use trace::Symbol;

use super::{KeyAverages, Row, RowKind, STEP, STEPS};
use crate::hash::Map;
use crate::model::Profile;

/// The canonical rows, in order of first appearance: host rows, then device rows by their own names.
pub fn canonical(profile: &Profile) -> KeyAverages {
    let mut table = Table::default();
    for id in profile.ids() {
        let event = profile.event(id);
        if !event.kind.is_host() || profile.merged_into(id).is_some() {
            continue;
        }
        let row = table.row(profile, event.name, RowKind::of(event.kind), false);
        row.calls += 1;
        row.cpu_total_ns += event.dur_ns;
        row.self_cpu_ns += profile.self_cpu_ns(id);
        row.self_device_ns += profile.self_device_ns(id);
        row.device_total_ns += profile.device_total_of(id);
    }
    for device in profile.device_events() {
        let event = profile.event(device.event);
        let row = table.row(profile, event.name, RowKind::Device, false);
        row.calls += 1;
        row.self_device_ns += event.dur_ns;
        row.device_total_ns += event.dur_ns;
    }
    KeyAverages::new(table.rows, "canonical")
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
    pub(super) fn row(
        &mut self,
        profile: &Profile,
        name: Symbol,
        kind: RowKind,
        annotation: bool,
    ) -> &mut Row {
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
