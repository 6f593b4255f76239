//! Findings as the client's diagnostics: on the open document's lines, under the URI it was opened with.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ide::{DiagnosticSeverity as Shown, Finding, LineIndex, LineMap};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Range, Url,
};

use crate::capabilities::ResolvedClientCapabilities;
use crate::documents::{Document, Documents};
use crate::position;
use crate::snapshot::Snapshot;

/// The diagnostics of every file with findings.
pub fn all(
    world: &Snapshot,
    documents: &Documents,
    capabilities: &ResolvedClientCapabilities,
) -> BTreeMap<Url, Vec<Diagnostic>> {
    let mut by_uri: BTreeMap<Url, Vec<Diagnostic>> = BTreeMap::new();
    let severity = match world.settings.marks.severity {
        Shown::Information => DiagnosticSeverity::INFORMATION,
        Shown::Hint => DiagnosticSeverity::HINT,
        Shown::Off => return by_uri,
    };
    let Some(shown) = world.shown.as_deref().filter(|_| world.visible) else { return by_uri };
    // One look at a file for all its findings that count in one text.
    let mut by_text: BTreeMap<(&Path, *const u8), Vec<&Finding>> = BTreeMap::new();
    for (path, finding) in shown.findings() {
        by_text.entry((path, finding.text.as_ptr())).or_default().push(finding);
    }
    for ((path, _), findings) in by_text {
        for view in View::all(&findings[0].text, &documents.of_path(path), path) {
            let shown =
                findings.iter().filter_map(|finding| view.diagnostic(finding, severity, capabilities));
            by_uri.entry(view.uri.clone()).or_default().extend(shown);
        }
    }
    by_uri
}

/// A text that findings are shown in: the open document's, else the disk's.
struct View {
    uri: Url,
    text: Arc<str>,
    lines: LineIndex,
    map: Arc<LineMap>,
}

impl View {
    fn all(base: &Arc<str>, open: &[Arc<Document>], path: &Path) -> Vec<Self> {
        if open.is_empty() {
            return Self::on_disk(base, path).into_iter().collect();
        }
        let view = |document: &Arc<Document>| Self {
            uri: document.uri.clone(),
            text: document.text.clone(),
            lines: document.lines.clone(),
            map: document.map_from(base),
        };
        open.iter().map(view).collect()
    }

    fn on_disk(base: &str, path: &Path) -> Option<Self> {
        let uri = Url::from_file_path(path).ok()?;
        let text: Arc<str> = capture::read_source(path)?.into();
        let (lines, map) = (LineIndex::new(&text), Arc::new(LineMap::between(base, &text)));
        Some(Self { uri, text, lines, map })
    }

    fn diagnostic(
        &self,
        finding: &Finding,
        severity: DiagnosticSeverity,
        capabilities: &ResolvedClientCapabilities,
    ) -> Option<Diagnostic> {
        let related = finding
            .related
            .iter()
            .filter_map(|related| {
                let range = self.range(&finding.text, &related.range)?;
                let location = Location { uri: self.uri.clone(), range };
                Some(DiagnosticRelatedInformation { location, message: related.message.clone() })
            })
            .collect::<Vec<_>>();
        let rule = ide::rule(finding.code);
        let link = rule.and_then(|rule| Url::parse(rule.link).ok());
        let is_hint = rule.is_some_and(|rule| rule.at_most_hint);
        // What it says of lines that have changed since is no longer known.
        self.range(&finding.text, &finding.scope)?;
        Some(Diagnostic {
            range: self.range(&finding.text, &finding.range)?,
            severity: Some(if is_hint { DiagnosticSeverity::HINT } else { severity }),
            code: Some(NumberOrString::String(finding.code.to_owned())),
            code_description: link
                .filter(|_| capabilities.code_description)
                .map(|href| CodeDescription { href }),
            source: Some("ATen Lens".to_owned()),
            message: finding.message.clone(),
            related_information: Some(related)
                .filter(|related| capabilities.related_information && !related.is_empty()),
            ..Diagnostic::default()
        })
    }

    fn range(&self, base: &str, bytes: &std::ops::Range<u32>) -> Option<Range> {
        moved(base, &self.map, &self.text, &self.lines, bytes)
    }
}

/// Where a byte range of an older text is in a newer one; `None` if one of its lines changed.
pub fn moved(
    base: &str,
    map: &LineMap,
    text: &str,
    lines: &LineIndex,
    bytes: &std::ops::Range<u32>,
) -> Option<Range> {
    let base_lines = LineIndex::new(base);
    let (first, last) = (base_lines.line(bytes.start), base_lines.line(bytes.end));
    let now = map.run(first..=last)?;
    let shifted = |offset: u32, old: u32, new: u32| {
        let column = offset - base_lines.range(base, old)?.start;
        Some(lines.range(text, new)?.start + column)
    };
    let moved = shifted(bytes.start, first, *now.start())?..shifted(bytes.end, last, *now.end())?;
    Some(position::range(text, lines, &moved))
}
