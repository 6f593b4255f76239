//! The call lines that a recorder wrote beside a trace: `run.lines.json.gz` next to `run.json` or `run.json.gz`.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trace::CallLines;

use crate::open::inflated;

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
    let (bytes, log) = inflated(raw, INFLATED);
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

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str =
        r#"{"version":1,"torch":"2.9.1","strings":[],"starts":[],"names":[],"files":[],"lines":[]}"#;

    #[test]
    fn they_are_beside_the_trace_whatever_its_ending() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(open(&folder.path().join("run.json")), Ok(None)));
        std::fs::write(folder.path().join("run.pt.trace.lines.json.gz"), LINES).expect("writing there");
        for trace in ["run.pt.trace.json", "run.pt.trace.json.gz", "run.pt.trace"] {
            assert!(matches!(open(&folder.path().join(trace)), Ok(Some(_))), "{trace}");
        }
        assert!(matches!(open(&folder.path().join("run.json")), Ok(None)));
    }

    #[test]
    fn they_are_no_trace_but_a_part_of_what_a_capture_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let trace = folder.path().join("run.json");
        std::fs::write(&trace, r#"{"traceEvents":[]}"#).expect("writing there");
        let without = crate::in_directory(folder.path());
        std::fs::write(folder.path().join("run.lines.json.gz"), LINES).expect("writing there");
        let with = crate::in_directory(folder.path());
        assert_eq!(with.iter().map(|capture| &capture.path).collect::<Vec<_>>(), [&trace]);
        assert!(!with[0].same_content(&without[0]) && with[0].written() >= without[0].written());
    }

    #[test]
    fn what_is_wrong_with_them_is_one_line_and_the_trace_opens() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let trace = folder.path().join("run.json");
        std::fs::write(&trace, "[]").expect("writing there");
        let file = folder.path().join("run.lines.json.gz");
        let damaged: [&[u8]; 4] = [b"", b"{}", b"\x1f\x8b\x08\x00", &[0xff; 9]];
        for bytes in damaged {
            std::fs::write(&file, bytes).expect("writing there");
            let opened = crate::open(&trace).expect("the trace");
            let [warning] = &opened.log().warnings[..] else { panic!("{:?}", opened.log()) };
            assert!(opened.call_lines().is_none() && opened.bytes() == b"[]");
            assert!(warning.message.contains("run.lines.json.gz") && !warning.message.contains('\n'));
        }
        let large = std::fs::File::create(&file).expect("writing there");
        large.set_len(LARGEST + 1).expect("a sparse file");
        assert!(open(&trace).is_err_and(|reason| reason.contains("more than")));
    }
}
