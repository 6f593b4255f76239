import * as vscode from 'vscode';

export const section = 'atenLens';

/** The whole section as plain data, which is what the server takes. */
export function all(): unknown {
  return JSON.parse(JSON.stringify(vscode.workspace.getConfiguration(section)));
}

export function serverPath(): string {
  return vscode.workspace.getConfiguration(section).get<string>('server.path', '');
}

export function extraEnv(): Record<string, string> {
  return vscode.workspace.getConfiguration(section).get<Record<string, string>>('server.extraEnv', {});
}

/** Whether a change needs another server process, and not merely other settings for this one. */
export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return ['server.path', 'server.extraEnv', 'logFile'].some((name) =>
    change.affectsConfiguration(`${section}.${name}`),
  );
}
