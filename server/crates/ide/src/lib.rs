//! The facade in editor terms: an [`Analysis`] gives hints, lenses, findings, hovers and tables, in lines and byte ranges
//! of the text it was made with. It knows no editor protocol; `lsp` and `cli` turn what it gives into theirs.

pub mod analysis;
mod candidates;
pub mod coverage;
pub mod hints;
pub mod hover;
pub mod lenses;
pub mod line_map;
mod load;
pub mod marks;
mod notices;
pub mod operators;
pub mod options;
mod owners;

pub use analysis::Analysis;
pub use attribution::{FileId, Precision};
pub use line_map::LineMap;
pub use load::{Summary, load, profile};
pub use marks::Marks;
pub use options::{DiagnosticSeverity, Options};
pub use rules::{Finding, rule};
pub use source::LineIndex;
