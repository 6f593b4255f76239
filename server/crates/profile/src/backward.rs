//! Backward ops to the forward ops they differentiate.
//!
//! A `fwdbwd` arrow decides, for sequence number 0 is shared by several ops. Without one it is the last-started op of that
//! sequence number that is itself forward (`Fwd thread id` 0) and precedes the backward op.

use trace::{Flow, FlowEnd, Symbol};

use crate::hash::Map;
use crate::intake::Tracks;
use crate::model::{EventId, Kind, Profile, TrackId};

/// Fills [`Profile::forward_of`].
pub(crate) fn link(profile: &mut Profile, flows: &[Flow], tracks: &Tracks) {
    let mut forward = vec![None; profile.events.len()];
    let is_op = |id: &EventId| profile.event(*id).kind == Kind::Op;
    if let Some(category) = profile.strings.get("fwdbwd") {
        by_flow(profile, flows, tracks, category, &mut forward);
    }
    let numbered = forward_ops_by_number(profile);
    for id in profile.ids().filter(is_op) {
        if forward[id.0 as usize].is_some() || !profile.is_backward(id) {
            continue;
        }
        // The arrow ends at `AddmmBackward0`, one below `autograd::engine::evaluate_function: AddmmBackward0`.
        let below = profile.host.children(id).iter().find_map(|child| forward[child.0 as usize]);
        forward[id.0 as usize] = below.or_else(|| {
            let ops = numbered.get(&profile.info(id).sequence_number?)?;
            let before = ops.partition_point(|&(start, _)| start < profile.event(id).start_ns);
            ops[..before].last().map(|&(_, op)| op)
        });
    }
    profile.forward = forward;
}

fn forward_ops_by_number(profile: &Profile) -> Map<u64, Vec<(i64, EventId)>> {
    let mut numbered: Map<u64, Vec<(i64, EventId)>> = Map::default();
    for id in profile.ids().filter(|&id| profile.event(id).kind == Kind::Op) {
        if let Some(number) = profile.info(id).sequence_number
            && !profile.is_backward(id)
        {
            numbered.entry(number).or_default().push((profile.event(id).start_ns, id));
        }
    }
    numbered.values_mut().for_each(|ops| ops.sort_unstable());
    numbered
}

fn by_flow(
    profile: &Profile,
    flows: &[Flow],
    tracks: &Tracks,
    category: Symbol,
    forward: &mut [Option<EventId>],
) {
    let mut ops: Vec<(TrackId, i64, EventId)> = profile
        .ids()
        .filter(|&id| profile.event(id).kind == Kind::Op)
        .map(|id| (profile.event(id).track, profile.event(id).start_ns, id))
        .collect();
    ops.sort_unstable();
    let at = |flow: &Flow| {
        let track = *tracks.get(&(false, flow.pid, flow.tid))?;
        let from = ops.partition_point(|&(t, start, _)| (t, start) < (track, flow.at_ns));
        let found = &ops[from..];
        Some(&found[..found.partition_point(|&(t, start, _)| (t, start) <= (track, flow.at_ns))])
    };
    let of_end = |end| flows.iter().filter(move |f| f.category == Some(category) && f.end == end);
    let starts: Map<Symbol, &Flow> = of_end(FlowEnd::Start).map(|flow| (flow.id, flow)).collect();
    for finish in of_end(FlowEnd::Finish) {
        let Some(start) = starts.get(&finish.id) else { continue };
        let (Some(sources), Some(targets)) = (at(start), at(finish)) else { continue };
        for &(.., target) in targets {
            let number = profile.info(target).sequence_number;
            let same = sources.iter().rev().find(|(.., s)| profile.info(*s).sequence_number == number);
            forward[target.0 as usize] = same.or(sources.last()).map(|&(.., source)| source);
        }
    }
}
