//! `textDocument/codeLens`.

use ide::lenses::{Lens, LensTarget};
use lsp_types::{CodeLens, Command, Position, Range};
use serde_json::{Value, json};

use crate::capabilities::ResolvedClientCapabilities;
use crate::documents::Document;
use crate::protocol::{OperatorsParams, command};
use crate::snapshot::Snapshot;

pub fn code_lenses(
    world: &Snapshot,
    document: &Document,
    capabilities: &ResolvedClientCapabilities,
) -> Vec<CodeLens> {
    let Some((shown, file)) = world.marked(document) else { return Vec::new() };
    let map = document.map_from(&shown.analysis.file(file).text);
    let mut lenses = Vec::new();
    for lens in ide::lenses::lenses(&shown.analysis, file, &world.settings.marks, shown.age()) {
        // The lens of the file itself stays at its top, whatever is put there.
        let line = if lens.target == LensTarget::Table { Some(0) } else { map.line(lens.line) };
        let Some(line) = line else { continue };
        let at = Position { line, character: 0 };
        let range = Range { start: at, end: at };
        let target = match lens.target {
            // With the hottest line changed the sum is that of other code.
            LensTarget::Line(hot) => match map.line(hot) {
                Some(line) => Some(line),
                None => continue,
            },
            LensTarget::Table | LensTarget::Candidate => None,
        };
        let titles = titles(&lens, capabilities);
        lenses.extend(titles.into_iter().map(|title| CodeLens {
            range,
            command: Some(command_of(title, document, line, target, capabilities)),
            data: None,
        }));
    }
    lenses
}

/// The cost, and a second lens of its own that says where a click leads, where the client can follow.
fn titles(lens: &Lens, capabilities: &ResolvedClientCapabilities) -> Vec<String> {
    let mut titles = vec![lens.title.clone()];
    if capabilities.client_commands && matches!(lens.target, LensTarget::Line(_)) {
        titles.push("Open in trace".to_owned());
    }
    titles
}

fn command_of(
    title: String,
    document: &Document,
    line: u32,
    target: Option<u32>,
    capabilities: &ResolvedClientCapabilities,
) -> Command {
    let (command, arguments): (_, Vec<Value>) = if capabilities.client_commands {
        let uri = target.is_some().then(|| document.uri.clone());
        let params = OperatorsParams { uri, line: target, ..OperatorsParams::default() };
        (command::OPEN_TRACE, vec![json!(params)])
    } else {
        (command::DESCRIBE, vec![json!(document.uri), json!(target.unwrap_or(line))])
    };
    Command { title, command: command.to_owned(), arguments: Some(arguments) }
}
