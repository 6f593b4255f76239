//! Paths and small text files.

use std::path::{Path, PathBuf};

/// Larger files are no source that a person wrote; they are left alone.
const SOURCE_LIMIT: u64 = 8 << 20;

/// The path with symlinks resolved; as it is where it cannot be (it does not exist, say).
pub fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A path with `/` between its parts, whatever the system's separator.
pub fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

/// The text of a source file, without a byte order mark, as editors hand it over. Bytes that are not UTF-8 are replaced.
pub fn read_source(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SOURCE_LIMIT {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned();
    Some(text)
}
