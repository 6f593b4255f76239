//! One element of `traceEvents`, read by `serde_json` through visitors written by hand: a key that stands twice must not
//! fail (the last one counts), and what nobody asks for is read past without being built.
//!
//! Values stay raw JSON tokens. `serde_json` checks them without recursion, so no depth of nesting overflows the stack,
//! and numbers keep all their digits.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An event as raw JSON tokens, borrowed from the file.
#[derive(Debug, Default)]
pub(crate) struct Record<'a> {
    pub ph: Option<&'a str>,
    pub name: Option<&'a str>,
    pub cat: Option<&'a str>,
    pub pid: Option<&'a str>,
    pub tid: Option<&'a str>,
    pub ts: Option<&'a str>,
    pub dur: Option<&'a str>,
    pub id: Option<&'a str>,
    pub args: Option<&'a str>,
    /// A whole export stands where an event should.
    pub nested_trace: bool,
}

/// The arguments that are used, as raw JSON tokens.
#[derive(Debug, Default)]
pub(crate) struct RawArgs<'a> {
    pub external_id: Option<&'a str>,
    /// `external id` of the oldest schema.
    pub external_id_old: Option<&'a str>,
    pub correlation: Option<&'a str>,
    pub ev_idx: Option<&'a str>,
    pub sequence_number: Option<&'a str>,
    pub fwd_thread_id: Option<&'a str>,
    pub input_dims: Option<&'a str>,
    pub input_types: Option<&'a str>,
    pub concrete_inputs: Option<&'a str>,
    pub call_stack: Option<&'a str>,
    pub stack: Option<&'a str>,
    pub call_from: Option<&'a str>,
    pub python_id: Option<&'a str>,
    pub python_parent_id: Option<&'a str>,
    pub python_module_id: Option<&'a str>,
    pub stream: Option<&'a str>,
    pub device: Option<&'a str>,
    pub framework_stream_id: Option<&'a str>,
    pub labels: Option<&'a str>,
    pub name: Option<&'a str>,
}

/// An enum of keys, the unknown ones in one, without a string being kept.
macro_rules! keys {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        enum $name { $($variant,)+ Other }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Key;
                impl Visitor<'_> for Key {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a key")
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        Ok(match text { $($text => $name::$variant,)+ _ => $name::Other })
                    }
                }
                deserializer.deserialize_identifier(Key)
            }
        }
    };
}

keys!(EventKey {
    Ph = "ph",
    Name = "name",
    Cat = "cat",
    Pid = "pid",
    Tid = "tid",
    Ts = "ts",
    Dur = "dur",
    Id = "id",
    Args = "args",
    TraceEvents = "traceEvents",
});

keys!(ArgKey {
    ExternalId = "External id",
    ExternalIdOld = "external id",
    Correlation = "correlation",
    EvIdx = "Ev Idx",
    SequenceNumber = "Sequence number",
    FwdThreadId = "Fwd thread id",
    InputDims = "Input Dims",
    InputTypes = "Input type",
    ConcreteInputs = "Concrete Inputs",
    CallStack = "Call stack",
    Stack = "stack",
    CallFrom = "CallFrom",
    PythonId = "Python id",
    PythonParentId = "Python parent id",
    PythonModuleId = "Python module id",
    Stream = "stream",
    Device = "device",
    FrameworkStreamId = "framework_stream_id",
    Labels = "labels",
    Name = "name",
});

impl<'de: 'a, 'a> Deserialize<'de> for Record<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Event;
        impl<'de> Visitor<'de> for Event {
            type Value = Record<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
                let mut out = Record::default();
                while let Some(key) = map.next_key::<EventKey>()? {
                    let slot = match key {
                        EventKey::Ph => &mut out.ph,
                        EventKey::Name => &mut out.name,
                        EventKey::Cat => &mut out.cat,
                        EventKey::Pid => &mut out.pid,
                        EventKey::Tid => &mut out.tid,
                        EventKey::Ts => &mut out.ts,
                        EventKey::Dur => &mut out.dur,
                        EventKey::Id => &mut out.id,
                        EventKey::Args => &mut out.args,
                        EventKey::TraceEvents => {
                            out.nested_trace = true;
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                        EventKey::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *slot = Some(map.next_value::<&'de RawValue>()?.get());
                }
                Ok(out)
            }
        }
        deserializer.deserialize_map(Event)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawArgs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Arguments;
        impl<'de> Visitor<'de> for Arguments {
            type Value = RawArgs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("arguments")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawArgs<'de>, A::Error> {
                let mut out = RawArgs::default();
                while let Some(key) = map.next_key::<ArgKey>()? {
                    let slot = match key {
                        ArgKey::ExternalId => &mut out.external_id,
                        ArgKey::ExternalIdOld => &mut out.external_id_old,
                        ArgKey::Correlation => &mut out.correlation,
                        ArgKey::EvIdx => &mut out.ev_idx,
                        ArgKey::SequenceNumber => &mut out.sequence_number,
                        ArgKey::FwdThreadId => &mut out.fwd_thread_id,
                        ArgKey::InputDims => &mut out.input_dims,
                        ArgKey::InputTypes => &mut out.input_types,
                        ArgKey::ConcreteInputs => &mut out.concrete_inputs,
                        ArgKey::CallStack => &mut out.call_stack,
                        ArgKey::Stack => &mut out.stack,
                        ArgKey::CallFrom => &mut out.call_from,
                        ArgKey::PythonId => &mut out.python_id,
                        ArgKey::PythonParentId => &mut out.python_parent_id,
                        ArgKey::PythonModuleId => &mut out.python_module_id,
                        ArgKey::Stream => &mut out.stream,
                        ArgKey::Device => &mut out.device,
                        ArgKey::FrameworkStreamId => &mut out.framework_stream_id,
                        ArgKey::Labels => &mut out.labels,
                        ArgKey::Name => &mut out.name,
                        ArgKey::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *slot = Some(map.next_value::<&'de RawValue>()?.get());
                }
                Ok(out)
            }
        }
        deserializer.deserialize_map(Arguments)
    }
}

impl<'a> RawArgs<'a> {
    /// The arguments of an event; none where `args` is missing or no object.
    pub(crate) fn of(record: &Record<'a>) -> Self {
        record
            .args
            .filter(|args| args.starts_with('{'))
            .and_then(|args| serde_json::from_str(args).ok())
            .unwrap_or_default()
    }
}

/// Why an element is not strict JSON.
pub(crate) struct Broken {
    /// Byte, counted from the element's start, at which `serde_json` gave up.
    pub at: usize,
    /// The text ended within the element.
    pub eof: bool,
}

/// Reads the element at the start of `bytes`, whatever follows it; gives its length too.
///
/// What is valid JSON but no object (a `null` in the list) gives `None`.
pub(crate) fn strict(bytes: &[u8]) -> Result<(Option<Record<'_>>, usize), Broken> {
    if bytes.first() == Some(&b'{') {
        one::<Record<'_>>(bytes).map(|(r, n)| (Some(r), n))
    } else {
        one::<IgnoredAny>(bytes).map(|(_, n)| (None, n))
    }
}

/// Reads one value at the start of `bytes` and gives its length.
pub(crate) fn one<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, usize), Broken> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<T>();
    match stream.next() {
        Some(Ok(value)) => Ok((value, stream.byte_offset())),
        Some(Err(error)) => Err(Broken { at: offset_of(bytes, &error), eof: error.is_eof() }),
        None => Err(Broken { at: bytes.len(), eof: true }),
    }
}

/// `serde_json` tells line and column; here a byte is wanted.
fn offset_of(bytes: &[u8], error: &serde_json::Error) -> usize {
    let mut start = 0;
    for _ in 1..error.line() {
        start = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
    }
    (start + error.column()).min(bytes.len())
}
