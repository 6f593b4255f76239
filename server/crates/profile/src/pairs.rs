//! `B` and `E` events: a begin is closed by the next end of its thread, the innermost first.

use trace::{Phase, Trace};

use crate::hash::Map;

/// For each begin that has an end: its place in [`Trace::events`] and its duration in nanoseconds.
///
/// `b` and `e` (async ranges) are no such pairs: they have no nesting, and hold no cost.
pub(crate) fn durations(trace: &Trace) -> Map<usize, i64> {
    let mut open: Map<_, Vec<usize>> = Map::default();
    let mut durations = Map::default();
    for (at, event) in trace.events.iter().enumerate() {
        let thread = (event.pid, event.tid);
        match event.phase {
            Phase::Complete => {}
            Phase::Begin => open.entry(thread).or_default().push(at),
            Phase::End => {
                if let Some(begin) = open.get_mut(&thread).and_then(Vec::pop) {
                    durations.insert(begin, event.start_ns.saturating_sub(trace.events[begin].start_ns));
                }
            }
        }
    }
    durations
}
