//! Records to a [`Trace`]: tokens become numbers and interned strings, and what cannot be used is counted.

use std::borrow::Cow;

use crate::model::{Args, Event, Flow, FlowEnd, Label, LabelKind, Phase, STACKS_APART, Trace};
use crate::record::{RawArgs, Record};
use crate::{CorrelationId, ExternalId, Symbol, WarningKind, number, text};

/// Gathers the elements of one file.
#[derive(Default)]
pub(crate) struct Collector {
    pub trace: Trace,
    /// Whether any element was an event: what tells an array of events from any other array.
    pub any_event: bool,
}

impl Collector {
    /// Takes an element that could be read; counts it whatever it says.
    pub(crate) fn take(&mut self, record: Option<&Record<'_>>, offset: usize) {
        self.trace.log.events += 1;
        let Some(record) = record else { return self.skip(offset, "it is no object") };
        let Some(phase) = record.ph.and_then(text::of_string) else {
            return self.skip(offset, "it has no phase");
        };
        self.any_event = true;
        match &*phase {
            "X" => self.event(Phase::Complete, record, offset),
            "B" => self.event(Phase::Begin, record, offset),
            "E" => self.event(Phase::End, record, offset),
            "s" => self.flow(FlowEnd::Start, record),
            "f" => self.flow(FlowEnd::Finish, record),
            "M" => self.label(record),
            // Counters, instants, samples, async ranges, and phases yet unknown hold no cost.
            _ => {}
        }
    }

    /// Counts an element that could not be read.
    pub(crate) fn lost(&mut self, offset: usize, why: &str) {
        self.trace.log.events += 1;
        self.skip(offset, why);
    }

    fn skip(&mut self, offset: usize, why: &str) {
        self.trace.log.skipped += 1;
        self.trace
            .log
            .warn(WarningKind::Event, offset as u64, || format!("event at byte {offset} skipped: {why}"));
    }

    fn event(&mut self, phase: Phase, record: &Record<'_>, offset: usize) {
        let name = match record.name.and_then(text::of_string) {
            Some(name) => self.trace.strings.intern(&name),
            None if phase == Phase::End => self.trace.strings.intern(""),
            None => return self.skip(offset, "it has no name"),
        };
        let Some(start_ns) = record.ts.and_then(text::of).and_then(|ts| number::nanoseconds(&ts)) else {
            self.trace.log.skipped += 1;
            let why = || format!("event at byte {offset} skipped: no usable timestamp");
            return self.trace.log.warn(WarningKind::Timestamp, offset as u64, why);
        };
        let dur_ns = record.dur.and_then(text::of).and_then(|dur| number::nanoseconds(&dur));
        if record.dur.is_some() && dur_ns.is_none() {
            let why = || format!("a duration that is no number is read as 0 (byte {offset})");
            self.trace.log.warn(WarningKind::Duration, offset as u64, why);
        }
        let event = Event {
            phase,
            name,
            category: self.optional(record.cat),
            pid: self.symbol(record.pid),
            tid: self.symbol(record.tid),
            start_ns,
            dur_ns,
            offset: offset as u64,
            args: self.args(record),
        };
        self.trace.events.push(event);
    }

    fn args(&mut self, record: &Record<'_>) -> u32 {
        let raw = RawArgs::of(record);
        let number = |token: Option<&str>| token.and_then(text::of).and_then(|text| number::id(&text));
        let args = Args {
            external_id: number(raw.external_id).or_else(|| number(raw.external_id_old)).map(ExternalId),
            // 0 means "none", as -1 does.
            correlation: number(raw.correlation).filter(|&id| id != 0).map(CorrelationId),
            ev_idx: number(raw.ev_idx),
            sequence_number: number(raw.sequence_number),
            fwd_thread_id: number(raw.fwd_thread_id),
            input_dims: raw.input_dims.map(|token| self.trace.strings.intern(token)),
            input_types: raw.input_types.map(|token| self.trace.strings.intern(token)),
            concrete_inputs: raw.concrete_inputs.map(|token| self.trace.strings.intern(token)),
            call_stack: self.optional(raw.call_stack),
            stacks: self.stacks(raw.stack),
            call_from: self.optional(raw.call_from),
            python_id: number(raw.python_id),
            python_parent_id: number(raw.python_parent_id),
            python_module_id: number(raw.python_module_id),
            stream: number(raw.stream),
            device: number(raw.device),
            framework_stream_id: number(raw.framework_stream_id),
        };
        if args == Args::default() {
            return Event::NO_ARGS;
        }
        self.trace.args.push(args);
        (self.trace.args.len() - 1) as u32
    }

    /// One end of an arrow; without an id or a time it joins nothing.
    fn flow(&mut self, end: FlowEnd, record: &Record<'_>) {
        let Some(id) = self.optional(record.id) else { return };
        let Some(at_ns) = record.ts.and_then(text::of).and_then(|ts| number::nanoseconds(&ts)) else {
            return;
        };
        let category = self.optional(record.cat);
        let (pid, tid) = (self.symbol(record.pid), self.symbol(record.tid));
        self.trace.flows.push(Flow { end, category, id, pid, tid, at_ns });
    }

    fn label(&mut self, record: &Record<'_>) {
        let kind = match record.name.and_then(text::of).as_deref() {
            Some("process_name") => LabelKind::ProcessName,
            Some("process_labels") => LabelKind::ProcessLabels,
            Some("thread_name") => LabelKind::ThreadName,
            _ => return,
        };
        let raw = RawArgs::of(record);
        let token = if kind == LabelKind::ProcessLabels { raw.labels } else { raw.name };
        let Some(text) = self.optional(token) else { return };
        let (pid, tid) = (self.symbol(record.pid), self.symbol(record.tid));
        self.trace.labels.push(Label { kind, pid, tid, text });
    }

    /// A list of strings as one text.
    fn stacks(&mut self, token: Option<&str>) -> Option<Symbol> {
        let stacks: Vec<Cow<'_, str>> = serde_json::from_str(token?).ok()?;
        let joined = stacks.join(STACKS_APART.encode_utf8(&mut [0; 4]));
        (!joined.is_empty()).then(|| self.trace.strings.intern(&joined))
    }

    fn optional(&mut self, token: Option<&str>) -> Option<Symbol> {
        token.and_then(text::of).map(|text| self.trace.strings.intern(&text))
    }

    fn symbol(&mut self, token: Option<&str>) -> Symbol {
        let text = token.and_then(text::of).unwrap_or(Cow::Borrowed(""));
        self.trace.strings.intern(&text)
    }
}
