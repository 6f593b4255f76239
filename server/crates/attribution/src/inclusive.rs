//! What runs below each function: a view, never added to anything.
//!
//! An op or runtime call counts for a function when it is below one of the function's frames and what encloses it in the
//! tables' tree is not: each once, however often the function is on its stack.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use profile::{EventId, Kind, Profile};

use crate::frames::FunctionKey;
use crate::places::Places;
use crate::{Cost, FileId};

type Functions = Rc<[(FileId, FunctionKey)]>;

/// What runs below a function.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inclusive {
    pub cost: Cost,
    /// Charged forward ops.
    pub ops: u32,
}

/// The functions of the sources with what runs below them. `charged` are the charged ops of the forward pass.
pub(crate) fn inclusive(
    profile: &Profile,
    places: &Places<'_>,
    charged: impl Iterator<Item = EventId>,
) -> BTreeMap<(FileId, FunctionKey), Inclusive> {
    let device = device_totals(profile);
    let mut known: HashMap<Option<EventId>, Functions> = HashMap::new();
    let mut sums: BTreeMap<(FileId, FunctionKey), Inclusive> = BTreeMap::new();
    for &id in profile.host().order() {
        if !matches!(profile.event(id).kind, Kind::Op | Kind::Runtime) {
            continue;
        }
        let around = functions(profile, places, &mut known, id);
        if around.is_empty() {
            continue;
        }
        let outer = enclosing_call(profile, id);
        let outer: Functions =
            outer.map_or_else(|| Rc::from([]), |outer| functions(profile, places, &mut known, outer));
        let cost = Cost { cpu_ns: profile.event(id).dur_ns, device_ns: device[id.0 as usize] };
        for function in around.iter().filter(|function| !outer.contains(function)) {
            sums.entry(function.clone()).or_default().cost += cost;
        }
    }
    for id in charged {
        for function in &*functions(profile, places, &mut known, id) {
            sums.entry(function.clone()).or_default().ops += 1;
        }
    }
    sums
}

/// Events with the same innermost frame have the same functions around them.
fn functions(
    profile: &Profile,
    places: &Places<'_>,
    known: &mut HashMap<Option<EventId>, Functions>,
    id: EventId,
) -> Functions {
    let tree = profile.tree();
    let frame = std::iter::successors(tree.parent(id), |&at| tree.parent(at))
        .find(|&at| profile.event(at).kind == Kind::Frame);
    if frame.is_none() && profile.info(id).call_stack.is_some() {
        return places.functions_around(id);
    }
    Rc::clone(known.entry(frame).or_insert_with(|| places.functions_around(id)))
}

/// The op or call around an event in the tables' tree.
fn enclosing_call(profile: &Profile, id: EventId) -> Option<EventId> {
    std::iter::successors(profile.host().parent(id), |&at| profile.host().parent(at))
        .find(|&at| !matches!(profile.event(at).kind, Kind::Annotation | Kind::Overhead))
}

/// Device time of each host event and what is below it.
fn device_totals(profile: &Profile) -> Vec<i64> {
    let mut totals = vec![0i64; profile.events().len()];
    for device in profile.device_events() {
        if let Some(target) = device.target {
            let target = profile.merged_into(target).unwrap_or(target);
            totals[target.0 as usize] += profile.event(device.event).dur_ns;
        }
    }
    for &id in profile.host().order().iter().rev() {
        if let Some(parent) = profile.host().parent(id) {
            totals[parent.0 as usize] += totals[id.0 as usize];
        }
    }
    totals
}
