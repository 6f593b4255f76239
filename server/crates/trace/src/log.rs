//! What a read lost or had to guess. A damaged trace is never an error of the core; it is a profile with a log.

use std::fmt;

/// The kind of a loss or guess. One [`Warning`] is kept per kind, with the first place and a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningKind {
    /// An element of `traceEvents` could not be read and was skipped.
    Event,
    /// The end of the file is missing.
    Truncated,
    /// Another export begins in the middle of this one: several writers shared the file.
    Corrupt,
    /// A gzip stream ends early or is damaged.
    Gzip,
    /// Bytes that are not UTF-8 were replaced by U+FFFD.
    Utf8,
    /// A bare token such as `NaN` or `N/A` was read as null.
    Number,
    /// Backslashes that form no valid escape were taken literally.
    Escape,
    /// Something else that strict JSON forbids (a trailing comma, a duplicate key) was read past.
    Json,
    /// A negative duration was read as 0, or a duration was clipped at the next event of a serial stream.
    Duration,
    /// A device event runs over the start of the next on its serial stream and was clipped there.
    Overlap,
    /// Launches were recorded but no device activity.
    NoDevice,
    /// Nothing to show: the window holds no operators.
    NoOperators,
    /// An event carries no usable timestamp.
    Timestamp,
    /// The call lines recorded beside the trace cannot be used.
    CallLines,
    /// Events of a category whose meaning is not known: they are in no table.
    Category,
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Event => "event",
            Self::Truncated => "truncated",
            Self::Corrupt => "corrupt",
            Self::Gzip => "gzip",
            Self::Utf8 => "utf8",
            Self::Number => "number",
            Self::Escape => "escape",
            Self::Json => "json",
            Self::Duration => "duration",
            Self::Overlap => "overlap",
            Self::NoDevice => "no-device",
            Self::NoOperators => "no-operators",
            Self::Timestamp => "timestamp",
            Self::CallLines => "call-lines",
            Self::Category => "category",
        })
    }
}

/// A loss or guess: its first place in the (decompressed) file, in bytes, and how often it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub kind: WarningKind,
    pub offset: u64,
    pub count: u64,
    pub message: String,
}

/// What reading a trace lost or guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportLog {
    /// Elements of `traceEvents` seen, skipped ones included.
    pub events: u64,
    /// Elements that could not be used at all.
    pub skipped: u64,
    /// The end of the file is missing or was given up.
    pub partial: bool,
    pub warnings: Vec<Warning>,
}

impl ImportLog {
    /// Counts a loss; the first of a kind keeps its place and words.
    pub fn warn(&mut self, kind: WarningKind, offset: u64, message: impl FnOnce() -> String) {
        if let Some(known) = self.warnings.iter_mut().find(|w| w.kind == kind) {
            known.count += 1;
        } else {
            self.warnings.push(Warning { kind, offset, count: 1, message: message() });
        }
    }

    /// Takes over what another stage lost.
    pub fn absorb(&mut self, other: &Self) {
        self.events += other.events;
        self.skipped += other.skipped;
        self.partial |= other.partial;
        self.warnings.extend(other.warnings.iter().cloned());
    }
}
