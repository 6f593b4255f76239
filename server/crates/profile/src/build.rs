//! A trace to a [`Profile`], step by step: events and tracks, trees, device joins, backward links, steps.

use trace::{Trace, WarningKind};

use crate::classify::Classifier;
use crate::intake::{self, Intake};
use crate::model::{Event, Kind, Profile};
use crate::times::Times;
use crate::{backend, backward, device, nest, steps};

impl Profile {
    /// Builds the model of a trace. Never fails: what is missing or odd is in [`Profile::log`].
    pub fn build(mut trace: Trace) -> Self {
        let classifier = Classifier::new(&trace);
        let Intake { mut profile, tracks, source } = intake::take(&mut trace, &classifier);
        device::drop_aliases(&mut profile);
        device::follow_launching_op(&mut profile);
        profile.host = nest::host(&profile.events);
        profile.merged = nest::merge_wrappers(&profile.events, &mut profile.host);
        profile.tree = nest::combined(&profile);
        device::join(&mut profile, &trace.flows, &tracks);
        device::clip(&mut profile);
        profile.times = Times::of(&profile);
        backward::link(&mut profile, &trace.flows, &tracks);
        profile.device = backend::of(&profile, &trace, &classifier, source);
        profile.steps = steps::of(&profile);
        profile.rank = trace.header.rank;
        profile.recorded_torch = trace.recorded_torch;
        profile.recorded_sources = trace.recorded_sources;
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

impl Kind {
    /// Whether the event is device work that holds time.
    pub(crate) fn is_device_work(self) -> bool {
        matches!(self, Self::Device(_))
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
