//! What attribution gives: each charged op with its place, and the sums over files, lines and functions.

use std::ops::{AddAssign, Range};
use std::sync::Arc;

use profile::EventId;
use source::FileKey;

/// A file of [`Attribution::files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A function of [`FileCosts::functions`] of the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// CPU and device nanoseconds that are charged, never counted twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub cpu_ns: i64,
    pub device_ns: i64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.device_ns += other.device_ns;
    }
}

/// How a line is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// The trace itself names the line and the text fits.
    Exact,
    /// The function's text admits exactly one best alignment with the observed sequence.
    Aligned,
    /// Several lines fit equally; the set is kept, none is picked.
    Ambiguous,
    /// Only the enclosing function is known.
    Function,
    /// No frame of the sources.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChargeKind {
    Op,
    /// A runtime or driver call outside any op that a device event joins.
    Launch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Forward,
    Backward,
}

/// Where a charge goes. Lines are 1-based, in the text of [`FileCosts::text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Line {
        file: FileId,
        function: FunctionId,
        line: u32,
        precision: Precision,
        /// Byte range in [`FileCosts::text`] of the expression; `None` where several on the line can be meant.
        expression: Option<Range<u32>>,
    },
    /// Sorted, at least two.
    Ambiguous {
        file: FileId,
        function: FunctionId,
        lines: Vec<u32>,
    },
    Function {
        file: FileId,
        function: FunctionId,
    },
    None,
}

/// One charged op or launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    pub event: EventId,
    pub kind: ChargeKind,
    pub direction: Direction,
    pub cost: Cost,
    pub place: Place,
    /// One short sentence: how the line is known, or why it is not.
    pub why: String,
}

/// A function that owns or encloses charged ops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCost {
    pub name: String,
    /// 1-based line of the `def` (or `class`, or 1 for `<module>`) in [`FileCosts::text`].
    pub def_line: u32,
    /// 1-based last line of the function.
    pub end_line: u32,
    /// What is known to the function only.
    pub own: Cost,
    /// A view, never added: ops and runtime calls below its frames, each once.
    pub inclusive: Cost,
    /// Charged forward ops in `inclusive`.
    pub inclusive_ops: u32,
    /// It does not fit what was profiled: it was edited, or moved by an edit. Its lines are found by its text alone.
    pub stale: bool,
}

/// What kind of whole a [`View`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViewKind {
    /// An `nn.Module` instance, as torch numbers it: `Linear_0`.
    Module,
    /// `Optimizer.step#Adam.step`, `Optimizer.zero_grad#Adam.zero_grad`.
    Optimizer,
    /// `enumerate(DataLoader)#…__next__`.
    DataLoading,
    /// Any other `record_function`.
    Range,
}

/// What a line sets off as a whole. Its ops are charged elsewhere: never added to anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// 1-based line of the call, in [`FileCosts::text`].
    pub line: u32,
    pub kind: ViewKind,
    pub name: String,
    pub precision: Precision,
    pub calls: u32,
    /// The ops and runtime calls below it, each once.
    pub cost: Cost,
}

/// A function whose text explains runs of ops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    /// 1-based line of the `def`.
    pub def_line: u32,
    /// How often the trace has what the function launches.
    pub runs: u32,
    /// Ops of all these runs.
    pub ops: u32,
    pub cost: Cost,
    /// By 1-based line: how many ops it would have launched, and their cost.
    pub lines: Vec<(u32, u32, Cost)>,
    /// How many other functions of the workspace fit one of the same runs as a whole.
    pub rivals: u32,
}

/// A source file with costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCosts {
    pub key: FileKey,
    /// The text that the lines count in: an open document's or the disk's when the attribution was made.
    pub text: Arc<str>,
    /// The hash of the text that was profiled ([`source::text_sha256`]), where it was recorded.
    pub recorded: Option<[u8; 32]>,
    /// The text is not the one that was profiled, as its hash says or some of it shows.
    pub stale: bool,
    pub functions: Vec<FunctionCost>,
    /// By line, the costlier first.
    pub views: Vec<View>,
    /// Where the trace has no stacks: functions whose text explains runs of its ops, in order of their `def` lines. What
    /// these cost is unattributed all the same.
    pub candidates: Vec<Candidate>,
}

/// The whole result for one profile.
#[derive(Debug, Default)]
pub struct Attribution {
    pub files: Vec<FileCosts>,
    /// In order of start.
    pub charges: Vec<Charge>,
    pub totals: Cost,
    /// Charges without a place, and device events without a launcher.
    pub unattributed: Cost,
}
