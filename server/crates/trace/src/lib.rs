//! Bytes of a Kineto (Chrome-format) trace to typed events.
//!
//! Pure: no I/O, no clock. [`read`] is the whole interface: bytes in, a [`Trace`] out. A damaged trace still gives its
//! good events; what was skipped or guessed is in the [`ImportLog`]. Only a file that holds no trace at all is an error.

mod call_lines;
mod collect;
pub mod error;
mod header;
pub mod ids;
pub mod intern;
pub mod log;
pub mod model;
pub mod number;
mod read;
mod record;
mod repair;
mod scan;
mod sniff;
mod text;

pub use call_lines::{CallLines, CallLinesError};
pub use error::ReadError;
pub use ids::{CorrelationId, ExternalId};
pub use intern::{Interner, Symbol};
pub use log::{ImportLog, Warning, WarningKind};
pub use model::{Args, Event, Flow, FlowEnd, Header, Label, LabelKind, Phase, STACKS_APART, Trace};
pub use read::read;
pub use sniff::sniff;
