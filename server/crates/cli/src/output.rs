//! Writing to stdout without dying when the reader has gone (`aten-lens report … | head`).

use std::io::{self, Write};
use std::process::ExitCode;

/// Writes everything at once. A closed pipe is the reader's decision, not an error.
pub(crate) fn write(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("cannot write the output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// One line on stderr.
pub(crate) fn complain(line: &str) {
    // Where stderr is closed there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "aten-lens: {line}");
}
