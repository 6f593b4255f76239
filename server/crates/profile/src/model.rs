//! The model built from a trace. Immutable once built; everything downstream reads it through these accessors.

use std::collections::HashMap;

use crate::times::Times;
use trace::{CorrelationId, ExternalId, ImportLog, Interner, Symbol};

/// An event of [`Profile::events`]: its index there, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub u32);

/// A host thread or device stream: an index into [`Profile::tracks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrackId(pub u32);

/// What an event is, whatever its writer calls the category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `cpu_op` (`Operator` in old schemas).
    Op,
    /// `user_annotation`: `record_function`, `ProfilerStep#N`, optimizer steps.
    Annotation,
    /// `python_function`.
    Frame,
    /// `*_runtime` and `*_driver`: host calls, launches among them.
    Runtime,
    /// `overhead`: the profiler's own work.
    Overhead,
    /// Work on the device.
    Device(DeviceWork),
    /// `gpu_user_annotation`: a range drawn on the device's timeline; holds no device time.
    DeviceAnnotation,
}

/// What the device did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceWork {
    Kernel,
    Memcpy,
    Memset,
}

/// One complete event (`ph: X`).
#[derive(Debug, Clone, Copy)]
pub struct Event {
    pub name: Symbol,
    pub kind: Kind,
    pub track: TrackId,
    /// Nanoseconds on the trace's own clock (`baseTimeNanoseconds` not added).
    pub start_ns: i64,
    /// Never negative.
    pub dur_ns: i64,
}

impl Event {
    /// Where the event ends, in nanoseconds.
    pub fn end_ns(&self) -> i64 {
        self.start_ns + self.dur_ns
    }
}

/// What the arguments of an op, annotation, runtime call or device event say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpInfo {
    /// `Ev Idx`: torch's own number of the event.
    pub ev_idx: Option<u64>,
    pub external_id: Option<ExternalId>,
    pub correlation: Option<CorrelationId>,
    /// `Sequence number`: joins a forward op and its autograd node.
    pub sequence_number: Option<u64>,
    /// `Fwd thread id`: non-zero on ops that run in backward. A logical id, not a JSON `tid`.
    pub fwd_thread_id: Option<u64>,
    /// `Input Dims`, `Input type`, `Concrete Inputs`: raw JSON text.
    pub input_dims: Option<Symbol>,
    pub input_types: Option<Symbol>,
    pub concrete_inputs: Option<Symbol>,
    /// `Call stack` of torch 1.8 to 1.12 and of `torch_npu`: `;`-separated frames.
    pub call_stack: Option<Symbol>,
    /// Of a compiled kernel: the stacks of what was fused into it, [`trace::STACKS_APART`] between them.
    pub stacks: Option<Symbol>,
}

/// What a Python frame's name says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callee {
    /// `path.py(12): function`.
    Python { file: Symbol, line: u32, function: Symbol },
    /// `<built-in method rsqrt of type object at 0x…>`: `name` is `rsqrt`, `owner` `type`.
    Builtin { name: Symbol, owner: Option<Symbol> },
    /// `nn.Module: Linear_0`: `class` is `Linear`, `instance` `Linear_0`.
    Module { class: Symbol, instance: Symbol },
    /// Anything else; kept as plain text.
    Other,
}

/// What a `python_function` event's name and arguments say.
#[derive(Debug, Clone, Copy)]
pub struct FrameInfo {
    pub callee: Callee,
    /// `CallFrom` (torch 2.14 on): file and line of the call.
    pub call_from: Option<(Symbol, u32)>,
    pub ev_idx: Option<u64>,
    pub python_id: Option<u64>,
    pub parent_id: Option<u64>,
}

/// How a device event found the host event that its time belongs to, in order of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Join {
    ExternalId,
    Correlation,
    Flow,
    None,
}

/// A kernel, copy or fill, and the host event it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct DeviceEvent {
    pub event: EventId,
    /// The op, annotation or launch that gets the time as its self device time.
    pub target: Option<EventId>,
    /// The runtime or driver call with the same correlation.
    pub launch: Option<EventId>,
    pub join: Join,
    /// The duration up to the next event of the same stream: what busy time and shares use. At most `dur_ns`.
    pub busy_ns: i64,
}

/// Which kind of accelerator the trace is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceKind {
    Cuda,
    Hip,
    Xpu,
    Mtia,
    Npu,
    PrivateUse1,
}

/// Where device time was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceSource {
    /// kernel, memcpy and memset events.
    Kernel,
    /// `*_driver` events on lanes labelled as a device.
    Stream,
}

/// The accelerator of a trace. Absent when no device activity was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub kind: DeviceKind,
    /// The backend's own name, upper case, for column heads: `NEURON`, `CUDA`.
    pub name: String,
    pub source: DeviceSource,
}

/// One `ProfilerStep#N`.
#[derive(Debug, Clone)]
pub struct Step {
    pub event: EventId,
    /// Σ of the device events launched in it.
    pub device_ns: i64,
    /// Whether everything launched in it was recorded.
    pub complete: bool,
}

/// A host thread or device stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    pub device: bool,
    /// `pid` and `tid` as the file writes them, numbers or text.
    pub pid: Symbol,
    pub tid: Symbol,
}

/// The model of one trace.
#[derive(Debug, Default)]
pub struct Profile {
    pub(crate) strings: Interner,
    pub(crate) events: Vec<Event>,
    /// Per event: what the arguments say; `NONE` where they say nothing.
    pub(crate) ops: Vec<OpInfo>,
    pub(crate) op_of: Vec<u32>,
    pub(crate) frames: Vec<FrameInfo>,
    pub(crate) frame_of: Vec<u32>,
    pub(crate) tracks: Vec<Track>,
    /// The tree of frames, ops, annotations and runtime calls of each host track.
    pub(crate) tree: Tree,
    /// The tree of ops, annotations, runtime calls and overhead (no frames), before the removal of wrappers of one name.
    pub(crate) host: Tree,
    /// Events that the removal of wrappers merged into their parent of the same name.
    pub(crate) merged: Vec<Option<EventId>>,
    pub(crate) device_events: Vec<DeviceEvent>,
    pub(crate) forward: Vec<Option<EventId>>,
    pub(crate) times: Times,
    pub device: Option<Device>,
    pub steps: Vec<Step>,
    pub rank: Option<i64>,
    /// The version of torch, where its call lines were recorded beside the trace; the trace itself does not say.
    pub recorded_torch: Option<String>,
    /// The hash of each source as it was in the run, by the file as frames name it, where it was recorded beside the trace.
    pub recorded_sources: HashMap<String, [u8; 32]>,
    /// Nanoseconds since the epoch at which the trace's own clock has its zero.
    pub base_time_ns: Option<i64>,
    /// Union over streams of the busy device time.
    pub device_busy_ns: i64,
    pub log: ImportLog,
}

/// Parents and children, children in order of start.
#[derive(Debug, Default)]
pub struct Tree {
    pub(crate) parent: Vec<Option<EventId>>,
    pub(crate) first_child: Vec<u32>,
    pub(crate) children: Vec<EventId>,
    pub(crate) order: Vec<EventId>,
}

impl Tree {
    /// `order` holds the members, parents before their children, siblings by start.
    pub(crate) fn new(parent: Vec<Option<EventId>>, order: Vec<EventId>) -> Self {
        let mut first_child = vec![0_u32; parent.len() + 1];
        for up in order.iter().filter_map(|id| parent[id.0 as usize]) {
            first_child[up.0 as usize + 1] += 1;
        }
        for at in 1..first_child.len() {
            first_child[at] += first_child[at - 1];
        }
        let mut next = first_child.clone();
        let mut children = vec![EventId(0); first_child.last().copied().unwrap_or(0) as usize];
        for &id in &order {
            if let Some(up) = parent[id.0 as usize] {
                let at = &mut next[up.0 as usize];
                children[*at as usize] = id;
                *at += 1;
            }
        }
        Self { parent, first_child, children, order }
    }

    /// The members, parents before their children, track by track. Walked backwards, children come before parents.
    pub fn order(&self) -> &[EventId] {
        &self.order
    }

    pub fn parent(&self, id: EventId) -> Option<EventId> {
        self.parent.get(id.0 as usize).copied().flatten()
    }

    pub fn children(&self, id: EventId) -> &[EventId] {
        let at = id.0 as usize;
        match (self.first_child.get(at), self.first_child.get(at + 1)) {
            (Some(&from), Some(&to)) => &self.children[from as usize..to as usize],
            _ => &[],
        }
    }
}

impl Profile {
    /// All complete events, in file order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn ids(&self) -> impl Iterator<Item = EventId> + use<> {
        (0..self.events.len() as u32).map(EventId)
    }

    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.0 as usize]
    }

    /// The text of a symbol of this profile.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.text(symbol)
    }

    pub fn name(&self, id: EventId) -> &str {
        self.strings.text(self.event(id).name)
    }

    /// What the arguments of a non-frame event say.
    pub fn info(&self, id: EventId) -> OpInfo {
        self.op_of.get(id.0 as usize).and_then(|&at| self.ops.get(at as usize)).copied().unwrap_or_default()
    }

    /// What a `python_function` event says; `None` for every other kind.
    pub fn frame(&self, id: EventId) -> Option<&FrameInfo> {
        self.frame_of.get(id.0 as usize).and_then(|&at| self.frames.get(at as usize))
    }

    /// The stacks of what was fused into a compiled kernel, as Python prints them; none where the trace has none.
    pub fn stacks(&self, kernel: EventId) -> impl Iterator<Item = &str> {
        let stacks = self.info(kernel).stacks.map(|symbol| self.text(symbol));
        stacks.into_iter().flat_map(|stacks| stacks.split(trace::STACKS_APART))
    }

    pub fn track(&self, id: TrackId) -> &Track {
        &self.tracks[id.0 as usize]
    }

    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Frames, ops, annotations and runtime calls nested by time, thread by thread (merged wrappers still in it).
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Ops, annotations, runtime calls and overhead nested by time; frames are not in it. Wrappers are merged.
    pub fn host(&self) -> &Tree {
        &self.host
    }

    /// The event that stands for this one in tables when a wrapper of the same name was merged (torch's rule: nested
    /// `aten::div_` counts once).
    pub fn merged_into(&self, id: EventId) -> Option<EventId> {
        self.merged.get(id.0 as usize).copied().flatten()
    }

    pub fn device_events(&self) -> &[DeviceEvent] {
        &self.device_events
    }

    /// For an op of the backward pass: the forward op it differentiates (flow first, then the last-started forward op of
    /// that sequence number).
    pub fn forward_of(&self, id: EventId) -> Option<EventId> {
        self.forward.get(id.0 as usize).copied().flatten()
    }

    /// Whether an op runs in the backward pass: an autograd node, or an op with a forward thread.
    pub fn is_backward(&self, id: EventId) -> bool {
        self.name(id).starts_with("autograd::engine::evaluate_function")
            || self.info(id).fwd_thread_id.is_some_and(|thread| thread != 0)
    }

    /// Whether anything in the trace names a line of Python: a frame, or a recorded call stack.
    pub fn has_stacks(&self) -> bool {
        self.ids().any(|id| self.event(id).kind == Kind::Frame || self.info(id).call_stack.is_some())
    }

    /// Σ of all device events, in nanoseconds.
    pub fn device_total_ns(&self) -> i64 {
        self.device_events.iter().map(|d| self.event(d.event).dur_ns).sum()
    }
}
