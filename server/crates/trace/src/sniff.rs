//! Whether bytes look like a trace, without reading them all: a watched folder holds all kinds of JSON.

use memchr::memmem;

use crate::scan::skip_space;

/// Whether a file that begins with `head` and ends with `tail` looks like a trace: an object with `traceEvents`, or an
/// array of events with `ph`. `tail` may be empty or overlap `head`.
pub fn sniff(head: &[u8], tail: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let start = skip_space(head, 0);
    let has = |bytes: &[u8], key: &[u8]| memmem::find(bytes, key).is_some();
    match head.get(start) {
        Some(b'{') => has(head, b"\"traceEvents\"") || has(tail, b"\"traceEvents\""),
        Some(b'[') => head.get(skip_space(head, start + 1)) == Some(&b'{') && has(head, b"\"ph\""),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::sniff;

    #[test]
    fn knows_traces_by_content() {
        assert!(sniff(b"\xef\xbb\xbf {\"schemaVersion\": 1, \"traceEvents\": [", b""));
        assert!(sniff(b"[\n{\"ph\": \"X\"", b""));
        assert!(sniff(b"{\"other\": 1", b"\"traceEvents\": []}"));
    }

    #[test]
    fn knows_what_is_none() {
        assert!(!sniff(b"", b""));
        assert!(!sniff(b"{\"name\": \"package\"}", b""));
        assert!(!sniff(b"[[1, 2], [3, 4]]", b""));
        assert!(!sniff(b"\x1f\x8b\x08", b""));
    }
}
