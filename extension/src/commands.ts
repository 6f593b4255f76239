import * as path from 'node:path';
import * as vscode from 'vscode';
import { addRecorder } from './addRecorder';
import type { Server } from './client';
import { describe, type Log } from './log';
import { openTrace } from './openTrace';
import { type OperatorsParams, serverCommands } from './protocol';
import type { OperatorsView } from './views/operators';

export const shownCapture: OperatorsParams = { capture: null, asTorch: false, filter: null, uri: null, line: null };

/** Registers every command the palette lists. */
export function registerCommands(server: Server, view: OperatorsView, log: Log): vscode.Disposable {
  const command = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`atenLens.${name}`, async (...args: unknown[]) => {
      try {
        await run(...args);
      } catch (error) {
        log.error(describe(error));
        void vscode.window.showErrorMessage(withoutWorkspace(describe(error)));
      }
    });
  return vscode.Disposable.from(
    // From the palette without an argument; from lenses and hovers with what to show.
    command('openTrace', (argument) =>
      isParams(argument) ? view.show({ ...shownCapture, ...argument }) : openTrace(server, view),
    ),
    command('showOperators', () => view.show(shownCapture)),
    command('refresh', () => server.execute(serverCommands.refresh)),
    command('toggleMarks', async () => {
      const shown = await server.execute(serverCommands.toggleMarks);
      vscode.window.setStatusBarMessage(`ATen Lens: marks ${shown === true ? 'shown' : 'hidden'}`, 3000);
    }),
    command('clear', () => server.execute(serverCommands.clear)),
    command('addRecorder', () => addRecorder(server)),
    command('restartServer', () => server.restart()),
    command('showLogs', () => {
      log.show();
    }),
  );
}

/** Paths in a message as the user sees them in the explorer: a notification shows one short line. */
function withoutWorkspace(message: string): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.reduce((text, { uri }) => text.replaceAll(`${uri.fsPath}${path.sep}`, ''), message);
}

function isParams(argument: unknown): argument is Partial<OperatorsParams> {
  return typeof argument === 'object' && argument !== null && !(argument instanceof vscode.Uri);
}
