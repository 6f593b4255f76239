//! Which recorded call a `python_function` event is: the one of its name that began when it did.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{Call, CallLines, Place};
use crate::{Event, Phase, Symbol, Trace, WarningKind};

/// When a call began, in nanoseconds since the epoch, and what it is called.
type Key = (i64, Symbol);
type Map<K, V> = HashMap<K, V, FixedState>;

/// The calls of one key, on either side.
#[derive(Default)]
struct Group {
    /// Indices of the trace's events.
    events: Vec<usize>,
    recorded: Vec<Call>,
}

impl Trace {
    /// Gives every Python call the line recorded for it, as if the trace had its `CallFrom`. A call for which there is any
    /// doubt gets none. A trace that has call lines of its own keeps these alone. The hashes of the sources are taken over
    /// where any call shows that they are of this run.
    pub fn add_call_lines(&mut self, lines: &CallLines) {
        let frames: Vec<usize> =
            (0..self.events.len()).filter(|&at| self.is_frame(&self.events[at])).collect();
        if frames.is_empty() {
            return;
        }
        let has_own = frames.iter().any(|&at| self.args(&self.events[at]).call_from.is_some());
        let clock = Clock::of(self, &frames);
        let mut groups: Map<Key, Group> = Map::default();
        for at in frames {
            if let Some(key) = clock.key(&self.events[at]) {
                groups.entry(key).or_default().events.push(at);
            }
        }
        self.add_recorded(lines, &clock, &mut groups);
        let mut texts: Map<Place, Symbol> = Map::default();
        let mut joined = false;
        for mut group in groups.into_values() {
            if !self.pair(&mut group) {
                continue;
            }
            joined = true;
            if has_own {
                break;
            }
            for (at, Call { place, .. }) in group.events.into_iter().zip(group.recorded) {
                let text = || format!("{}:{}", lines.text(place.file), place.line);
                let call_from = *texts.entry(place).or_insert_with(|| self.strings.intern(&text()));
                self.set_call_from(at, call_from);
            }
        }
        if joined {
            self.recorded_torch = Some(lines.torch.clone()).filter(|_| !has_own);
            self.recorded_sources.clone_from(&lines.sources);
        } else if !has_own {
            self.log.warn(WarningKind::CallLines, 0, || {
                "the call lines recorded beside this trace are of another run; they are not used".to_owned()
            });
        }
    }

    fn is_frame(&self, event: &Event) -> bool {
        event.phase == Phase::Complete
            && event.category.is_some_and(|category| self.text(category) == "python_function")
    }

    /// Puts the recorded calls to the events of their keys.
    fn add_recorded(&self, lines: &CallLines, clock: &Clock, groups: &mut Map<Key, Group>) {
        let names: Vec<Option<Symbol>> = lines.strings.iter().map(|text| self.strings.get(text)).collect();
        for call in &lines.calls {
            let Some(name) = names.get(call.name as usize).copied().flatten() else { continue };
            if let Some(group) = groups.get_mut(&(clock.resolved(call.start_ns), name)) {
                group.recorded.push(*call);
            }
        }
    }

    /// Brings both sides of a group into one order; `false` where it is not known which call is which.
    fn pair(&self, Group { events, recorded }: &mut Group) -> bool {
        if events.len() != recorded.len() {
            return false;
        }
        if recorded.windows(2).all(|two| two[0].place == two[1].place) {
            return true;
        }
        // Within a microsecond that the trace does not divide: torch numbers the calls of a thread as they begin.
        let number = |&at: &usize| self.args(&self.events[at]).python_id;
        let thread = |at: usize| (self.events[at].pid, self.events[at].tid);
        events.sort_by_key(number);
        recorded.sort_by_key(|call| call.start_ns);
        let numbered = events.windows(2).all(|two| {
            thread(two[0]) == thread(two[1]) && number(&two[0]).is_some() && number(&two[0]) < number(&two[1])
        });
        numbered && recorded.windows(2).all(|two| two[0].start_ns < two[1].start_ns)
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
