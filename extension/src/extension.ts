import * as vscode from 'vscode';
import { Server } from './client';
import { registerCommands } from './commands';
import { Log } from './log';
import { needsRestart } from './settings';
import { StatusItem } from './status';
import { OperatorsView } from './views/operators';

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = new Log();
  const status = new StatusItem();
  const server = new Server(context.extensionPath, log, status);
  const view = new OperatorsView(context.extensionUri, server, log);
  running = server;
  context.subscriptions.push(
    log,
    status,
    server,
    view,
    registerCommands(server, view, log),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (needsRestart(change)) {
        void server.restart();
      }
    }),
    // Trust brings back the settings that were ignored without it.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
  );
  void server.restart();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
