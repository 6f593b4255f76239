//! The document around the events: its root, its header, its list, and what to do where the text is damaged.
//!
//! Every element of the list goes through `serde_json` first. What it refuses is rewritten if that needs no guess at the
//! structure ([`crate::repair`]); else it is skipped, and reading goes on where the next event seems to begin.

use std::sync::atomic::{AtomicBool, Ordering};

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

    /// The list of events, from behind its bracket.
    fn list(&mut self) -> Result<(), Stop> {
        let mut comma_at = None;
        loop {
            match self.peek() {
                None => {
                    self.truncated();
                    return Ok(());
                }
                Some(b']') if scan::list_ends(self.bytes, self.at + 1) => {
                    if let Some(at) = comma_at {
                        self.warn(WarningKind::Json, at, "a comma before the end of the list");
                    }
                    self.at += 1;
                    return Ok(());
                }
                Some(b',') => {
                    comma_at = Some(self.at);
                    self.at += 1;
                }
                Some(_) => {
                    comma_at = None;
                    self.element()?;
                }
            }
        }
    }

    fn element(&mut self) -> Result<(), Stop> {
        if self.out.trace.log.events.is_multiple_of(CANCEL_EVERY) && self.cancel.load(Ordering::Relaxed) {
            return Err(ReadError::Cancelled.into());
        }
        let start = self.at;
        match record::strict(&self.bytes[start..]) {
            Ok((record, length)) if scan::element_ends(self.bytes, start + length) => {
                if record.as_ref().is_some_and(|r| r.ph.is_none() && r.nested_trace) {
                    self.other_export(start);
                } else if self.literal && memchr::memchr(b'\\', &self.bytes[start..start + length]).is_some()
                {
                    return self.damaged(start, false);
                } else {
                    self.out.take(record.as_ref(), start);
                    self.at = start + length;
                }
                Ok(())
            }
            Ok(_) => self.damaged(start, false),
            Err(broken) => {
                self.spend(broken.at);
                self.damaged(start, broken.eof)
            }
        }
    }

    fn spend(&mut self, bytes: usize) {
        self.budget = self.budget.saturating_sub(bytes);
    }

    /// An element that is not strict JSON: rewritten, or skipped.
    fn damaged(&mut self, start: usize, eof: bool) -> Result<(), Stop> {
        if self.budget == 0 {
            self.out.lost(start, "the file is too damaged to go on");
            self.out.trace.log.partial = true;
            self.at = self.bytes.len();
            return Ok(());
        }
        let next = scan::next_event(self.bytes, start + 1);
        for (quotes, limit) in
            [(Quotes::Strict, self.bytes.len()), (Quotes::Guess, next.unwrap_or(self.bytes.len()))]
        {
            match repair::rewrite(self.bytes, start, limit, self.literal, quotes) {
                Ok(clean) if scan::element_ends(self.bytes, clean.end) => {
                    if let Ok((Some(record), _)) = record::strict(&clean.text)
                        && record.ph.is_some()
                    {
                        self.out.take(Some(&record), start);
                        self.notes(&clean);
                        self.at = clean.end;
                        return Ok(());
                    }
                }
                Ok(clean) => self.spend(clean.end - start),
                Err(Refusal::Escape(_)) if !self.literal => return Err(Stop::Literal),
                Err(Refusal::Structure(at) | Refusal::Escape(at)) => self.spend(at.saturating_sub(start)),
                Err(Refusal::End) => self.spend(limit - start),
            }
        }
        self.resume(start, next, eof);
        Ok(())
    }

    /// Counts the element at `start` as lost and goes to where the next one begins.
    fn resume(&mut self, start: usize, mut next: Option<usize>, eof: bool) {
        // An object within the damaged event may look like an event; a real one has a phase.
        while let Some(at) = next {
            match record::strict(&self.bytes[at..]) {
                Ok((record, _)) if record.as_ref().is_none_or(|r| r.ph.is_none()) => {
                    next = scan::next_event(self.bytes, at + 1);
                }
                _ => break,
            }
        }
        if scan::other_export(self.bytes, start, next.unwrap_or(self.bytes.len())).is_some() {
            return self.other_export(start);
        }
        if let Some(at) = next {
            self.out.lost(start, "it is not valid JSON");
            self.at = at;
        } else if let Some(end) = scan::last_list_end(self.bytes, start) {
            self.out.lost(start, "it is not valid JSON");
            self.at = end;
        } else {
            self.out.lost(start, if eof { "the file ends within it" } else { "it is not valid JSON" });
            self.truncated();
            self.at = self.bytes.len();
        }
    }

    /// Another export begins at `start`, inside this one's list: its events must not be counted with these.
    fn other_export(&mut self, start: usize) {
        self.out.trace.log.partial = true;
        self.warn(
            WarningKind::Corrupt,
            start,
            "trace is corrupt: another export begins inside it and was left unread; did several ranks write to one file?",
        );
        self.at = self.bytes.len();
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
