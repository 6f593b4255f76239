import * as vscode from 'vscode';
import type { Server } from './client';
import { type Recorder, serverCommands } from './protocol';

/** *Add Exact-Line Recorder*: has the server write it into a folder of the workspace, opens it, says how it is used. */
export async function addRecorder(server: Server): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder =
    folders.length > 1
      ? await vscode.window.showWorkspaceFolderPick({ placeHolder: 'The folder of the script that is profiled' })
      : folders[0];
  if (folder === undefined) {
    return;
  }
  const { path, usage } = (await server.execute(serverCommands.addRecorder, folder.uri.fsPath)) as Recorder;
  await vscode.window.showTextDocument(vscode.Uri.file(path));
  void vscode.window.showInformationMessage(`For exact lines with torch up to 2.13: ${usage}`);
}
