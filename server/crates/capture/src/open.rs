//! Opens a trace: reads it whole, inflates gzip (told by its magic bytes, whatever the name says).
//!
//! Files are read rather than mapped: exporters rewrite traces in place, and a mapped file that shrinks kills the process.

use std::fmt;
use std::fs::Metadata;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use flate2::read::MultiGzDecoder;
use trace::{CallLines, ImportLog, WarningKind};

use crate::call_lines;

/// How a file begins that stands for one kept in Git's large file storage.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/";
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// How many times its own size a gzip file may inflate to: traces reach 50, bombs 1000. A bomb ends here.
const INFLATED_RATIO: u64 = 200;
/// What any gzip file may inflate to, in bytes.
const INFLATED_FREE: u64 = 64 << 20;
/// How many bytes of either end are looked at to tell a trace.
const PEEK: u64 = 64 << 10;

/// Why a path cannot be opened. Each is one line: what, where, what to do.
#[derive(Debug)]
pub enum OpenError {
    Io {
        path: PathBuf,
        reason: String,
    },
    /// A device, FIFO or socket: reading it could block for ever.
    NotAFile {
        path: PathBuf,
    },
    NoTraces {
        path: PathBuf,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        Self::Io { path: path.to_path_buf(), reason }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::NotAFile { path } => {
                write!(f, "{}: not a regular file; name a trace or a directory with traces", path.display())
            }
            Self::NoTraces { path } => {
                write!(f, "{}: no trace in this directory; export one from on_trace_ready", path.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// The bytes of a trace, inflated, and the call lines recorded beside it.
#[derive(Debug)]
pub struct Opened {
    bytes: Vec<u8>,
    call_lines: Option<CallLines>,
    log: ImportLog,
}

impl Opened {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines of Python calls, where they were recorded beside the trace.
    pub fn call_lines(&self) -> Option<&CallLines> {
        self.call_lines.as_ref()
    }

    /// What opening lost: a damaged gzip stream, call lines that cannot be read.
    pub fn log(&self) -> &ImportLog {
        &self.log
    }
}

/// Opens a trace.
///
/// # Errors
/// When the path is no readable regular file. A damaged gzip stream gives what could be inflated, with a warning.
pub fn open(path: &Path) -> Result<Opened, OpenError> {
    let (bytes, mut log) = bytes(path)?;
    let call_lines = call_lines::open(path).unwrap_or_else(|reason| {
        log.warn(WarningKind::CallLines, 0, || reason);
        None
    });
    Ok(Opened { bytes, call_lines, log })
}

fn bytes(path: &Path) -> Result<(Vec<u8>, ImportLog), OpenError> {
    let metadata = std::fs::metadata(path).map_err(|error| OpenError::io(path, &error))?;
    must_be_regular(path, &metadata)?;
    let raw = std::fs::read(path).map_err(|error| OpenError::io(path, &error))?;
    if raw.starts_with(LFS_POINTER) {
        let reason = "a Git LFS pointer, not the trace itself; fetch it with git lfs pull".to_owned();
        return Err(OpenError::Io { path: path.to_path_buf(), reason });
    }
    let limit = (raw.len() as u64).saturating_mul(INFLATED_RATIO).max(INFLATED_FREE);
    let (bytes, log) = inflated(raw, limit);
    if bytes.is_empty() && log.partial {
        let reason =
            "a damaged or truncated gzip file of which nothing can be read; copy it again".to_owned();
        return Err(OpenError::Io { path: path.to_path_buf(), reason });
    }
    Ok((bytes, log))
}

/// The bytes of a file, inflated up to `limit` bytes where they are gzip's.
pub(crate) fn inflated(raw: Vec<u8>, limit: u64) -> (Vec<u8>, ImportLog) {
    if raw.starts_with(&GZIP_MAGIC) { inflate(&raw, limit) } else { (raw, ImportLog::default()) }
}

/// Inflates all members of a gzip file up to `limit` bytes; what follows the last is passed over, as gzip itself does.
fn inflate(raw: &[u8], limit: u64) -> (Vec<u8>, ImportLog) {
    let (mut bytes, mut log, mut rest) =
        (Vec::with_capacity(raw.len().saturating_mul(8).min(1 << 30)), ImportLog::default(), raw);
    while rest.starts_with(&GZIP_MAGIC) {
        let mut member = GzDecoder::new(&mut rest).take((limit + 1).saturating_sub(bytes.len() as u64));
        let result = member.read_to_end(&mut bytes);
        let at = bytes.len() as u64;
        if let Err(error) = result {
            log.partial = true;
            log.warn(WarningKind::Gzip, at, || format!("the gzip stream is truncated or damaged ({error})"));
            return (bytes, log);
        }
        if at > limit {
            log.partial = true;
            let why = || {
                format!(
                    "the gzip stream holds more than {limit} bytes, far beyond its own size; the rest is not read"
                )
            };
            log.warn(WarningKind::Gzip, at, why);
            return (bytes, log);
        }
    }
    if rest.iter().any(|&byte| byte != 0) {
        let why = || format!("{} bytes after the gzip stream are ignored", rest.len());
        log.warn(WarningKind::Gzip, bytes.len() as u64, why);
    }
    (bytes, log)
}

pub(crate) fn must_be_regular(path: &Path, metadata: &Metadata) -> Result<(), OpenError> {
    if metadata.is_file() { Ok(()) } else { Err(OpenError::NotAFile { path: path.to_path_buf() }) }
}

/// Whether a file looks like a trace by its first and last bytes. Reads little.
pub(crate) fn looks_like_trace(path: &Path) -> bool {
    let Ok(mut file) = std::fs::File::open(path) else { return false };
    let mut head = Vec::new();
    if file.by_ref().take(PEEK).read_to_end(&mut head).is_err() {
        return false;
    }
    if head.starts_with(&GZIP_MAGIC) {
        let mut inflated = Vec::new();
        // The head of a stream ends in the middle of it, which is no error here.
        let _ = MultiGzDecoder::new(head.as_slice()).take(PEEK).read_to_end(&mut inflated);
        return trace::sniff(&inflated, b"");
    }
    let mut tail = Vec::new();
    let end = file.seek(SeekFrom::End(0)).unwrap_or(0);
    if end > PEEK && file.seek(SeekFrom::Start(end - PEEK)).is_ok() && file.read_to_end(&mut tail).is_err() {
        tail.clear();
    }
    trace::sniff(&head, &tail)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).expect("writing to memory");
        encoder.finish().expect("writing to memory")
    }

    fn opened(bytes: &[u8], name: &str) -> Opened {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("writing there");
        open(&path).expect("a readable file")
    }

    #[test]
    fn gzip_is_told_by_its_magic_and_all_members_are_read() {
        let two = [gz(b"[1,"), gz(b"2]")].concat();
        assert_eq!(opened(&two, "t.json").bytes(), b"[1,2]");
        assert_eq!(opened(b"[1]", "t.json.gz").bytes(), b"[1]");
    }

    #[test]
    fn a_cut_gzip_stream_gives_what_there_is_and_says_so() {
        let text: Vec<u8> =
            (0u32..20_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let whole = gz(&text);
        let cut = opened(&whole[..whole.len() / 2], "t.json.gz");
        assert!(!cut.bytes().is_empty() && text.starts_with(cut.bytes()));
        assert!(cut.log().partial);
        assert_eq!(cut.log().warnings[0].kind, WarningKind::Gzip);
    }

    #[test]
    fn padding_is_passed_over_a_wrong_checksum_is_not_and_a_bomb_ends() {
        let padded = opened(&[gz(b"[1]"), vec![0; 100]].concat(), "t.gz");
        assert_eq!((padded.bytes(), padded.log().warnings.len()), (&b"[1]"[..], 0));
        let trailed = opened(&[gz(b"[1]"), b"more".to_vec()].concat(), "t.gz");
        assert_eq!(
            (trailed.bytes(), trailed.log().partial, trailed.log().warnings.len()),
            (&b"[1]"[..], false, 1)
        );
        let mut wrong = gz(b"[1]");
        let checksum = wrong.len() - 8;
        wrong[checksum] ^= 1;
        assert!(opened(&wrong, "t.gz").log().partial);
        let (bytes, log) = inflate(&gz(&vec![b' '; 4 << 20]), 1 << 20);
        assert!(log.partial && bytes.len() < 4 << 20);
    }

    #[test]
    fn a_pointer_to_large_file_storage_is_called_that() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("trace.json");
        std::fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
            .expect("writing there");
        assert!(open(&path).map(|_| ()).expect_err("no trace").to_string().contains("git lfs pull"));
    }

    #[test]
    fn a_directory_and_a_missing_file_are_one_line() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for path in [folder.path().to_path_buf(), folder.path().join("none.json")] {
            let line = open(&path).map(|_| ()).expect_err("nothing to read").to_string();
            assert!(!line.contains('\n') && line.contains(&path.display().to_string()));
        }
    }
}
