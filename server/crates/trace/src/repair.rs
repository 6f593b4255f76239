//! One damaged element rewritten as strict JSON, where that can be done without guessing at its structure.
//!
//! Read past: invalid escapes, raw control bytes, bytes that are not UTF-8, bare tokens such as `NaN`, commas too many,
//! and (in [`Quotes::Guess`]) quotes inside a string. Everything else is refused, and the caller skips the element.

use crate::WarningKind;
use crate::scan::skip_space;

/// How a string's end is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// At the next quote, as JSON says.
    Strict,
    /// At the next quote behind which JSON could go on; quotes before it belong to the text.
    Guess,
}

/// An element made readable.
pub(crate) struct Clean {
    pub text: Vec<u8>,
    /// Where the element ends in the original.
    pub end: usize,
    /// What was done, each with its first place.
    pub notes: Vec<(WarningKind, usize)>,
}

/// Why an element cannot be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// An escape that JSON does not know, at this byte: the whole file's backslashes must be taken literally.
    Escape(usize),
    /// The structure is damaged.
    Structure(usize),
    /// The text ends within the element.
    End,
}

/// Rewrites the element that begins at `start` and must end before `limit`.
///
/// With `literal`, backslashes stand for themselves, but for those before a quote or another backslash.
pub(crate) fn rewrite(
    bytes: &[u8],
    start: usize,
    limit: usize,
    literal: bool,
    quotes: Quotes,
) -> Result<Clean, Refusal> {
    let mut writer = Writer {
        bytes: &bytes[..limit],
        at: start,
        literal,
        quotes,
        out: Vec::with_capacity(512),
        notes: Vec::new(),
    };
    writer.element()?;
    Ok(Clean { text: writer.out, end: writer.at, notes: writer.notes })
}

struct Writer<'a> {
    bytes: &'a [u8],
    at: usize,
    literal: bool,
    quotes: Quotes,
    out: Vec<u8>,
    notes: Vec<(WarningKind, usize)>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    KeyOrEnd,
    ElementOrEnd,
    CommaOrEnd,
}

impl Writer<'_> {
    fn note(&mut self, kind: WarningKind, at: usize) {
        if !self.notes.iter().any(|(known, _)| *known == kind) {
            self.notes.push((kind, at));
        }
    }

    fn peek(&mut self) -> Result<u8, Refusal> {
        self.at = skip_space(self.bytes, self.at);
        self.bytes.get(self.at).copied().ok_or(Refusal::End)
    }

    fn element(&mut self) -> Result<(), Refusal> {
        let mut open: Vec<u8> = Vec::new();
        let mut expect = Expect::Value;
        loop {
            let byte = self.peek()?;
            expect = match (expect, byte) {
                (Expect::Value | Expect::ElementOrEnd, b'{') => {
                    open.push(b'{');
                    self.copy(b'{');
                    Expect::KeyOrEnd
                }
                (Expect::Value | Expect::ElementOrEnd, b'[') => {
                    open.push(b'[');
                    self.copy(b'[');
                    Expect::ElementOrEnd
                }
                (Expect::KeyOrEnd | Expect::CommaOrEnd, b'}') if open.last() == Some(&b'{') => {
                    self.close(&mut open, b'}')
                }
                (Expect::ElementOrEnd | Expect::CommaOrEnd, b']') if open.last() == Some(&b'[') => {
                    self.close(&mut open, b']')
                }
                (Expect::KeyOrEnd | Expect::ElementOrEnd, b',') => {
                    self.note(WarningKind::Json, self.at);
                    self.at += 1;
                    expect
                }
                (Expect::CommaOrEnd, b',') => {
                    self.copy(b',');
                    if open.last() == Some(&b'{') { Expect::KeyOrEnd } else { Expect::ElementOrEnd }
                }
                (Expect::KeyOrEnd, b'"') => {
                    self.string(true)?;
                    if self.peek()? != b':' {
                        return Err(Refusal::Structure(self.at));
                    }
                    self.copy(b':');
                    Expect::Value
                }
                (Expect::Value | Expect::ElementOrEnd, b'"') => {
                    self.string(false)?;
                    Expect::CommaOrEnd
                }
                (Expect::Value | Expect::ElementOrEnd, _) => {
                    self.bare()?;
                    Expect::CommaOrEnd
                }
                _ => return Err(Refusal::Structure(self.at)),
            };
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn copy(&mut self, byte: u8) {
        self.out.push(byte);
        self.at += 1;
    }

    /// Closes a container; a comma before the bracket is one too many and goes.
    fn close(&mut self, open: &mut Vec<u8>, bracket: u8) -> Expect {
        if self.out.last() == Some(&b',') {
            self.note(WarningKind::Json, self.at);
            self.out.pop();
        }
        open.pop();
        self.copy(bracket);
        Expect::CommaOrEnd
    }

    /// A number, a literal, or one of the tokens that C's `printf` and Python write for what JSON cannot say.
    fn bare(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let ends =
            |b: &u8| b.is_ascii_whitespace() || matches!(b, b',' | b']' | b'}' | b'{' | b'[' | b':' | b'"');
        let rest = &self.bytes[start..];
        let Some(length) = rest.iter().position(ends) else { return Err(Refusal::End) };
        let token = &rest[..length];
        let text = std::str::from_utf8(token).unwrap_or("");
        if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
            self.out.extend_from_slice(token);
        } else if NULLS.iter().any(|null| text.trim_start_matches(['+', '-']).eq_ignore_ascii_case(null)) {
            self.note(WarningKind::Number, start);
            self.out.extend_from_slice(b"null");
        } else if text.parse::<f64>().is_ok_and(f64::is_finite) {
            // `.5`, `+1`: as text it stays exact, and times are read from text too.
            self.note(WarningKind::Number, start);
            self.out.push(b'"');
            self.out.extend_from_slice(token);
            self.out.push(b'"');
        } else {
            return Err(Refusal::Structure(start));
        }
        self.at += length;
        Ok(())
    }

    /// A string, from its opening quote.
    fn string(&mut self, key: bool) -> Result<(), Refusal> {
        let start = self.at + 1;
        let end = self.string_end(start, key)?;
        let raw = &self.bytes[start..end];
        let text = String::from_utf8_lossy(raw);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            let first = std::str::from_utf8(raw).err().map_or(0, |e| e.valid_up_to());
            self.note(WarningKind::Utf8, start + first);
        }
        self.out.push(b'"');
        let mut rest = text.as_ref();
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            rest = match character {
                '\\' => self.backslash(after, start)?,
                '"' => {
                    self.note(WarningKind::Json, start);
                    self.out.extend_from_slice(b"\\\"");
                    after
                }
                control if control < ' ' => {
                    self.out.extend_from_slice(format!("\\u{:04x}", u32::from(control)).as_bytes());
                    after
                }
                other => {
                    self.out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                    after
                }
            };
        }
        self.out.push(b'"');
        self.at = end + 1;
        Ok(())
    }

    /// What stands behind a backslash; gives the rest of the text.
    fn backslash<'t>(&mut self, after: &'t str, string: usize) -> Result<&'t str, Refusal> {
        let next = after.chars().next();
        let escapes = match next {
            Some('"' | '\\') => true,
            _ if self.literal => false,
            Some('/' | 'b' | 'f' | 'n' | 'r' | 't') => true,
            Some('u') => after.get(1..5).is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit())),
            _ => false,
        };
        if escapes {
            self.out.push(b'\\');
            self.out.extend(after.bytes().take(1));
            return Ok(&after[1..]);
        }
        if !self.literal {
            return Err(Refusal::Escape(string));
        }
        self.note(WarningKind::Escape, string);
        self.out.extend_from_slice(b"\\\\");
        Ok(after)
    }

    /// The closing quote of the string whose content begins at `start`.
    fn string_end(&self, start: usize, key: bool) -> Result<usize, Refusal> {
        let mut at = start;
        while let Some(found) = memchr::memchr2(b'"', b'\\', self.bytes.get(at..).unwrap_or_default()) {
            let found = at + found;
            if self.bytes[found] == b'\\' {
                at = found + if matches!(self.bytes.get(found + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
            } else if key || self.quotes == Quotes::Strict || self.value_ends(found + 1) {
                return Ok(found);
            } else {
                at = found + 1;
            }
        }
        Err(Refusal::End)
    }

    /// Whether JSON can go on at `at`, behind a value: the container closes, or a further key or element follows.
    fn value_ends(&self, at: usize) -> bool {
        let next = skip_space(self.bytes, at);
        match self.bytes.get(next) {
            Some(b']') | None => true,
            Some(b'}') => {
                let after = skip_space(self.bytes, next + 1);
                matches!(self.bytes.get(after), None | Some(b',' | b'}' | b']'))
            }
            Some(b',') => {
                let after = skip_space(self.bytes, next + 1);
                KEYS.iter().any(|key| self.bytes.get(after..).is_some_and(|rest| rest.starts_with(key)))
            }
            Some(_) => false,
        }
    }
}

/// What stands for "no number", without its sign.
const NULLS: [&str; 9] =
    ["nan", "inf", "infinity", "n/a", "none", "undefined", "1.#inf", "1.#ind", "1.#qnan"];

/// Keys of an event, with their quotes: what follows the end of a string for certain.
const KEYS: [&[u8]; 16] = [
    b"\"ph\"",
    b"\"name\"",
    b"\"cat\"",
    b"\"pid\"",
    b"\"tid\"",
    b"\"ts\"",
    b"\"dur\"",
    b"\"id\"",
    b"\"args\"",
    b"\"bp\"",
    b"\"s\"",
    b"\"CallFrom\"",
    b"\"Python id\"",
    b"\"Python parent id\"",
    b"\"External id\"",
    b"\"Ev Idx\"",
];
