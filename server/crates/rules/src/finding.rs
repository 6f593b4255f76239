//! What a rule says: a message on a range of a source text, and how to mend it.

use std::ops::Range;
use std::sync::Arc;

use source::FileKey;

/// One finding on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code, stable.
    pub code: &'static str,
    pub file: FileKey,
    /// The text that every range of this finding counts in.
    pub text: Arc<str>,
    /// What is underlined, in bytes.
    pub range: Range<u32>,
    /// What it is about, in bytes; holds `range`. Once a line of it changes the finding is over. Its fixes are offered here.
    pub scope: Range<u32>,
    /// What else must be unchanged for its fixes to be right, in bytes.
    pub basis: Vec<Range<u32>>,
    pub message: String,
    pub related: Vec<Related>,
    pub fixes: Vec<Fix>,
}

/// Another place that belongs to a finding, in the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub range: Range<u32>,
    pub message: String,
}

/// A mechanical change of the finding's file, and what has to be beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    /// Do not overlap; in ascending order.
    pub edits: Vec<Edit>,
    /// The one that an editor applies without asking which.
    pub preferred: bool,
    /// The folder that the module of the recorder has to be put into with them.
    pub recorder: Option<String>,
}

/// Replaces a byte range of the finding's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<u32>,
    pub new_text: String,
}
