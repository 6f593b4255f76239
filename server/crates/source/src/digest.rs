//! The hash by which a text is known to be the one that ran.

use sha2::{Digest, Sha256};

/// The SHA-256 of a text as Python reads it: without a byte order mark, every line ending a `\n`, in UTF-8. It is what
/// `extension/recorder/aten_lens_recorder.py` writes of a source. `None` for a text with replacement characters: it was
/// made of bytes in another encoding, and the file's own text is not known.
pub fn text_sha256(text: &str) -> Option<[u8; 32]> {
    if text.contains('\u{fffd}') {
        return None;
    }
    let mut hasher = Sha256::new();
    let mut parts = text.strip_prefix('\u{feff}').unwrap_or(text).split('\r');
    hasher.update(parts.next().unwrap_or_default());
    for part in parts {
        hasher.update("\n");
        hasher.update(part.strip_prefix('\n').unwrap_or(part));
    }
    Some(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::text_sha256;

    #[test]
    fn endings_and_the_byte_order_mark_do_not_count_and_all_else_does() {
        let hash = text_sha256("# é\nx = 1\n\n").expect("a text");
        // `printf '# é\nx = 1\n\n' | sha256sum`
        assert_eq!(hash[..4], [0x22, 0x37, 0xe7, 0xad]);
        for same in ["# é\r\nx = 1\r\n\r\n", "# é\rx = 1\r\r", "\u{feff}# é\nx = 1\r\n\n"] {
            assert_eq!(text_sha256(same), Some(hash), "{same:?}");
        }
        for other in ["# é\nx = 1\n", "# é\nx = 1 \n\n", "# e\nx = 1\n\n", "\u{feff}\u{feff}# é\nx = 1\n\n"]
        {
            assert_ne!(text_sha256(other), Some(hash), "{other:?}");
        }
        assert_eq!(text_sha256("# \u{fffd}\n"), None);
    }
}
