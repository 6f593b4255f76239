//! What is drawn for one set of options: made when a trace settles or an option changes, read by every request.

use attribution::FileId;
use rules::{Context, Finding, Limits};
use source::SourceFiles;

use crate::hints::{Hint, hints};
use crate::{Analysis, DiagnosticSeverity, Options};

/// The marks of all files.
#[derive(Debug, Default)]
pub struct Marks {
    pub findings: Vec<Finding>,
    /// Indexed by [`FileId`].
    hints: Vec<Vec<Hint>>,
}

impl Marks {
    pub fn new(analysis: &Analysis, options: &Options, sources: &dyn SourceFiles) -> Self {
        let findings = if options.severity == DiagnosticSeverity::Off {
            Vec::new()
        } else {
            rules::check(&Context {
                capture: &analysis.name,
                profile: &analysis.profile,
                attribution: &analysis.attribution,
                lines: analysis.lines(),
                unit: &analysis.unit,
                sources,
                limits: Limits { top: options.top, min_share: options.diagnostics_min_share },
            })
        };
        Self { findings, hints: analysis.files().map(|file| hints(analysis, file, options)).collect() }
    }

    /// The hints of a file, by line.
    pub fn hints(&self, file: FileId) -> &[Hint] {
        self.hints.get(file.0 as usize).map_or(&[], Vec::as_slice)
    }
}
