//! The document around the events: its root, its header, its list, and what to do where the text is damaged.
//!
//! Every element of the list goes through `serde_json` first. What it refuses is rewritten if that needs no guess at the
//! structure ([`crate::repair`]); else it is skipped, and reading goes on where the next event seems to begin.

mod list;

use std::sync::atomic::AtomicBool;

use serde_json::value::RawValue;

use crate::collect::Collector;
use crate::repair::{self, Clean, Quotes, Refusal};
use crate::scan::{self, skip_space};
use crate::{ReadError, Trace, WarningKind, header, record};

/// Reads a trace from its (decompressed) bytes.
///
/// `cancel` is looked at about every thousand events.
///
/// # Errors
/// Only where the bytes hold no trace at all, or the read was cancelled; damage is in [`Trace::log`].
pub fn read(bytes: &[u8], cancel: &AtomicBool) -> Result<Trace, ReadError> {
    match Reader::new(bytes, false, cancel).document() {
        Ok(trace) => Ok(trace),
        // Strings read so far may hold a TAB where a path has `\t`: begin anew, every backslash standing for itself.
        Err(Stop::Literal) => match Reader::new(bytes, true, cancel).document() {
            Ok(trace) => Ok(trace),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Literal) => Err(ReadError::NotJson { offset: 0 }),
        },
        Err(Stop::Error(error)) => Err(error),
    }
}

/// Why one pass ends early.
enum Stop {
    /// The file holds escapes that JSON does not know (Windows paths written as they are).
    Literal,
    Error(ReadError),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Self::Error(error)
    }
}

/// Elements between two looks at the cancel flag.
const CANCEL_EVERY: u64 = 1024;
/// How deep `{"traceEvents": {"traceEvents": …` may go.
const WRAPPERS: u32 = 8;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    literal: bool,
    cancel: &'a AtomicBool,
    out: Collector,
    /// A list of events was read.
    found: bool,
    /// Bytes that may still be read a second time. Damage costs as much as the file is long, not more.
    budget: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], literal: bool, cancel: &'a AtomicBool) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let budget = bytes.len().saturating_mul(4).saturating_add(1 << 24);
        Self { bytes, at, literal, cancel, out: Collector::default(), found: false, budget }
    }

    fn document(mut self) -> Result<Trace, Stop> {
        match self.peek() {
            None => return Err(ReadError::Empty.into()),
            Some(b'[') => {
                self.at += 1;
                self.list()?;
                if !self.out.any_event {
                    let why = "a list, but not of events with a phase";
                    return Err(ReadError::NotATrace { offset: 0, why }.into());
                }
            }
            Some(b'{') => {
                self.at += 1;
                self.object(0)?;
                if !self.found {
                    let why = "no list of traceEvents";
                    return Err(ReadError::NotATrace { offset: 0, why }.into());
                }
            }
            Some(_) => return Err(ReadError::NotJson { offset: self.at as u64 }.into()),
        }
        self.trailing();
        Ok(self.out.trace)
    }

    fn peek(&mut self) -> Option<u8> {
        self.at = skip_space(self.bytes, self.at);
        self.bytes.get(self.at).copied()
    }

    fn warn(&mut self, kind: WarningKind, at: usize, words: &str) {
        self.out.trace.log.warn(kind, at as u64, || format!("{words} (byte {at})"));
    }

    fn truncated(&mut self) {
        self.out.trace.log.partial = true;
        self.warn(
            WarningKind::Truncated,
            self.bytes.len(),
            "trace is truncated: the end of the file is missing",
        );
    }

    /// The keys of an object, from behind its brace.
    fn object(&mut self, depth: u32) -> Result<(), Stop> {
        loop {
            match self.peek() {
                None => {
                    if self.found && !self.out.trace.log.partial {
                        self.truncated();
                    }
                    return Ok(());
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b',') => self.at += 1,
                Some(b'"') if self.member(depth)? => {}
                Some(_) if self.found && !self.bytes.trim_ascii_end().ends_with(b"}") => {
                    self.truncated();
                    return Ok(());
                }
                Some(_) => {
                    self.damaged_header();
                    if self.found || !self.jump_to_list() {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn damaged_header(&mut self) {
        self.warn(WarningKind::Json, self.at, "what stands beside traceEvents is damaged and was not read");
    }

    /// Goes to the key of the list if it lies ahead.
    fn jump_to_list(&mut self) -> bool {
        let found = scan::list_key(self.bytes, self.at + 1);
        self.at = found.unwrap_or(self.bytes.len());
        found.is_some()
    }

    /// One key and its value; `false` where neither can be read.
    fn member(&mut self, depth: u32) -> Result<bool, Stop> {
        let Ok((key, length)) = record::one::<&RawValue>(&self.bytes[self.at..]) else { return Ok(false) };
        let colon = skip_space(self.bytes, self.at + length);
        if self.bytes.get(colon) != Some(&b':') {
            return Ok(false);
        }
        let value = skip_space(self.bytes, colon + 1);
        if key.get() == "\"traceEvents\"" {
            match self.bytes.get(value) {
                Some(b'[') if self.found => {
                    self.warn(WarningKind::Corrupt, value, "a second list of traceEvents was left unread");
                }
                Some(b'[') => {
                    self.at = value + 1;
                    self.found = true;
                    return self.list().map(|()| true);
                }
                Some(b'{') if depth < WRAPPERS => {
                    self.at = value + 1;
                    return self.object(depth + 1).map(|()| true);
                }
                _ => {}
            }
        }
        self.value(key.get(), value)
    }

    /// A value of the header.
    fn value(&mut self, key: &str, value: usize) -> Result<bool, Stop> {
        if let Ok((token, length)) = record::one::<&RawValue>(&self.bytes[value..]) {
            header::take(&mut self.out.trace.header, key, token.get());
            self.at = value + length;
            return Ok(true);
        }
        match repair::rewrite(self.bytes, value, self.bytes.len(), self.literal, Quotes::Strict) {
            Ok(clean) => {
                header::take(&mut self.out.trace.header, key, &String::from_utf8_lossy(&clean.text));
                self.notes(&clean);
                self.at = clean.end;
                Ok(true)
            }
            Err(Refusal::Escape(_)) if !self.literal => Err(Stop::Literal),
            Err(_) => {
                self.at = value;
                Ok(false)
            }
        }
    }

    /// What stands behind the root.
    fn trailing(&mut self) {
        if self.peek().is_some() && !self.out.trace.log.partial {
            let at = self.at;
            let kind = if scan::list_key(self.bytes, at).is_some() {
                WarningKind::Corrupt
            } else {
                WarningKind::Json
            };
            self.warn(kind, at, "what follows the end of the trace was left unread");
        }
    }

    fn notes(&mut self, clean: &Clean) {
        for &(kind, at) in &clean.notes {
            let words = match kind {
                WarningKind::Utf8 => "bytes that are not UTF-8 were replaced",
                WarningKind::Number => "a value that is no JSON number was read as null or text",
                WarningKind::Escape => "invalid escapes: every backslash in this file was taken literally",
                _ => "invalid JSON (a quote inside a string, or a comma too many) was read past",
            };
            self.warn(kind, at, words);
        }
    }
}
