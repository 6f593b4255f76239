//! The recorder of call lines, a Python module that users put beside their training script.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::OpenError;

/// How the recorder's module is called.
pub const RECORDER_NAME: &str = "aten_lens_recorder.py";
/// What it holds.
pub const RECORDER_TEXT: &str = include_str!("../../../../extension/recorder/aten_lens_recorder.py");

/// How the recorder is used, in one line.
pub const RECORDER_USAGE: &str = "from aten_lens_recorder import exact_lines, then \
     profile(..., with_stack=True, on_trace_ready=exact_lines(tensorboard_trace_handler(\"./log\")))";

/// Why the recorder is not there.
#[derive(Debug, PartialEq, Eq)]
pub enum AddRecorderError {
    /// A file of its name holds something else.
    Differs(PathBuf),
    /// It cannot be written; one line.
    Failed(String),
}

impl fmt::Display for AddRecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs(path) => write!(
                f,
                "{}: is there already and differs; remove it, or replace it with aten-lens recorder --force",
                path.display()
            ),
            Self::Failed(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for AddRecorderError {}

/// Writes the recorder into a directory and gives its path. A file of its name that holds something else is left as it is
/// unless told to `replace` it.
///
/// # Errors
/// The file differs, or cannot be written.
pub fn add_recorder(directory: &Path, replace: bool) -> Result<PathBuf, AddRecorderError> {
    let path = directory.join(RECORDER_NAME);
    let failed = |error: &io::Error| AddRecorderError::Failed(OpenError::io(&path, error).to_string());
    let mut options = OpenOptions::new();
    options.write(true);
    let opened =
        if replace { options.create(true).truncate(true) } else { options.create_new(true) }.open(&path);
    match opened {
        Ok(mut file) => file.write_all(RECORDER_TEXT.as_bytes()).map_err(|error| failed(&error))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let present = std::fs::read(&path).map_err(|error| failed(&error))?;
            if present != RECORDER_TEXT.as_bytes() {
                return Err(AddRecorderError::Differs(path));
            }
        }
        Err(error) => return Err(failed(&error)),
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_and_differs_is_replaced_only_when_told_to() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = add_recorder(folder.path(), false).expect("a new file");
        assert_eq!(add_recorder(folder.path(), false), Ok(path.clone()), "the same text is no conflict");
        std::fs::write(&path, "mine").expect("writing there");
        let refused = add_recorder(folder.path(), false).expect_err("it differs").to_string();
        assert!(refused.contains("--force") && !refused.contains('\n'));
        assert_eq!(std::fs::read(&path).expect("still there"), b"mine");
        assert_eq!(add_recorder(folder.path(), true), Ok(path.clone()));
        assert_eq!(std::fs::read(&path).expect("replaced"), RECORDER_TEXT.as_bytes());
        assert!(
            add_recorder(&folder.path().join("none"), false)
                .is_err_and(|error| error.to_string().contains("no such"))
        );
    }
}
