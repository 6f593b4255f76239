//! Byte offsets to lines and back. Lines are 0-based here; what a trace or a person says is 1-based.

/// Starts of the lines of a text. `\n`, `\r\n` and `\r` end a line, as Python has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at as u32 + 1);
            }
        }
        Self { starts, len: bytes.len() as u32 }
    }

    /// How many lines there are; an empty text has one.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The 0-based line that holds the byte `offset`.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32 - 1
    }

    /// The byte range of a 0-based line without its line ending.
    pub fn range(&self, text: &str, line: u32) -> Option<std::ops::Range<u32>> {
        let start = *self.starts.get(line as usize)?;
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(self.len);
        let trimmed = text.get(start as usize..end as usize)?.trim_end_matches(['\r', '\n']);
        Some(start..start + trimmed.len() as u32)
    }
}

/// The line ending of a text, as its first line has it.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if at > 0 && text.as_bytes()[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}
