//! `ProfilerStep#N`: what each step launched, and whether all of it was recorded.

use trace::Symbol;

use crate::hash::{Map, Set};
use crate::model::{EventId, Kind, Profile, Step};

/// The steps in order of start.
///
/// A device event belongs to the step that launched it, wherever it runs. A step is incomplete when a launch in it has no
/// device event: the recording ended before the device did, or lost some of its work.
pub(crate) fn of(profile: &Profile) -> Vec<Step> {
    let is_step = |id: &EventId| {
        profile.event(*id).kind == Kind::Annotation && profile.name(*id).starts_with("ProfilerStep#")
    };
    let mut ids: Vec<EventId> = profile.ids().filter(is_step).collect();
    ids.sort_by_key(|&id| profile.event(id).start_ns);
    let mut steps: Vec<Step> =
        ids.iter().map(|&event| Step { event, device_ns: 0, complete: true }).collect();
    let step_at = |steps: &[Step], at_ns: i64| {
        let begun = steps.partition_point(|s| profile.event(s.event).start_ns <= at_ns);
        begun.checked_sub(1).filter(|&at| at_ns < profile.event(steps[at].event).end_ns())
    };
    for device in &profile.device_events {
        if let Some(host) = device.launch.or(device.target)
            && let Some(at) = step_at(&steps, profile.event(host).start_ns)
        {
            steps[at].device_ns += profile.event(device.event).dur_ns;
        }
    }
    for launch in lost_launches(profile) {
        if let Some(at) = step_at(&steps, profile.event(launch).start_ns) {
            steps[at].complete = false;
        }
    }
    steps
}

/// Runtime calls that must have started device work of which nothing was recorded.
///
/// Some calls start device work only now and then (`cudaMemsetAsync` of nothing). So a call counts as lost when those of
/// its name mostly have device events, or when it comes after the last launch that has one.
fn lost_launches(profile: &Profile) -> Vec<EventId> {
    let launched: Set<EventId> = profile.device_events.iter().filter_map(|d| d.launch).collect();
    let last = launched.iter().map(|&launch| profile.event(launch).start_ns).max();
    let calls = profile
        .ids()
        .filter(|&id| profile.event(id).kind == Kind::Runtime && profile.info(id).correlation.is_some());
    let mut by_name: Map<Symbol, (usize, Vec<EventId>)> = Map::default();
    for call in calls {
        let (joined, lost) = by_name.entry(profile.event(call).name).or_default();
        if launched.contains(&call) { *joined += 1 } else { lost.push(call) }
    }
    let launching = by_name.into_values().filter(|(joined, _)| *joined > 0);
    let is_lost = |joined: usize, lost: &[EventId], call: EventId| {
        joined >= lost.len() || Some(profile.event(call).start_ns) > last
    };
    launching
        .flat_map(|(joined, lost)| lost.clone().into_iter().filter(move |&call| is_lost(joined, &lost, call)))
        .collect()
}
