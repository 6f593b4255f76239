//! What a user may set about marks. The shells fill it from their own settings.

/// How findings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticSeverity {
    Information,
    Hint,
    Off,
}

/// Which marks are made.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub hints: bool,
    /// Share of the total, 0–1, below which a line gets no hint.
    pub hints_min_share: f64,
    pub lenses: bool,
    pub severity: DiagnosticSeverity,
    /// How many hot spots become findings.
    pub top: usize,
    /// Share of the total, 0–1, below which a line is no hot spot.
    pub diagnostics_min_share: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hints: true,
            hints_min_share: 0.01,
            lenses: true,
            severity: DiagnosticSeverity::Information,
            top: 5,
            diagnostics_min_share: 0.05,
        }
    }
}
