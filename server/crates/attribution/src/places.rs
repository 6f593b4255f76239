//! Where an event belongs: its file, its function, its line, and how that is known.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use profile::{EventId, Kind, Profile};

use crate::FileId;
use crate::call_stack;
use crate::charges::is_region;
use crate::frames::{Frames, FunctionKey};
use crate::kernel_stack::{self, Fused};
use crate::readings::{Reading, Readings, Spot};

/// A place in the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub file: FileId,
    pub function: FunctionKey,
    pub reading: Reading,
    pub why: &'static str,
    /// The text there is not the text that was profiled.
    pub stale: bool,
}

pub(crate) struct Places<'a> {
    frames: &'a Frames<'a>,
    readings: Readings<'a>,
    /// Compiled kernels whose stacks the trace has, by the op or call that launched them.
    compiled: HashMap<EventId, Vec<EventId>>,
}

impl<'a> Places<'a> {
    pub fn new(frames: &'a Frames<'a>, launches: &'a HashSet<EventId>) -> Self {
        Self { frames, readings: Readings::new(frames, launches), compiled: compiled(frames.profile) }
    }

    /// The lines of the kernel that an event in a compiled region launched, where the trace names them.
    pub fn of_compiled(&self, event: EventId) -> Option<Placed> {
        let kernels = self.compiled.get(&event)?;
        let stacks = kernels.iter().flat_map(|&kernel| self.frames.profile.stacks(kernel));
        let Fused { file, function, lines } = kernel_stack::read(self.frames.files, stacks)?;
        let (reading, why) = match lines[..] {
            [line] => (Reading::Exact(Spot::line(line)), "the compiled kernel's stack names the line"),
            _ => (Reading::Ambiguous(lines), "these lines were fused into one kernel"),
        };
        Some(Placed { file, function, reading, why, stale: false })
    }

    /// The place of an op or launch; `None` when no frame around it is in the sources.
    pub fn of(&self, event: EventId) -> Option<Placed> {
        let Some((frame, located, inner)) = self.frames.innermost(event) else {
            return self.of_call_stack(event);
        };
        let read = self.readings.of(frame, &located);
        let child = self.child_below(frame, event);
        // The line of the call that led here: of the frame just inside, or else of what lies directly below.
        let direct = read.of(child);
        let named =
            inner.and_then(|inner| read.of(inner)).filter(|reading| matches!(reading, Reading::Exact(_)));
        let reading = match (named, direct) {
            (Some(exact), _) => exact.clone(),
            (None, Some(reading)) => reading.clone(),
            (None, None) => Reading::Unknown("it is not seen below the function"),
        };
        let why = match &reading {
            Reading::Exact(_) => "the trace names the line of the call",
            Reading::Aligned(_) => "the only line of the function that fits the order of events",
            Reading::Ambiguous(_) => "several lines of the function fit equally well",
            Reading::Unknown(why) => why,
        };
        let function = located.function.clone();
        Some(Placed { file: located.file, function, reading, why, stale: read.stale })
    }

    /// The place where a range was opened. `record_function` starts it within `__enter__` and ends it in `__exit__`, so in
    /// the tree it lies beside the call that opened it.
    pub fn of_range(&self, range: EventId) -> Option<Placed> {
        let profile = self.frames.profile;
        let start_ns = profile.event(range).start_ns;
        let siblings = profile.tree().parent(range).map_or(&[][..], |parent| profile.tree().children(parent));
        let opener = siblings.iter().rev().find(|&&sibling| {
            let event = profile.event(sibling);
            event.kind == Kind::Frame && event.start_ns <= start_ns && start_ns <= event.end_ns()
        });
        self.of(opener.copied().unwrap_or(range))
    }

    /// The ancestor of `event`, or itself, that is seen directly below `frame`: annotations and calls are looked through.
    fn child_below(&self, frame: EventId, event: EventId) -> EventId {
        let tree = self.frames.profile.tree();
        let mut seen = event;
        let mut at = event;
        while let Some(parent) = tree.parent(at) {
            if parent == frame {
                break;
            }
            if matches!(self.frames.profile.event(parent).kind, Kind::Op | Kind::Frame) {
                seen = parent;
            }
            at = parent;
        }
        seen
    }

    /// The backward op that an event is part of: one around it, with no frame of the sources in between.
    pub fn enclosing_backward(&self, event: EventId) -> Option<EventId> {
        let profile = self.frames.profile;
        let tree = profile.tree();
        std::iter::successors(tree.parent(event), |&at| tree.parent(at))
            .take_while(|&at| self.frames.locate(at).is_none())
            .find(|&at| profile.event(at).kind == Kind::Op && profile.is_backward(at))
    }

    fn of_call_stack(&self, event: EventId) -> Option<Placed> {
        if self.frames.around(event).next().is_some() {
            return None;
        }
        let stack = self.frames.profile.info(event).call_stack?;
        let called = call_stack::read(self.frames.files, self.frames.profile.text(stack))?;
        let (reading, why) = match called.line {
            Some(line) => (Reading::Exact(Spot::line(line)), "the recorded call stack names the line"),
            None => {
                let why = "the recorded call stack names the function only";
                (Reading::Unknown(why), why)
            }
        };
        Some(Placed { file: called.file, function: called.function, reading, why, stale: called.stale })
    }

    /// Whether the trace itself names the line of an op, or the lines of the kernel it launched.
    pub fn names_line(&self, event: EventId) -> bool {
        self.of_compiled(event).is_some()
            || self.of(event).is_some_and(|placed| matches!(placed.reading, Reading::Exact(_)))
    }

    /// The functions of the sources around an event, each once.
    pub fn functions_around(&self, event: EventId) -> Rc<[(FileId, FunctionKey)]> {
        let mut around: Vec<(FileId, FunctionKey)> = Vec::new();
        for frame in self.frames.around(event) {
            let Some(located) = self.frames.locate(frame) else { continue };
            let is_function = located.fit.is_none_or(|fit| {
                self.frames.scope(located.file, fit.scope).kind == source::ScopeKind::Function
            });
            if is_function && !self.frames.is_anonymous_frame(frame) {
                around.push((located.file, located.function.clone()));
            }
        }
        if around.is_empty()
            && let Some(placed) = self.of_call_stack(event)
        {
            around.push((placed.file, placed.function));
        }
        around.sort_unstable();
        around.dedup();
        around.into()
    }
}

/// Kernels with stacks by what launched them: the call, and the op that does nothing else.
fn compiled(profile: &Profile) -> HashMap<EventId, Vec<EventId>> {
    let mut compiled: HashMap<EventId, Vec<EventId>> = HashMap::new();
    for device in profile.device_events().iter().filter(|d| profile.info(d.event).stacks.is_some()) {
        let around = device.launch.and_then(|launch| profile.tree().parent(launch));
        let target = device.target.filter(|&target| device.launch.is_none() || Some(target) == around);
        let op = target.filter(|&op| profile.event(op).kind == Kind::Op && !is_region(profile, op));
        let mut hosts = vec![device.launch, op];
        hosts.dedup();
        for host in hosts.into_iter().flatten() {
            compiled.entry(host).or_default().push(device.event);
        }
    }
    compiled
}
