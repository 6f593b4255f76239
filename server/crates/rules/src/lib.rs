//! Profile and cost per line to findings. A rule is a file; [`registry`] is the one table of them.

pub mod finding;
mod hotspot;
mod inferred_lines;
mod no_stacks;
pub mod registry;
#[cfg(test)]
mod testing;
mod unfused_rms_norm;

pub use finding::{Edit, Finding, Fix, Related};
pub use inferred_lines::infers_lines;
pub use registry::{Context, Limits, RULES, Rule, check, rule};
