//! What a line sets off as a whole: the modules it calls, the ranges, optimizer steps and data loading it opens.
//!
//! Views over ops that are charged elsewhere; never added to anything.

use std::collections::BTreeMap;

use profile::modules::{instance, runs_within_itself, work_below};
use profile::{EventId, Kind, Profile};

use crate::model::{Cost, FileId, Precision, View, ViewKind};
use crate::places::{Placed, Places};
use crate::readings::Reading;

/// All views whose line is known, by file and line, the costlier first.
pub(crate) fn views(profile: &Profile, places: &Places<'_>) -> Vec<(FileId, View)> {
    let below = work_below(profile);
    let mut sums: BTreeMap<(FileId, u32, ViewKind, &str), View> = BTreeMap::new();
    for id in profile.ids() {
        let Some((kind, name)) = named(profile, id) else { continue };
        let placed = if kind == ViewKind::Module { places.of(id) } else { places.of_range(id) };
        let Some(Placed { file, reading, .. }) = placed else { continue };
        let (line, precision) = match reading {
            Reading::Exact(spot) => (spot.line, Precision::Exact),
            Reading::Aligned(spot) => (spot.line, Precision::Aligned),
            Reading::Ambiguous(_) | Reading::Unknown(_) => continue,
        };
        let view = sums.entry((file, line, kind, name)).or_insert_with(|| View {
            line,
            kind,
            name: name.to_owned(),
            precision,
            calls: 0,
            cost: Cost::default(),
        });
        view.precision = precision.max(view.precision);
        view.calls += 1;
        if !is_within_itself(profile, id, kind) {
            let (cpu_ns, device_ns) = below[id.0 as usize];
            view.cost += Cost { cpu_ns, device_ns };
        }
    }
    let mut views: Vec<_> = sums.into_iter().map(|((file, ..), view)| (file, view)).collect();
    views.sort_by_key(|(file, view)| {
        (*file, view.line, std::cmp::Reverse((view.cost.device_ns, view.cost.cpu_ns)))
    });
    views
}

fn named(profile: &Profile, id: EventId) -> Option<(ViewKind, &str)> {
    if let Some(instance) = instance(profile, id) {
        return Some((ViewKind::Module, profile.text(instance)));
    }
    if profile.event(id).kind != Kind::Annotation {
        return None;
    }
    let name = profile.name(id);
    // The steps are the recording's own; a compiled graph's range lies within the region that is charged.
    if name.starts_with("ProfilerStep#") || name.starts_with("## Call CompiledFxGraph") {
        return None;
    }
    let kind = if name.starts_with("Optimizer.") {
        ViewKind::Optimizer
    } else if name.starts_with("enumerate(DataLoader)#") {
        ViewKind::DataLoading
    } else {
        ViewKind::Range
    };
    Some((kind, name))
}

/// What runs within another of its name is counted there.
fn is_within_itself(profile: &Profile, id: EventId, kind: ViewKind) -> bool {
    if kind == ViewKind::Module {
        return instance(profile, id).is_some_and(|instance| runs_within_itself(profile, id, instance));
    }
    let name = profile.event(id).name;
    std::iter::successors(profile.tree().parent(id), |&up| profile.tree().parent(up))
        .any(|up| profile.event(up).kind == Kind::Annotation && profile.event(up).name == name)
}
