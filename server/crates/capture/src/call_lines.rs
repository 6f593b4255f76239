//! The call lines that a recorder wrote beside a trace: `run.lines.json.gz` next to `run.json` or `run.json.gz`.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace::CallLines;

use crate::open::inflate;

const ENDING: &str = ".lines.json.gz";
/// More bytes on disk than this are not read: a million calls take about three million.
const LARGEST: u64 = 64 << 20;
/// More bytes than this are not inflated: a million calls take about twenty million.
const INFLATED: u64 = 512 << 20;

/// Whether a file is that by its name, and so no trace.
pub(crate) fn are(file: &str) -> bool {
    file.ends_with(ENDING)
}

/// When the call lines beside a trace were written, and their bytes on disk.
pub(crate) fn state(trace: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(beside(trace)?).ok().filter(std::fs::Metadata::is_file)?;
    Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), metadata.len()))
}

/// Reads the call lines beside a trace, if there are any. The error is one line that says what is wrong with them.
pub(crate) fn open(trace: &Path) -> Result<Option<CallLines>, String> {
    let (Some(path), Some((_, len))) = (beside(trace), state(trace)) else { return Ok(None) };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unusable = |why: &dyn std::fmt::Display| {
        format!("the call lines in {name} are not used: {why}; record the trace again")
    };
    if len > LARGEST {
        return Err(unusable(&format_args!("more than {LARGEST} bytes")));
    }
    let raw = std::fs::read(&path).map_err(|error| unusable(&error))?;
    let (bytes, log) = inflate(&raw, INFLATED);
    match log.warnings.first() {
        Some(warning) if log.partial => Err(unusable(&warning.message)),
        _ => CallLines::read(&bytes).map(Some).map_err(|error| unusable(&error)),
    }
}

fn beside(trace: &Path) -> Option<PathBuf> {
    let name = trace.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".json").unwrap_or(stem);
    Some(trace.with_file_name(format!("{stem}{ENDING}")))
}
