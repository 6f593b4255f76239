//! What holds of the marks of every trace at hand: nothing off the page, nothing too long, nothing counted twice.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should fail where it stands")]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use capture::SourceIndex;
use ide::hints::MAX_CHARS;
use ide::{Analysis, LineIndex, Marks, Options};

/// Every trace below `fixtures`, with the folder its sources are looked for in.
fn analyses() -> Vec<(PathBuf, Analysis, SourceIndex)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let watch = ["**/*.json".to_owned(), "**/*.json.gz".to_owned()];
    let captures = capture::find(&[fixtures], &watch, &[]).captures;
    let analysed = captures.into_iter().filter_map(|capture| {
        let sources = SourceIndex::new(vec![capture.path.ancestors().nth(1)?.to_path_buf()], vec![], None);
        let opened = capture::open(&capture.path).ok()?;
        let never = AtomicBool::new(false);
        let (log, lines) = (opened.log(), opened.call_lines());
        let analysis = ide::load(capture.name, opened.bytes(), log, lines, &sources, &never).ok()?;
        Some((capture.path, analysis, sources))
    });
    analysed.collect()
}

#[test]
fn marks_are_on_the_page_and_short_and_add_up() {
    let everything = Options { hints_min_share: 0.0, diagnostics_min_share: 0.0, ..Options::default() };
    let analyses = analyses();
    assert!(analyses.len() > 50, "only {} traces found", analyses.len());
    for (path, analysis, sources) in &analyses {
        let at = path.display();
        let coverage = analysis.coverage();
        assert_eq!(
            coverage.lines_ns + coverage.ambiguous_ns + coverage.functions_ns + coverage.unattributed_ns,
            coverage.total_ns,
            "{at}"
        );
        let marks = Marks::new(analysis, &everything, sources);
        for file in analysis.files() {
            let text = &analysis.file(file).text;
            let lines = LineIndex::new(text).count();
            for hint in marks.hints(file) {
                assert!(hint.line < lines, "{at}: hint on line {} of {lines}", hint.line);
                assert!(hint.text.chars().count() <= MAX_CHARS, "{at}: {:?}", hint.text);
                assert!(
                    ide::hover::hover(analysis, file, hint.line + 1, &analysis.file(file).text, None)
                        .is_some(),
                    "{at}: {:?}",
                    hint.text
                );
            }
            for lens in ide::lenses::lenses(analysis, file, &everything, None) {
                assert!(lens.line < lines, "{at}: {lens:?}");
            }
        }
        for finding in &marks.findings {
            let range = finding.range.start as usize..finding.range.end as usize;
            assert!(
                finding.text.get(range.clone()).is_some_and(|text| !text.contains('\n')),
                "{at}: {finding:?}"
            );
            assert!(
                finding.scope.start <= finding.range.start && finding.range.end <= finding.scope.end,
                "{at}"
            );
            assert!(ide::rule(finding.code).is_some(), "{at}: {}", finding.code);
        }
        for as_torch in [false, true] {
            let table = ide::operators::operators(analysis, as_torch);
            for row in &table.rows {
                assert_eq!(row.cells.len(), table.columns.len(), "{at}: {}", row.name);
                assert!(
                    row.cells.iter().all(|cell| !cell.text.contains("NaN") && !cell.text.contains("inf")),
                    "{at}"
                );
                assert_eq!(row.location.is_some(), row.locations > 0, "{at}: {}", row.name);
            }
        }
    }
}
