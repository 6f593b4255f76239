//! Device time and the host event that it belongs to.
//!
//! External id, else correlation, else the op around the start of a flow that ends at the device event, else nothing.
//! `External id` and `correlation` are different id spaces and are never joined with each other.

use trace::{CorrelationId, ExternalId, Flow, FlowEnd, Symbol, WarningKind};

use crate::hash::Map;
use crate::intake::Tracks;
use crate::model::{DeviceEvent, EventId, Join, Kind, Profile, TrackId};

/// Ops and annotations by External id; where two share one, the later in the file counts.
fn by_external(profile: &Profile) -> Map<ExternalId, EventId> {
    let linked = profile.ids().filter(|&id| matches!(profile.event(id).kind, Kind::Op | Kind::Annotation));
    linked.filter_map(|id| profile.info(id).external_id.map(|external| (external, id))).collect()
}

/// Forgets External ids that are none. Kineto of torch 2.0 writes the correlation as the External id of a call that no op
/// made, and of its kernel: by chance some op bears that number. The call's time tells, for an op's calls lie within it.
pub(crate) fn drop_aliases(profile: &mut Profile) {
    let ops = by_external(profile);
    let launches = by_correlation(profile);
    let is_alias = |id: EventId| {
        let (event, info) = (profile.event(id), profile.info(id));
        let (external, correlation) = (info.external_id?, info.correlation?);
        let op = profile.event(*ops.get(&external).filter(|_| external.0 == correlation.0)?);
        let launch = launches.get(&correlation).map(|&launch| profile.event(launch));
        Some(match (event.kind, launch) {
            (Kind::Runtime, _) => event.start_ns < op.start_ns || op.end_ns() < event.start_ns,
            (kind, Some(call)) if kind.is_device_work() => {
                call.start_ns < op.start_ns || op.end_ns() < call.start_ns
            }
            (kind, None) if kind.is_device_work() => event.start_ns < op.start_ns,
            _ => false,
        })
    };
    let aliases: Vec<EventId> = profile.ids().filter(|&id| is_alias(id) == Some(true)).collect();
    for id in aliases {
        if let Some(info) = profile.ops.get_mut(profile.op_of[id.0 as usize] as usize) {
            info.external_id = None;
        }
    }
}

/// Runtime calls by correlation; the first of the file counts.
fn by_correlation(profile: &Profile) -> Map<CorrelationId, EventId> {
    let mut launches = Map::default();
    for id in profile.ids().filter(|&id| profile.event(id).kind == Kind::Runtime) {
        if let Some(correlation) = profile.info(id).correlation {
            launches.entry(correlation).or_insert(id);
        }
    }
    launches
}

/// Moves a runtime call to the thread of the op it was made under, where the op encloses it: old schemas number threads
/// in two ways. torch's own post-processing does so too.
pub(crate) fn follow_launching_op(profile: &mut Profile) {
    let ops = by_external(profile);
    for id in profile.ids() {
        let call = *profile.event(id);
        if call.kind != Kind::Runtime {
            continue;
        }
        let op = profile.info(id).external_id.and_then(|external| ops.get(&external));
        if let Some(op) = op.map(|&op| *profile.event(op))
            && op.start_ns <= call.start_ns
            && call.end_ns() <= op.end_ns()
        {
            profile.events[id.0 as usize].track = op.track;
        }
    }
}

/// Joins every device event with its host event.
pub(crate) fn join(profile: &mut Profile, flows: &[Flow], tracks: &Tracks) {
    let ops = by_external(profile);
    let launches = by_correlation(profile);
    let mut joined = Vec::new();
    let mut unjoined = false;
    for id in profile.ids().filter(|&id| profile.event(id).kind.is_device_work()) {
        let info = profile.info(id);
        // Kineto writes 0 for work that no op launched.
        let op = info
            .external_id
            .filter(|external| external.0 != 0)
            .and_then(|external| ops.get(&external))
            .copied();
        let launch = info.correlation.and_then(|correlation| launches.get(&correlation)).copied();
        let (target, join) = match (op, launch) {
            (Some(op), _) => (Some(op), Join::ExternalId),
            (None, Some(launch)) => (Some(launch), Join::Correlation),
            (None, None) => (None, Join::None),
        };
        unjoined |= target.is_none();
        joined.push(DeviceEvent { event: id, target, launch, join, busy_ns: profile.event(id).dur_ns });
    }
    if unjoined && !flows.is_empty() {
        join_by_flow(profile, &mut joined, flows, tracks);
    }
    for device in &mut joined {
        device.target = device.target.map(|target| profile.merged_into(target).unwrap_or(target));
    }
    profile.device_events = joined;
}

fn join_by_flow(profile: &Profile, joined: &mut [DeviceEvent], flows: &[Flow], tracks: &Tracks) {
    let starts = starts_by_finish(profile, flows, tracks);
    let ops = OpsByTrack::of(profile);
    for device in joined.iter_mut().filter(|d| d.target.is_none()) {
        let event = profile.event(device.event);
        let Some(&(track, at_ns)) = starts.get(&(event.track, event.start_ns)) else { continue };
        if let Some(op) = ops.innermost(profile, track, at_ns) {
            device.target = Some(op);
            device.join = Join::Flow;
        }
    }
}

/// Where an arrow comes from, by where it ends. Ends belong together by category and id, for every category numbers from
/// 1; forward-backward arrows join host events and are left out.
fn starts_by_finish(
    profile: &Profile,
    flows: &[Flow],
    tracks: &Tracks,
) -> Map<(TrackId, i64), (TrackId, i64)> {
    let backward = profile.strings.get("fwdbwd");
    let mut starts: Map<(Option<Symbol>, Symbol), (TrackId, i64)> = Map::default();
    for flow in
        flows.iter().filter(|f| f.end == FlowEnd::Start && (f.category != backward || backward.is_none()))
    {
        if let Some(&track) = tracks.get(&(false, flow.pid, flow.tid)) {
            starts.insert((flow.category, flow.id), (track, flow.at_ns));
        }
    }
    let mut by_finish = Map::default();
    for flow in flows.iter().filter(|f| f.end == FlowEnd::Finish) {
        if let Some(&track) = tracks.get(&(true, flow.pid, flow.tid))
            && let Some(&start) = starts.get(&(flow.category, flow.id))
        {
            by_finish.insert((track, flow.at_ns), start);
        }
    }
    by_finish
}

/// Host events by track and start.
struct OpsByTrack(Vec<(TrackId, i64, EventId)>);

impl OpsByTrack {
    /// The host tree's order is by track and start already.
    fn of(profile: &Profile) -> Self {
        let key = |id: EventId| (profile.event(id).track, profile.event(id).start_ns, id);
        Self(profile.host.order.iter().map(|&id| key(id)).collect())
    }

    /// The innermost op around a moment: the last one that has begun, or one of those around it.
    fn innermost(&self, profile: &Profile, track: TrackId, at_ns: i64) -> Option<EventId> {
        let begun = self.0.partition_point(|&(t, start, _)| (t, start) <= (track, at_ns));
        let mut next = self.0[..begun].last().filter(|&&(t, ..)| t == track).map(|&(.., id)| id);
        while let Some(id) = next {
            let event = profile.event(id);
            if event.kind == Kind::Op && at_ns <= event.end_ns() {
                return Some(id);
            }
            next = profile.host.parent(id);
        }
        None
    }
}

/// Clips each device event at the start of the next on its stream (a stream does one thing at a time), and takes the
/// union over streams as the busy time.
pub(crate) fn clip(profile: &mut Profile) {
    let mut order: Vec<usize> = (0..profile.device_events.len()).collect();
    let event = |at: usize| profile.event(profile.device_events[at].event);
    order.sort_by_key(|&at| (event(at).track, event(at).start_ns, at));
    let mut clips = Vec::new();
    for pair in order.windows(2) {
        let (this, next) = (event(pair[0]), event(pair[1]));
        let overlaps =
            this.track == next.track && this.end_ns() > next.start_ns && this.dur_ns > 0 && next.dur_ns > 0;
        if overlaps {
            clips.push((pair[0], next.start_ns - this.start_ns, next.name));
        }
    }
    for (at, busy_ns, next) in clips {
        profile.device_events[at].busy_ns = busy_ns;
        let (name, next) = (profile.name(profile.device_events[at].event), profile.strings.text(next));
        let message = format!(
            "{name} runs over the start of {next} on the same stream: clipped to {} for busy time and shares",
            crate::units::short(busy_ns)
        );
        profile.log.warn(WarningKind::Overlap, 0, || message);
    }
    profile.device_busy_ns = busy(profile);
}

fn busy(profile: &Profile) -> i64 {
    let range = |d: &DeviceEvent| (profile.event(d.event).start_ns, d.busy_ns);
    let mut ranges: Vec<(i64, i64)> =
        profile.device_events.iter().map(range).filter(|&(_, busy)| busy > 0).collect();
    ranges.sort_unstable();
    let (mut total, mut end) = (0, i64::MIN);
    for (start, busy) in ranges {
        total += (start + busy - end.max(start)).max(0);
        end = end.max(start + busy);
    }
    total
}
