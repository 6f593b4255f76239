//! Bytes of a Kineto (Chrome-format) trace to typed events.
//!
//! Pure: no I/O, no clock. A damaged trace still gives its good events; what was skipped or guessed is in the [`ImportLog`].

pub mod ids;
pub mod intern;
pub mod log;

pub use ids::{CorrelationId, ExternalId};
pub use intern::{Interner, Symbol};
pub use log::{ImportLog, Warning, WarningKind};
