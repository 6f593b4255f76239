//! Gzip streams: every member, and as much of a damaged one as can be had.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;
use trace::{ImportLog, WarningKind};

/// What a gzip file begins with, whatever its name is.
const MAGIC: &[u8] = b"\x1f\x8b";
/// A few kilobytes can inflate without end; no trace that anything can show is larger than this.
const LIMIT: u64 = 16 << 30;

/// Whether the bytes are gzip, by content.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Inflates all members. A stream that ends early or is damaged gives what came before, and a warning.
pub fn inflate(compressed: &[u8]) -> (Vec<u8>, ImportLog) {
    let mut out = Vec::with_capacity(compressed.len().saturating_mul(8).min(1 << 30));
    let mut log = ImportLog::default();
    let mut rest = compressed;
    while is_gzip(rest) {
        let mut member = GzDecoder::new(rest);
        let room = LIMIT.saturating_sub(out.len() as u64);
        let result = (&mut member).take(room).read_to_end(&mut out);
        rest = member.into_inner();
        let at = compressed.len() - rest.len();
        if let Err(error) = result {
            damaged(&mut log, at, &error);
            return (out, log);
        }
        if out.len() as u64 >= LIMIT {
            log.partial = true;
            log.warn(WarningKind::Gzip, at as u64, || format!("gzip stream is longer than {} GiB: cut there", LIMIT >> 30));
            return (out, log);
        }
    }
    // Tools pad archives with zeros; anything else was part of the file.
    if rest.iter().any(|&byte| byte != 0) {
        let at = compressed.len() - rest.len();
        log.warn(WarningKind::Gzip, at as u64, || format!("what follows the gzip stream was left unread (byte {at})"));
    }
    (out, log)
}

fn damaged(log: &mut ImportLog, at: usize, error: &io::Error) {
    log.partial = true;
    if error.kind() == io::ErrorKind::UnexpectedEof {
        log.warn(WarningKind::Truncated, at as u64, || {
            format!("gzip stream is truncated (compressed byte {at}): the trace's end is missing")
        });
    } else {
        log.warn(WarningKind::Gzip, at as u64, || format!("gzip stream is damaged near compressed byte {at}: {error}"));
    }
}

/// The first `length` bytes of what a gzip stream holds: enough to see whether it is a trace.
pub(crate) fn head(compressed: &[u8], length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    // A stream that is cut or damaged gives what came before.
    let _ = GzDecoder::new(compressed).take(length as u64).read_to_end(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).and_then(|()| encoder.finish()).unwrap_or_default()
    }

    #[test]
    fn reads_all_members_and_padding() {
        let both = [member(b"{\"a\":"), member(b"1}"), vec![0; 512]].concat();
        let (text, log) = inflate(&both);
        assert_eq!((text.as_slice(), log), (&b"{\"a\":1}"[..], ImportLog::default()));
    }

    #[test]
    fn keeps_what_a_cut_stream_holds() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let whole = member(&text);
        let (out, log) = inflate(&whole[..whole.len() / 2]);
        assert!(!out.is_empty() && text.starts_with(&out));
        assert!(log.partial);
        assert_eq!(log.warnings[0].kind, WarningKind::Truncated);
    }

    #[test]
    fn says_where_a_stream_is_damaged() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let mut whole = member(&text);
        let middle = whole.len() / 2;
        whole[middle..middle + 64].fill(0xff);
        let (_, log) = inflate(&whole);
        assert!(log.partial);
        assert_eq!(log.warnings[0].kind, WarningKind::Gzip);
    }
}
