//! What a trace file says, event by event, before any meaning is read into it.

use std::collections::HashMap;

use crate::{CorrelationId, ExternalId, ImportLog, Interner, Symbol};

/// The phases that a profile is built from. Counters, instants, samples and async events are seen and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// `X`: start and duration.
    Complete,
    /// `B`: opened here, closed by the next `E` of its thread.
    Begin,
    /// `E`.
    End,
}

/// An event on a host thread or a device stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub phase: Phase,
    pub name: Symbol,
    pub category: Option<Symbol>,
    /// As the file writes them, numbers or text; `""` where there is none.
    pub pid: Symbol,
    pub tid: Symbol,
    /// Nanoseconds on the trace's own clock.
    pub start_ns: i64,
    /// Nanoseconds, maybe negative; `None` where the file gives none.
    pub dur_ns: Option<i64>,
    /// Byte at which the event begins in the decompressed file.
    pub offset: u64,
    pub(crate) args: u32,
}

/// What stands between the stacks of [`Args::stacks`]: a character that no source text has.
pub const STACKS_APART: char = '\0';

/// The arguments of an event that a profile uses; all others are read past.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Args {
    pub external_id: Option<ExternalId>,
    pub correlation: Option<CorrelationId>,
    pub ev_idx: Option<u64>,
    pub sequence_number: Option<u64>,
    pub fwd_thread_id: Option<u64>,
    /// Raw JSON text, as the next two.
    pub input_dims: Option<Symbol>,
    pub input_types: Option<Symbol>,
    pub concrete_inputs: Option<Symbol>,
    /// `Call stack` of torch 1.8 to 1.12 and of `torch_npu`.
    pub call_stack: Option<Symbol>,
    /// `stack` of compiled kernels: the texts of the stacks, [`STACKS_APART`] between them.
    pub stacks: Option<Symbol>,
    /// `CallFrom` of torch 2.14 on: `path:line`.
    pub call_from: Option<Symbol>,
    pub python_id: Option<u64>,
    pub python_parent_id: Option<u64>,
    pub python_module_id: Option<u64>,
    pub stream: Option<u64>,
    pub device: Option<u64>,
    /// Set on the stream events of `PrivateUse1` backends, which come as driver events.
    pub framework_stream_id: Option<u64>,
}

/// Which end of an arrow a flow event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowEnd {
    /// `s`.
    Start,
    /// `f`.
    Finish,
}

/// One end of an arrow. Ends belong together by category and id: every category numbers from 1 by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub end: FlowEnd,
    pub category: Option<Symbol>,
    /// As text: some writers use numbers, some 26-digit strings.
    pub id: Symbol,
    pub pid: Symbol,
    pub tid: Symbol,
    pub at_ns: i64,
}

/// What a metadata event names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LabelKind {
    /// `process_name`.
    ProcessName,
    /// `process_labels`: `CPU`, `GPU 0`, `NEURON 0`.
    ProcessLabels,
    /// `thread_name`.
    ThreadName,
}

/// A name given to a process or thread by a metadata event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    pub kind: LabelKind,
    pub pid: Symbol,
    pub tid: Symbol,
    pub text: Symbol,
}

/// What stands beside `traceEvents`, before or after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    pub schema_version: Option<u64>,
    /// Nanoseconds since the epoch at which the trace's own clock has its zero (2.4 and later).
    pub base_time_ns: Option<i64>,
    /// `distributedInfo.rank`.
    pub rank: Option<i64>,
    /// The `name` of every entry of `deviceProperties`.
    pub device_names: Vec<String>,
    pub with_stack: Option<bool>,
    pub record_shapes: Option<bool>,
}

/// A trace as read: events, arrows and labels in file order.
#[derive(Debug, Default)]
pub struct Trace {
    pub strings: Interner,
    pub header: Header,
    pub events: Vec<Event>,
    pub flows: Vec<Flow>,
    pub labels: Vec<Label>,
    /// The version of torch that wrote the call lines which were recorded beside the trace, if any are used.
    pub recorded_torch: Option<String>,
    /// The hash of each source as it was in the run, by the file as frames name it, where it was recorded beside the trace.
    pub recorded_sources: HashMap<String, [u8; 32]>,
    pub log: ImportLog,
    pub(crate) args: Vec<Args>,
}

impl Event {
    pub(crate) const NO_ARGS: u32 = u32::MAX;
}

impl Trace {
    /// The arguments of an event of this trace.
    pub fn args(&self, event: &Event) -> Args {
        self.args.get(event.args as usize).copied().unwrap_or_default()
    }

    /// Frees the events and their arguments, once they are taken over.
    pub fn forget_events(&mut self) {
        self.events = Vec::new();
        self.args = Vec::new();
    }

    /// The text of a symbol of this trace.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.text(symbol)
    }
}
