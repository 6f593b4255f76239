//! A trace to a [`Profile`], step by step: events and tracks, trees, device joins, backward links, steps.

use trace::{Phase, Symbol, Trace, WarningKind};

use crate::classify::Classifier;
use crate::hash::Map;
use crate::model::{
    Callee, DeviceSource, DeviceWork, Event, FrameInfo, Kind, OpInfo, Profile, Track, TrackId,
};
use crate::{backend, backward, device, frames, nest, pairs, steps};

/// No entry in a side table.
const NONE: u32 = u32::MAX;

impl Profile {
    /// Builds the model of a trace. Never fails: what is missing or odd is in [`Profile::log`].
    pub fn build(mut trace: Trace) -> Self {
        let classifier = Classifier::new(&trace);
        let mut builder =
            Builder { profile: Self::default(), tracks: Map::default(), frames: FrameCache::default() };
        builder.profile.log = std::mem::take(&mut trace.log);
        let source = builder.take_events(&mut trace, &classifier);
        let Builder { mut profile, tracks, .. } = builder;

        device::follow_launching_op(&mut profile);
        profile.host = nest::host(&profile.events);
        profile.merged = nest::merge_wrappers(&profile.events, &mut profile.host);
        profile.tree = nest::combined(&profile);
        device::join(&mut profile, &trace.flows, &tracks);
        device::clip(&mut profile);
        profile.times = crate::times::Times::of(&profile);
        backward::link(&mut profile, &trace.flows, &tracks);
        profile.device = backend::of(&profile, &trace, &classifier, source);
        profile.steps = steps::of(&profile);
        profile.rank = trace.header.rank;
        profile.base_time_ns = trace.header.base_time_ns;
        profile.complain();
        profile
    }

    /// Says what is likely to surprise: an empty window, launches without device work.
    fn complain(&mut self) {
        let any = |kind| self.events.iter().any(|e| e.kind == kind);
        let (ops, calls) = (any(Kind::Op), any(Kind::Runtime));
        if !ops {
            self.log.warn(WarningKind::NoOperators, 0, || {
                "no operators in this window: call prof.step() in the loop and export from on_trace_ready"
                    .to_owned()
            });
        }
        if calls && self.device_events.is_empty() {
            self.log.warn(WarningKind::NoDevice, 0, || {
                "launches were recorded but no device activity was: device times are unknown, not zero"
                    .to_owned()
            });
        }
    }
}

/// `(device, pid, tid)` to the track.
pub(crate) type Tracks = Map<(bool, Symbol, Symbol), TrackId>;

struct Builder {
    profile: Profile,
    tracks: Tracks,
    frames: FrameCache,
}

/// Names repeat: each is read once.
#[derive(Default)]
struct FrameCache {
    callees: Map<Symbol, Callee>,
    calls: Map<Symbol, Option<(Symbol, u32)>>,
}

impl Builder {
    /// Takes over the events that have a part in a profile; tells where device time comes from.
    fn take_events(&mut self, trace: &mut Trace, classifier: &Classifier) -> DeviceSource {
        let ends = pairs::durations(trace);
        let mut strings = std::mem::take(&mut trace.strings);
        let (mut from_kernels, mut from_streams) = (false, false);
        for (at, event) in trace.events.iter().enumerate() {
            let args = trace.args(event);
            let Some(kind) = classifier.kind(event, &args) else { continue };
            let dur = match event.phase {
                Phase::Complete => event.dur_ns.unwrap_or(0),
                Phase::Begin => match ends.get(&at) {
                    Some(&dur) => dur,
                    None => {
                        self.never_ends(strings.text(event.name), event.offset);
                        continue;
                    }
                },
                Phase::End => continue,
            };
            if dur < 0 {
                self.profile.log.warn(WarningKind::Duration, event.offset, || {
                    format!(
                        "{}: negative duration read as 0 (byte {})",
                        strings.text(event.name),
                        event.offset
                    )
                });
            }
            let is_device = matches!(kind, Kind::Device(_) | Kind::DeviceAnnotation);
            if matches!(kind, Kind::Device(_)) {
                let stream = classifier.is_driver(event);
                (from_kernels, from_streams) = (from_kernels || !stream, from_streams || stream);
                if event.start_ns == 0 && dur <= 0 {
                    self.profile.log.warn(WarningKind::Timestamp, event.offset, || {
                        format!("device events without time or duration (first at byte {})", event.offset)
                    });
                }
            }
            let track = self.track(is_device, event.pid, event.tid);
            let dur_ns = dur.max(0).min(i64::MAX - event.start_ns.max(0));
            self.profile.events.push(Event {
                name: event.name,
                kind,
                track,
                start_ns: event.start_ns,
                dur_ns,
            });
            let (mut op, mut frame) = (NONE, NONE);
            if kind == Kind::Frame {
                frame = self.profile.frames.len() as u32;
                let callee = *self.frames.callees.entry(event.name).or_insert_with(|| {
                    let name = strings.text(event.name).to_owned();
                    frames::callee(&name, &mut strings)
                });
                let call_from = args.call_from.and_then(|call| {
                    *self.frames.calls.entry(call).or_insert_with(|| {
                        let text = strings.text(call).to_owned();
                        frames::call_from(&text, &mut strings)
                    })
                });
                self.profile.frames.push(FrameInfo {
                    callee,
                    call_from,
                    ev_idx: args.ev_idx,
                    python_id: args.python_id,
                    parent_id: args.python_parent_id,
                });
            } else {
                let info = OpInfo {
                    ev_idx: args.ev_idx,
                    external_id: args.external_id,
                    correlation: args.correlation,
                    sequence_number: args.sequence_number,
                    fwd_thread_id: args.fwd_thread_id,
                    input_dims: args.input_dims,
                    input_types: args.input_types,
                    concrete_inputs: args.concrete_inputs,
                    call_stack: args.call_stack,
                };
                if info != OpInfo::default() {
                    op = self.profile.ops.len() as u32;
                    self.profile.ops.push(info);
                }
            }
            self.profile.op_of.push(op);
            self.profile.frame_of.push(frame);
        }
        self.profile.strings = strings;
        if from_streams && !from_kernels { DeviceSource::Stream } else { DeviceSource::Kernel }
    }

    fn never_ends(&mut self, name: &str, offset: u64) {
        self.profile.log.skipped += 1;
        self.profile.log.warn(WarningKind::Event, offset, || {
            format!("event at byte {offset} skipped: {name} begins and never ends")
        });
    }

    fn track(&mut self, device: bool, pid: Symbol, tid: Symbol) -> TrackId {
        let tracks = &mut self.profile.tracks;
        *self.tracks.entry((device, pid, tid)).or_insert_with(|| {
            tracks.push(Track { device, pid, tid });
            TrackId((tracks.len() - 1) as u32)
        })
    }
}

impl Kind {
    /// Whether the event is device work that holds time.
    pub(crate) fn is_device_work(self) -> bool {
        matches!(self, Self::Device(DeviceWork::Kernel | DeviceWork::Memcpy | DeviceWork::Memset))
    }

    /// Whether the event is in the host tree.
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Self::Op | Self::Annotation | Self::Runtime | Self::Overhead)
    }
}

impl Profile {
    /// First start and last end, in nanoseconds on the trace's own clock. Device events that carry neither a time nor a
    /// duration do not stretch it; `None` without events.
    pub fn window(&self) -> Option<(i64, i64)> {
        let timed =
            || self.events.iter().filter(|e| !(e.kind.is_device_work() && e.start_ns == 0 && e.dur_ns == 0));
        Some((timed().map(|e| e.start_ns).min()?, timed().map(Event::end_ns).max()?))
    }
}
