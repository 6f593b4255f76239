//! Profile × sources → cost per line, each with the precision it is known at.
//!
//! Pure. Every charged op goes to exactly one bucket: forward + backward + ambiguous + functions + unattributed = total,
//! for CPU and for device, always.

mod align;
mod attribute;
mod call_stack;
mod candidates;
mod charges;
mod files;
mod frames;
mod inclusive;
mod kernel_stack;
pub mod lines;
pub mod model;
mod paths;
mod places;
mod readings;
pub mod unit;
mod views;

pub use attribute::attribute;
pub use model::{
    Attribution, Candidate, Charge, ChargeKind, Cost, Direction, FileCosts, FileId, FunctionCost, FunctionId,
    Place, Precision, View, ViewKind,
};
pub use unit::Unit;
