//! `textDocument/codeAction`: the quick fixes of findings.

use std::collections::HashMap;
use std::path::Path;

use ide::Finding;
use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, Command, CreateFile, Diagnostic,
    DocumentChangeOperation, DocumentChanges, NumberOrString, OneOf, OptionalVersionedTextDocumentIdentifier,
    Range, ResourceOp, TextDocumentEdit, TextEdit, Url, WorkspaceEdit,
};
use serde_json::json;

use crate::capabilities::ResolvedClientCapabilities;
use crate::diagnostics::moved;
use crate::documents::Document;
use crate::protocol::command;
use crate::snapshot::Snapshot;

pub fn code_actions(
    world: &Snapshot,
    document: &Document,
    wanted: Range,
    context: &CodeActionContext,
    capabilities: &ResolvedClientCapabilities,
) -> Vec<CodeActionOrCommand> {
    let Some(shown) = world.shown.as_deref().filter(|_| world.visible) else { return Vec::new() };
    let quick_fixes = |kind: &CodeActionKind| CodeActionKind::QUICKFIX.as_str().starts_with(kind.as_str());
    if context.only.as_ref().is_some_and(|only| !only.iter().any(quick_fixes)) {
        return Vec::new();
    }
    let path = document.path.as_deref();
    let mut actions = Vec::new();
    let here = shown.findings().filter(|(real, _)| Some(*real) == path).map(|(_, finding)| finding);
    for finding in here.filter(|finding| !finding.fixes.is_empty()) {
        let map = document.map_from(&finding.text);
        let now = |bytes| moved(&finding.text, &map, &document.text, &document.lines, bytes);
        let is_here = now(&finding.scope).is_some_and(|scope| share_a_line(scope, wanted));
        // The same text can be right to rewrite no more: a temporary is used elsewhere now, torch has another name.
        if !is_here || !finding.basis.iter().all(|bytes| now(bytes).is_some()) {
            continue;
        }
        for fix in &finding.fixes {
            let edits = fix
                .edits
                .iter()
                .map(|edit| Some(TextEdit { range: now(&edit.range)?, new_text: edit.new_text.clone() }));
            // One changed line under the fix and it is no longer known to be right.
            let Some(edits) = edits.collect::<Option<Vec<_>>>() else { continue };
            let action = CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: diagnostics_of(finding, context),
                is_preferred: fix.preferred.then_some(true),
                ..CodeAction::default()
            };
            // It may have been put there since the finding was made.
            let folder = fix.recorder.as_deref().map(Path::new);
            let missing =
                folder.map(|folder| folder.join(capture::RECORDER_NAME)).filter(|file| !file.exists());
            actions.push(CodeActionOrCommand::CodeAction(match missing {
                Some(file) => with_recorder(action, document, edits, &file, capabilities),
                None => CodeAction { edit: Some(changes(document, edits)), ..action },
            }));
        }
    }
    actions
}

fn changes(document: &Document, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let changes = HashMap::from([(document.uri.clone(), edits)]);
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

/// An action that also puts the recorder there: in the same edit, so that it is undone with it, or by command where the
/// client makes no files.
fn with_recorder(
    action: CodeAction,
    document: &Document,
    edits: Vec<TextEdit>,
    file: &Path,
    capabilities: &ResolvedClientCapabilities,
) -> CodeAction {
    let title = format!("{}, and add {}", action.title, capture::RECORDER_NAME);
    let uri = Url::from_file_path(file).ok().filter(|_| capabilities.file_creation);
    let Some(uri) = uri else {
        let command = Command {
            title: title.clone(),
            command: command::ADD_RECORDER.to_owned(),
            arguments: Some(vec![json!(file.parent().map(Path::to_string_lossy))]),
        };
        let edit = Some(changes(document, edits));
        return CodeAction { title, edit, command: Some(command), ..action };
    };
    let edit = |uri: Url, version, edits: Vec<TextEdit>| {
        DocumentChangeOperation::Edit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(OneOf::Left).collect(),
        })
    };
    let text = TextEdit { range: Range::default(), new_text: capture::RECORDER_TEXT.to_owned() };
    // Without options: where a file has come to be there meanwhile, nothing is done at all.
    let create = CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let operations = vec![
        DocumentChangeOperation::Op(ResourceOp::Create(create)),
        edit(uri, None, vec![text]),
        edit(document.uri.clone(), Some(document.version), edits),
    ];
    let document_changes = Some(DocumentChanges::Operations(operations));
    CodeAction { title, edit: Some(WorkspaceEdit { document_changes, ..WorkspaceEdit::default() }), ..action }
}

/// Whether two ranges share a line: a fix is offered wherever on its lines the cursor is.
fn share_a_line(a: Range, b: Range) -> bool {
    a.start.line <= b.end.line && b.start.line <= a.end.line
}

fn diagnostics_of(finding: &Finding, context: &CodeActionContext) -> Option<Vec<Diagnostic>> {
    let code = NumberOrString::String(finding.code.to_owned());
    let same: Vec<_> =
        context.diagnostics.iter().filter(|d| d.code.as_ref() == Some(&code)).cloned().collect();
    (!same.is_empty()).then_some(same)
}
