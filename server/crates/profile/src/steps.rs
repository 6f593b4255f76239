//! `ProfilerStep#N`: what each step launched, and whether all of it was recorded.

use trace::Symbol;

use crate::hash::Set;
use crate::model::{EventId, Kind, Profile, Step};

/// The steps in order of start.
///
/// A device event belongs to the step that launched it, wherever it runs. A step is incomplete when a call in it that
/// elsewhere starts device work has no device event: the recording ended before the device did.
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
    let (mut launched, mut launching): (Set<EventId>, Set<Symbol>) = (Set::default(), Set::default());
    for device in &profile.device_events {
        if let Some(launch) = device.launch {
            launched.insert(launch);
            launching.insert(profile.event(launch).name);
        }
        if let Some(host) = device.launch.or(device.target)
            && let Some(at) = step_at(&steps, profile.event(host).start_ns)
        {
            steps[at].device_ns += profile.event(device.event).dur_ns;
        }
    }
    for id in profile.ids() {
        let event = profile.event(id);
        let lost = event.kind == Kind::Runtime
            && launching.contains(&event.name)
            && profile.info(id).correlation.is_some()
            && !launched.contains(&id);
        if lost && let Some(at) = step_at(&steps, event.start_ns) {
            steps[at].complete = false;
        }
    }
    steps
}
