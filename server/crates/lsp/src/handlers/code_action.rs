//! `textDocument/codeAction`: the quick fixes of findings.

use std::collections::HashMap;

use ide::Finding;
use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, Diagnostic, NumberOrString, Range,
    TextEdit, WorkspaceEdit,
};

use crate::diagnostics::moved;
use crate::documents::Document;
use crate::snapshot::Snapshot;

pub fn code_actions(
    world: &Snapshot,
    document: &Document,
    wanted: Range,
    context: &CodeActionContext,
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
            let changes = HashMap::from([(document.uri.clone(), edits)]);
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: diagnostics_of(finding, context),
                edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
                is_preferred: fix.preferred.then_some(true),
                ..CodeAction::default()
            }));
        }
    }
    actions
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
