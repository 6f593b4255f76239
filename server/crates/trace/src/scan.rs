//! Finding one's place in damaged text.

use memchr::memmem;

/// The first byte at or after `at` that is not white space.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn before_space(bytes: &[u8], at: usize) -> Option<u8> {
    bytes[..at].iter().rev().copied().find(|b| !b.is_ascii_whitespace())
}

/// Keys that an event may begin with. One is enough: no writer begins with an unusual one.
const FIRST_KEYS: [&[u8]; 10] = [b"ph", b"name", b"cat", b"pid", b"ts", b"tid", b"id", b"args", b"s", b"dur"];

/// The next place at or after `from` at which an event seems to begin: `{"key":` behind a comma, a bracket or the brace
/// of the event before.
pub(crate) fn next_event(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'{', bytes.get(from..)?).map(|at| from + at).find(|&at| begins_event(bytes, at))
}

fn begins_event(bytes: &[u8], at: usize) -> bool {
    let quote = skip_space(bytes, at + 1);
    let Some(rest) = bytes.get(quote + 1..).filter(|_| bytes.get(quote) == Some(&b'"')) else { return false };
    let Some(end) = rest.iter().take(8).position(|&b| b == b'"') else { return false };
    FIRST_KEYS.contains(&&rest[..end])
        && bytes.get(skip_space(bytes, quote + end + 2)) == Some(&b':')
        && matches!(before_space(bytes, at), Some(b',' | b'[' | b'}'))
}

/// Whether an element that ends at `end` is followed by what may follow one. A missing comma before the next event is
/// let pass.
pub(crate) fn element_ends(bytes: &[u8], end: usize) -> bool {
    let next = skip_space(bytes, end);
    match bytes.get(next) {
        None | Some(b',' | b']') => true,
        Some(b'{') => begins_event(bytes, next),
        Some(_) => false,
    }
}

/// Whether the bracket before `after` can be the end of the list: nothing, a closing brace or a further key follows.
pub(crate) fn list_ends(bytes: &[u8], after: usize) -> bool {
    let next = skip_space(bytes, after);
    match bytes.get(next) {
        None | Some(b'}') => true,
        Some(b',') => matches!(bytes.get(skip_space(bytes, next + 1)), None | Some(b'"')),
        Some(_) => false,
    }
}

/// The end of the list in text whose last element is damaged: the last bracket behind which the file closes properly.
///
/// `open_end` says that the element looks cut off: then a mere closing bracket proves nothing, for it may close something
/// within the element, and only a key of the header does.
pub(crate) fn last_list_end(bytes: &[u8], from: usize, open_end: bool) -> Option<usize> {
    let brackets = memchr::memrchr_iter(b']', bytes.get(from..)?).map(|at| from + at);
    brackets.take(64).find(|&at| rest_is_header(&bytes[at + 1..], open_end))
}

/// Whether what follows the list closes the file: `}`, or further keys and `}`, or nothing behind an array.
fn rest_is_header(rest: &[u8], open_end: bool) -> bool {
    let rest = rest.trim_ascii();
    match rest.first() {
        None | Some(b'}') => rest.len() <= 1 && !open_end,
        Some(b',') => {
            let object = [b"{", &rest[1..]].concat();
            let valid = serde_json::from_slice::<serde::de::IgnoredAny>(&object).is_ok();
            valid && (!open_end || HEADER_KEYS.iter().any(|key| memmem::find(rest, key).is_some()))
        }
        Some(_) => false,
    }
}

/// Keys that writers put behind the list.
const HEADER_KEYS: [&[u8]; 6] = [
    b"\"traceName\"",
    b"\"displayTimeUnit\"",
    b"\"schemaVersion\"",
    b"\"deviceProperties\"",
    b"\"baseTimeNanoseconds\"",
    b"\"distributedInfo\"",
];

/// The key that every export has once.
const KEY: &[u8] = b"\"traceEvents\"";

/// Where another export's list is announced within `from..to`.
pub(crate) fn other_export(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    memmem::find(bytes.get(from..to)?, KEY).map(|at| from + at)
}

/// Where the list is announced at or after `from`; the place of its key.
pub(crate) fn list_key(bytes: &[u8], from: usize) -> Option<usize> {
    other_export(bytes, from, bytes.len())
}
