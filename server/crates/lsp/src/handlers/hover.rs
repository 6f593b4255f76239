//! `textDocument/hover`.

use std::fmt::Write as _;

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use serde_json::json;

use crate::capabilities::ResolvedClientCapabilities;
use crate::documents::Document;
use crate::position;
use crate::protocol::{OperatorsParams, command};
use crate::snapshot::Snapshot;

pub fn hover(
    world: &Snapshot,
    document: &Document,
    at: Position,
    capabilities: &ResolvedClientCapabilities,
) -> Option<Hover> {
    let links = capabilities.client_commands.then(|| link(document, at.line));
    let value = text(world, document, at.line, links.as_deref())?;
    let kind = if capabilities.markdown_hover { MarkupKind::Markdown } else { MarkupKind::PlainText };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range: position::line_range(&document.text, &document.lines, at.line),
    })
}

/// The hover's Markdown for a 0-based line of the document.
pub fn text(world: &Snapshot, document: &Document, line: u32, links: Option<&str>) -> Option<String> {
    let (shown, file) = world.marked(document)?;
    let origin = document.map_from(&shown.analysis.file(file).text).origin(line)?;
    ide::hover::hover(&shown.analysis, file, origin + 1, &document.text, links)
}

fn link(document: &Document, line: u32) -> String {
    let params =
        OperatorsParams { uri: Some(document.uri.clone()), line: Some(line), ..OperatorsParams::default() };
    format!("[Open in trace](command:{}?{})", command::OPEN_TRACE, encoded(&json!([params]).to_string()))
}

/// Percent-encodes a command link's arguments.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(byte as char);
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
