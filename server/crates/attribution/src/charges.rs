//! Which events carry a cost of their own, and how much.
//!
//! An op is charged when the nearest op or frame around it is a frame, or when there is none; annotations and runtime
//! calls are looked through. Its cost is its inclusive time less that of the charged ops below it, so costs add up to
//! what happened, whatever runs Python inside ops. A launch outside any op is charged like one.

use std::collections::HashSet;

use profile::{EventId, Kind, Profile};

use crate::Cost;

/// The region that `torch.compile` runs: what is inside has no lines of its own unless the trace names them.
const REGION: &str = "Torch-Compiled Region";

/// Whether an event is a compiled region.
pub(crate) fn is_region(profile: &Profile, event: EventId) -> bool {
    profile.event(event).kind == Kind::Op && profile.name(event).starts_with(REGION)
}

/// Runtime and driver calls that a device event joins.
pub(crate) fn launches(profile: &Profile) -> HashSet<EventId> {
    profile.device_events().iter().filter_map(|device| device.launch).collect()
}

/// The charged events and their costs.
#[derive(Debug, Default)]
pub(crate) struct Charges {
    /// In order of start, the longer first.
    pub events: Vec<(EventId, Cost)>,
    /// Device events that no charged event launched, in nanoseconds.
    pub lost_device_ns: i64,
}

/// What an event has around it.
#[derive(Clone, Copy, Default)]
struct Around {
    /// The nearest op or frame is an op.
    in_op: bool,
    /// Some op is around, frames in between or not.
    below_op: bool,
    in_region: bool,
    /// The nearest charged event, itself included.
    charged: Option<EventId>,
}

/// Works out the charges. `names_line` says whether the trace itself names the line of an op: inside a compiled region
/// only such ops are charged.
pub(crate) fn charge(
    profile: &Profile,
    launches: &HashSet<EventId>,
    names_line: &dyn Fn(EventId) -> bool,
) -> Charges {
    let tree = profile.tree();
    let mut around = vec![Around::default(); profile.events().len()];
    let mut charged = Vec::new();
    let mut below = vec![0i64; profile.events().len()];
    for &id in tree.order() {
        let parent = tree.parent(id);
        let outer = parent.map(|parent| (profile.event(parent).kind, around[parent.0 as usize]));
        let outer_around = outer.map_or_else(Around::default, |(_, around)| around);
        let mut here = outer_around;
        match outer.map(|(kind, _)| kind) {
            Some(Kind::Op) => {
                (here.in_op, here.below_op) = (true, true);
                here.in_region |= parent.is_some_and(|parent| is_region(profile, parent));
            }
            Some(Kind::Frame) => here.in_op = false,
            _ => {}
        }
        let carries = match profile.event(id).kind {
            Kind::Op => !here.in_op,
            // In a region the calls themselves are what the trace may name the lines of.
            Kind::Runtime if here.in_region => {
                launches.contains(&id) && here.charged.is_some_and(|outer| is_region(profile, outer))
            }
            Kind::Runtime => launches.contains(&id) && !here.below_op && !under_op_in_tables(profile, id),
            _ => false,
        };
        if carries && (!here.in_region || names_line(id)) {
            if let Some(outer) = here.charged {
                below[outer.0 as usize] += profile.event(id).dur_ns;
            }
            here.charged = Some(id);
            charged.push(id);
        }
        around[id.0 as usize] = here;
    }
    let mut device = vec![0i64; profile.events().len()];
    let lost_device_ns = share_device_time(profile, &around, &mut device);
    charged.sort_by_key(|&id| {
        let event = profile.event(id);
        (event.start_ns, std::cmp::Reverse(event.end_ns()), id)
    });
    let cost = |id: EventId| {
        let at = id.0 as usize;
        Cost { cpu_ns: profile.event(id).dur_ns - below[at], device_ns: device[at] }
    };
    Charges { events: charged.into_iter().map(|id| (id, cost(id))).collect(), lost_device_ns }
}

/// Whether a runtime call lies in an op in the tables' tree, which knows the op's thread for calls made elsewhere.
fn under_op_in_tables(profile: &Profile, id: EventId) -> bool {
    std::iter::successors(profile.host().parent(id), |&at| profile.host().parent(at))
        .any(|at| profile.event(at).kind == Kind::Op)
}

/// Gives each device event to the charged event nearest to what launched it; the rest is returned.
fn share_device_time(profile: &Profile, around: &[Around], device: &mut [i64]) -> i64 {
    let nearest = |id: EventId| around[id.0 as usize].charged;
    let mut lost = 0;
    for event in profile.device_events() {
        let target = event.target.filter(|&id| profile.event(id).kind != Kind::Annotation);
        let of_host_parent = || {
            let target = target.filter(|&id| profile.event(id).kind == Kind::Runtime)?;
            nearest(profile.host().parent(target)?)
        };
        // A call in a region that is charged by itself, whatever op its work is joined to.
        let of_compiled = event
            .launch
            .filter(|&launch| around[launch.0 as usize].in_region && nearest(launch) == Some(launch));
        let found = of_compiled
            .or_else(|| target.and_then(nearest))
            .or_else(|| event.launch.and_then(nearest))
            .or_else(of_host_parent)
            .or_else(|| event.launch.and_then(|launch| nearest(profile.host().parent(launch)?)));
        let dur = profile.event(event.event).dur_ns;
        match found {
            Some(id) => device[id.0 as usize] += dur,
            None => lost += dur,
        }
    }
    lost
}
