//! The list of events: its elements one by one, and how reading goes on behind a damaged one.

use std::sync::atomic::Ordering;

use super::{CANCEL_EVERY, Reader, Stop};
use crate::repair::{self, Quotes, Refusal};
use crate::{ReadError, WarningKind, record, scan};

impl Reader<'_> {
    /// The list of events, from behind its bracket.
    pub(super) fn list(&mut self) -> Result<(), Stop> {
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
        // A list is no event, and a stray bracket must not swallow all that follow.
        if self.bytes[start] == b'[' {
            self.resume(start, scan::next_event(self.bytes, start + 1), false);
            return Ok(());
        }
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
        } else if let Some(end) = scan::last_list_end(self.bytes, start, eof) {
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
}
