//! Which recorded call a `python_function` event is: the one of its name that began when it did.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{CallLines, Place};
use crate::{Event, Phase, Symbol, Trace, WarningKind};

/// When a call began, in nanoseconds since the epoch, and what it is called.
type Key = (i64, Symbol);
type Map<K, V> = HashMap<K, V, FixedState>;

/// The recorded calls of one key.
struct Group {
    count: u32,
    /// Where all of them were made from; `None` where they differ, for then nothing tells which is which.
    place: Option<Place>,
}

impl Trace {
    /// Gives every Python call the line recorded for it, as if the trace had its `CallFrom`. A call for which there is any
    /// doubt gets none. A trace that has call lines of its own keeps these alone.
    pub fn add_call_lines(&mut self, lines: &CallLines) {
        let frames: Vec<usize> =
            (0..self.events.len()).filter(|&at| self.is_frame(&self.events[at])).collect();
        if frames.is_empty() || frames.iter().any(|&at| self.args(&self.events[at]).call_from.is_some()) {
            return;
        }
        let clock = Clock::of(self, &frames);
        let mut counts: Map<Key, u32> = Map::default();
        for key in frames.iter().filter_map(|&at| clock.key(&self.events[at])) {
            *counts.entry(key).or_default() += 1;
        }
        let groups = self.groups(lines, &clock);
        let mut texts: Map<(u32, u32), Symbol> = Map::default();
        let mut joined = false;
        for at in frames {
            let Some(key) = clock.key(&self.events[at]) else { continue };
            let group = groups.get(&key).filter(|group| counts.get(&key) == Some(&group.count));
            let Some(Place { file, line }) = group.and_then(|group| group.place) else { continue };
            let call_from = *texts
                .entry((file, line))
                .or_insert_with(|| self.strings.intern(&format!("{}:{line}", lines.text(file))));
            self.set_call_from(at, call_from);
            joined = true;
        }
        if joined {
            self.recorded_torch = Some(lines.torch.clone());
        } else {
            self.log.warn(WarningKind::CallLines, 0, || {
                "the call lines recorded beside this trace are of another run; they are not used".to_owned()
            });
        }
    }

    fn is_frame(&self, event: &Event) -> bool {
        event.phase == Phase::Complete
            && event.category.is_some_and(|category| self.text(category) == "python_function")
    }

    /// The recorded calls by key; those of names that the trace does not know are left out.
    fn groups(&self, lines: &CallLines, clock: &Clock) -> Map<Key, Group> {
        let names: Vec<Option<Symbol>> = lines.strings.iter().map(|text| self.strings.get(text)).collect();
        let mut groups: Map<Key, Group> = Map::default();
        for call in &lines.calls {
            let Some(name) = names.get(call.name as usize).copied().flatten() else { continue };
            let key = (clock.resolved(call.start_ns), name);
            let group = groups.entry(key).or_insert(Group { count: 0, place: Some(call.place) });
            group.count += 1;
            group.place = group.place.filter(|place| *place == call.place);
        }
        groups
    }

    fn set_call_from(&mut self, at: usize, call_from: Symbol) {
        let event = &mut self.events[at];
        if event.args == Event::NO_ARGS {
            event.args = self.args.len() as u32;
            self.args.push(crate::Args::default());
        }
        if let Some(args) = self.args.get_mut(event.args as usize) {
            args.call_from = Some(call_from);
        }
    }
}

/// How the trace writes times.
struct Clock {
    /// Nanoseconds since the epoch at its zero; before torch 2.4 it counts from the epoch.
    base_ns: i64,
    /// Nanoseconds in what its times are whole multiples of: torch 2.2 cuts them off to microseconds.
    unit_ns: i64,
}

impl Clock {
    fn of(trace: &Trace, frames: &[usize]) -> Self {
        let whole = frames.iter().all(|&at| trace.events[at].start_ns % 1000 == 0);
        Self { base_ns: trace.header.base_time_ns.unwrap_or(0), unit_ns: if whole { 1000 } else { 1 } }
    }

    /// `None` for times that no clock shows.
    fn key(&self, event: &Event) -> Option<Key> {
        Some((self.resolved(event.start_ns.checked_add(self.base_ns)?), event.name))
    }

    /// A time since the epoch, in the trace's units.
    fn resolved(&self, ns: i64) -> i64 {
        ns.div_euclid(self.unit_ns)
    }
}
