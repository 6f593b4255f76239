//! `textDocument/inlayHint`.

use lsp_types::{InlayHint, InlayHintLabel, Range};

use crate::documents::Document;
use crate::position;
use crate::snapshot::Snapshot;

pub fn inlay_hints(world: &Snapshot, document: &Document, wanted: Range) -> Vec<InlayHint> {
    let Some((shown, file)) = world.marked(document) else { return Vec::new() };
    let map = document.map_from(&shown.analysis.file(file).text);
    let hint = |hint: &ide::hints::Hint| {
        let line = map.line(hint.line).filter(|line| (wanted.start.line..=wanted.end.line).contains(line))?;
        Some(InlayHint {
            position: position::line_range(&document.text, &document.lines, line)?.end,
            label: InlayHintLabel::String(hint.text.clone()),
            kind: None,
            text_edits: None,
            // The hover of the line tells more; a tooltip of its own would stand in its way.
            tooltip: None,
            padding_left: Some(true),
            padding_right: None,
            data: None,
        })
    };
    shown.marks.hints(file).iter().filter_map(hint).collect()
}
