//! The lines of Python calls that were recorded beside a trace, and their way into it: what `CallFrom` says from torch
//! 2.14 on, for the versions before. `extension/recorder/aten_lens_recorder.py` writes them and describes the format.

mod join;

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;

/// The version of the format that is read.
const VERSION: u64 = 1;

/// Where each Python call of a run was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLines {
    /// The version of torch that ran.
    torch: String,
    strings: Vec<String>,
    calls: Vec<Call>,
    sources: HashMap<String, [u8; 32]>,
}

/// One call. What it is called and its file are indices into [`CallLines::strings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    /// Nanoseconds since the epoch.
    start_ns: i64,
    name: u32,
    place: Place,
}

/// A file and a line in it, 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    file: u32,
    line: u32,
}

/// Why recorded call lines cannot be used.
#[derive(Debug)]
pub enum CallLinesError {
    /// No JSON, or not of this shape.
    Malformed(serde_json::Error),
    /// Written by a recorder of another version.
    Version(u64),
    /// The columns do not fit each other or the table of strings.
    Inconsistent,
}

impl fmt::Display for CallLinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "not what the recorder writes ({error})"),
            Self::Version(version) => write!(f, "format {version} is not known; only {VERSION} is"),
            Self::Inconsistent => f.write_str("its columns do not fit each other"),
        }
    }
}

impl std::error::Error for CallLinesError {}

#[derive(Deserialize)]
struct Columns {
    version: u64,
    torch: String,
    strings: Vec<String>,
    starts: Vec<i64>,
    names: Vec<u32>,
    files: Vec<u32>,
    lines: Vec<u32>,
    #[serde(default)]
    sha256: HashMap<String, String>,
}

impl CallLines {
    /// Reads what the recorder wrote, inflated.
    ///
    /// # Errors
    /// When the bytes are anything else: half of the lines could be the wrong ones, so none are taken.
    pub fn read(bytes: &[u8]) -> Result<Self, CallLinesError> {
        let columns: Columns = serde_json::from_slice(bytes).map_err(CallLinesError::Malformed)?;
        if columns.version != VERSION {
            return Err(CallLinesError::Version(columns.version));
        }
        let calls = columns.calls().ok_or(CallLinesError::Inconsistent)?;
        let hashes = columns.sha256.into_iter();
        let sources = hashes.filter_map(|(file, hash)| Some((file, digest(&hash)?))).collect();
        Ok(Self { torch: columns.torch, strings: columns.strings, calls, sources })
    }

    fn text(&self, index: u32) -> &str {
        self.strings.get(index as usize).map_or("", String::as_str)
    }
}

/// The bytes of a hash in hexadecimal; `None` for what is none, which is as good as no hash.
fn digest(hash: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let mut digits = hash.chars().map(|digit| digit.to_digit(16));
    for byte in &mut bytes {
        *byte = (digits.next()?? << 4 | digits.next()??) as u8;
    }
    digits.next().is_none().then_some(bytes)
}

impl Columns {
    fn calls(&self) -> Option<Vec<Call>> {
        let count = self.starts.len();
        if [self.names.len(), self.files.len(), self.lines.len()] != [count; 3] {
            return None;
        }
        let known = |index: u32| (index as usize) < self.strings.len();
        let mut start_ns = 0_i64;
        let mut calls = Vec::with_capacity(count);
        for (at, since_last) in self.starts.iter().enumerate() {
            start_ns = start_ns.checked_add(*since_last)?;
            let (name, place) = (self.names[at], Place { file: self.files[at], line: self.lines[at] });
            if !known(name) || !known(place.file) {
                return None;
            }
            calls.push(Call { start_ns, name, place });
        }
        Some(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        CallLines::read(text.as_bytes()).expect_err("unusable").to_string()
    }

    #[test]
    fn starts_are_summed_up() {
        let text = r#"{"version":1,"torch":"2.9.1","python":"3.12.1","strings":["f","a.py"],"starts":[1790857026000000001,2],
            "names":[0,0],"files":[1,1],"lines":[3,4],"sha256":{}}"#;
        let lines = CallLines::read(text.as_bytes()).expect("the format");
        let read: Vec<_> = lines.calls.iter().map(|call| (call.start_ns, call.place.line)).collect();
        assert_eq!(read, [(1_790_857_026_000_000_001, 3), (1_790_857_026_000_000_003, 4)]);
    }

    #[test]
    fn hashes_are_bytes_and_what_is_no_hash_is_left_out() {
        let good = format!("{}Ff", "0a".repeat(31));
        let hashes =
            [("a.py", &*good), ("b.py", "0a"), ("c.py", &*format!("{good}0")), ("d.py", "é"), ("e.py", "")];
        let hashes = hashes.map(|(file, hash)| format!(r#""{file}":"{hash}""#)).join(",");
        let text = format!(
            r#"{{"version":1,"torch":"","strings":[],"starts":[],"names":[],"files":[],"lines":[],"sha256":{{{hashes}}}}}"#
        );
        let sources = CallLines::read(text.as_bytes()).expect("the format").sources;
        let mut expected = [0x0a; 32];
        expected[31] = 0xff;
        assert_eq!(sources, HashMap::from([("a.py".to_owned(), expected)]));
    }

    #[test]
    fn what_does_not_fit_is_refused_in_one_line() {
        let with = |columns: &str| format!(r#"{{"version":1,"torch":"","strings":["f"],{columns}}}"#);
        let cases = [
            String::new(),
            "[".repeat(100_000),
            r#"{"version":2,"torch":"","strings":[],"starts":[],"names":[],"files":[],"lines":[]}"#
                .to_owned(),
            with(r#""starts":[1],"names":[0],"files":[0],"lines":[]"#),
            with(r#""starts":[1],"names":[1],"files":[0],"lines":[1]"#),
            with(r#""starts":[1],"names":[0],"files":[0],"lines":[-1]"#),
            with(r#""starts":[9223372036854775807,1],"names":[0,0],"files":[0,0],"lines":[1,1]"#),
        ];
        for case in cases {
            assert!(!error(&case).contains('\n'));
        }
    }
}
