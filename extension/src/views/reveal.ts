import * as vscode from 'vscode';
import type { SourceLocation } from '../protocol';

/** Puts the cursor on a source line, beside the view it was asked from. */
export async function reveal(
  location: SourceLocation,
  from: vscode.ViewColumn | undefined,
  keepFocus: boolean,
): Promise<void> {
  const uri = vscode.Uri.parse(location.uri, true);
  const document = await vscode.workspace.openTextDocument(uri);
  const line = document.lineAt(Math.min(location.line, document.lineCount - 1));
  const start = line.range.start.translate(0, line.firstNonWhitespaceCharacterIndex);
  const editor = await vscode.window.showTextDocument(document, {
    viewColumn: columnFor(uri, from),
    preserveFocus: keepFocus,
    selection: new vscode.Range(start, start),
  });
  editor.revealRange(line.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Where the file is open already, else any other group; a new one only when the view stands alone. */
function columnFor(uri: vscode.Uri, from: vscode.ViewColumn | undefined): vscode.ViewColumn {
  const others = vscode.window.tabGroups.all.filter((group) => group.viewColumn !== from);
  const holder = others.find((group) =>
    group.tabs.some((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString()),
  );
  return (holder ?? others[0])?.viewColumn ?? vscode.ViewColumn.Beside;
}
