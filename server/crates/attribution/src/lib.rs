//! Profile × sources → cost per line, each with the precision it is known at.
//!
//! Pure. Every charged op goes to exactly one bucket: forward + backward + ambiguous + functions + unattributed = total,
//! for CPU and for device, always.

pub mod lines;
pub mod model;
pub mod unit;

pub use model::{
    Attribution, Charge, ChargeKind, Cost, Direction, FileCosts, FileId, FunctionCost, FunctionId, Place, Precision,
};
pub use unit::Unit;
