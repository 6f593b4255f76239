//! A trace's events to the profile's: what has a part in it, its kind, its track, and what its arguments say.

use trace::{Args, Event as Raw, Interner, Phase, Symbol, Trace, WarningKind};

use crate::classify::Classifier;
use crate::hash::Map;
use crate::model::{Callee, DeviceSource, Event, FrameInfo, Kind, OpInfo, Profile, Track, TrackId};
use crate::{frames, pairs};

/// No entry in a side table.
const NONE: u32 = u32::MAX;

/// `(device, pid, tid)` to the track.
pub(crate) type Tracks = Map<(bool, Symbol, Symbol), TrackId>;

/// What taking over the events gave.
pub(crate) struct Intake {
    pub profile: Profile,
    pub tracks: Tracks,
    /// Where device time comes from, if there is any.
    pub source: DeviceSource,
}

/// Takes over the events that have a part in a profile, and the strings of the trace. The trace keeps none of them.
pub(crate) fn take(trace: &mut Trace, classifier: &Classifier) -> Intake {
    let ends = pairs::durations(trace);
    let mut profile = Profile { log: std::mem::take(&mut trace.log), ..Profile::default() };
    profile.strings = std::mem::take(&mut trace.strings);
    let mut taker =
        Taker { profile, tracks: Tracks::default(), callees: Map::default(), calls: Map::default() };
    let (mut from_kernels, mut from_streams) = (false, false);
    for (at, event) in trace.events.iter().enumerate() {
        let args = trace.args(event);
        let Some(kind) = classifier.kind(event, &args) else {
            if let Some(category) = classifier.unknown(event) {
                taker.note_unknown(event, category);
            }
            continue;
        };
        let Some(dur_ns) = taker.duration(event, ends.get(&at).copied()) else { continue };
        if kind.is_device_work() {
            let stream = classifier.is_driver(event);
            (from_kernels, from_streams) = (from_kernels || !stream, from_streams || stream);
            taker.note_untimed(event, dur_ns);
        }
        taker.push(event, kind, dur_ns, &args);
    }
    trace.forget_events();
    let source = if from_streams && !from_kernels { DeviceSource::Stream } else { DeviceSource::Kernel };
    Intake { profile: taker.profile, tracks: taker.tracks, source }
}

struct Taker {
    profile: Profile,
    tracks: Tracks,
    /// Names repeat: each is read once.
    callees: Map<Symbol, Callee>,
    calls: Map<Symbol, Option<(Symbol, u32)>>,
}

/// Longer than any recording: what a broken clock writes. Sums of shorter ones stay far within 64 bits.
const LONGEST_NS: i64 = 1_000_000_000_000_000;

impl Taker {
    /// The duration in nanoseconds, never negative; `None` for what is no range. `end` is that of a begin's pair.
    fn duration(&mut self, event: &Raw, end: Option<i64>) -> Option<i64> {
        let Raw { name, offset, .. } = *event;
        let log = &mut self.profile.log;
        let dur_ns = match (event.phase, end) {
            (Phase::Complete, _) => event.dur_ns.unwrap_or(0),
            (Phase::Begin, Some(dur_ns)) => dur_ns,
            (Phase::Begin, None) => {
                let name = self.profile.strings.text(name);
                log.skipped += 1;
                log.warn(WarningKind::Event, offset, || {
                    format!("event at byte {offset} skipped: {name} begins and never ends")
                });
                return None;
            }
            (Phase::End, _) => return None,
        };
        if dur_ns < 0 {
            let name = self.profile.strings.text(name);
            log.warn(WarningKind::Duration, offset, || {
                format!("{name}: negative duration read as 0 (byte {offset})")
            });
        }
        if dur_ns > LONGEST_NS {
            let name = self.profile.strings.text(name);
            log.warn(WarningKind::Duration, offset, || {
                format!("{name}: a duration of more than eleven days read as 0 (byte {offset})")
            });
            return Some(0);
        }
        // A range ends within the clock's own range.
        Some(dur_ns.clamp(0, i64::MAX - event.start_ns.max(0)))
    }

    fn note_unknown(&mut self, event: &Raw, category: Symbol) {
        let Profile { log, strings, .. } = &mut self.profile;
        log.warn(WarningKind::Category, event.offset, || {
            format!("events of a category that is not read, the first of {}", strings.text(category))
        });
    }

    fn note_untimed(&mut self, event: &Raw, dur_ns: i64) {
        if event.start_ns == 0 && dur_ns == 0 {
            let offset = event.offset;
            self.profile.log.warn(WarningKind::Timestamp, offset, || {
                format!("device events without a time or a duration (the first at byte {offset})")
            });
        }
    }

    fn push(&mut self, event: &Raw, kind: Kind, dur_ns: i64, args: &Args) {
        let is_device = matches!(kind, Kind::Device(_) | Kind::DeviceAnnotation);
        let track = self.track(is_device, event.pid, event.tid);
        self.profile.events.push(Event { name: event.name, kind, track, start_ns: event.start_ns, dur_ns });
        let (mut op, mut frame) = (NONE, NONE);
        if kind == Kind::Frame {
            frame = self.profile.frames.len() as u32;
            let info = self.frame(event.name, args);
            self.profile.frames.push(info);
        } else {
            let info = op_info(args);
            if info != OpInfo::default() {
                op = self.profile.ops.len() as u32;
                self.profile.ops.push(info);
            }
        }
        self.profile.op_of.push(op);
        self.profile.frame_of.push(frame);
    }

    fn frame(&mut self, name: Symbol, args: &Args) -> FrameInfo {
        let strings = &mut self.profile.strings;
        let callee = *self.callees.entry(name).or_insert_with(|| read(strings, name, frames::callee));
        let call_from = args.call_from.and_then(|call| {
            *self.calls.entry(call).or_insert_with(|| read(strings, call, frames::call_from))
        });
        FrameInfo {
            callee,
            call_from,
            ev_idx: args.ev_idx,
            python_id: args.python_id,
            parent_id: args.python_parent_id,
        }
    }

    fn track(&mut self, device: bool, pid: Symbol, tid: Symbol) -> TrackId {
        let tracks = &mut self.profile.tracks;
        *self.tracks.entry((device, pid, tid)).or_insert_with(|| {
            tracks.push(Track { device, pid, tid });
            TrackId((tracks.len() - 1) as u32)
        })
    }
}

/// Reads a symbol's text with a reader that interns its parts.
fn read<T>(strings: &mut Interner, symbol: Symbol, reader: fn(&str, &mut Interner) -> T) -> T {
    let text = strings.text(symbol).to_owned();
    reader(&text, strings)
}

fn op_info(args: &Args) -> OpInfo {
    OpInfo {
        ev_idx: args.ev_idx,
        external_id: args.external_id,
        correlation: args.correlation,
        sequence_number: args.sequence_number,
        fwd_thread_id: args.fwd_thread_id,
        input_dims: args.input_dims,
        input_types: args.input_types,
        concrete_inputs: args.concrete_inputs,
        call_stack: args.call_stack,
        stacks: args.stacks,
    }
}
