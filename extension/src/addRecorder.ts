import * as vscode from 'vscode';
import type { Server } from './client';
import { type Recorder, serverCommands } from './protocol';

/**
 * *Add Exact-Line Recorder*: has the server write it into a folder of the workspace, opens it, says how it is used. What
 * somebody else put there under its name is only replaced when the user says so.
 */
export async function addRecorder(server: Server): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder =
    folders.length > 1
      ? await vscode.window.showWorkspaceFolderPick({ placeHolder: 'The folder of the script that is profiled' })
      : folders[0];
  if (folder === undefined) {
    return;
  }
  const add = async (replace: boolean): Promise<Recorder> =>
    (await server.execute(serverCommands.addRecorder, folder.uri.fsPath, replace)) as Recorder;
  let added = await add(false);
  if (added.differs) {
    if (!(await mayReplace(added.path))) {
      return;
    }
    added = await add(true);
  }
  const { path, usage } = added;
  await vscode.window.showTextDocument(vscode.Uri.file(path));
  void vscode.window.showInformationMessage(`For exact lines with torch up to 2.13: ${usage}`);
}

async function mayReplace(path: string): Promise<boolean> {
  const overwrite = 'Overwrite';
  const choice = await vscode.window.showWarningMessage(
    `${vscode.workspace.asRelativePath(path)} is there already and differs.`,
    { modal: true, detail: 'Overwrite it with the recorder of this version?' },
    overwrite,
  );
  return choice === overwrite;
}
