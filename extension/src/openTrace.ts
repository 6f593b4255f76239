import * as vscode from 'vscode';
import type { Server } from './client';
import { plain } from './markdown';
import { type Capture, type Captures, requests, serverCommands, type Status } from './protocol';
import type { OperatorsView } from './views/operators';

type Item = vscode.QuickPickItem & ({ capture: Capture } | { browse: 'file' | 'folder' } | object);

/** *Open Trace…*: choose a capture, make it the shown one, show its operators. */
export async function openTrace(server: Server, view: OperatorsView): Promise<void> {
  const item = await pick(server.request<Captures>(requests.captures, {}), () => server.latest);
  const id = item === undefined ? undefined : await idOf(item);
  if (id === undefined) {
    return;
  }
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'ATen Lens: opening trace' },
    () => server.execute(serverCommands.showCapture, id),
  );
  await view.show({ capture: null, asTorch: false, filter: null, uri: null, line: null });
}

async function pick(answer: Promise<Captures>, status: () => Status | undefined): Promise<Item | undefined> {
  const box = vscode.window.createQuickPick<Item>();
  box.title = 'Open Trace';
  box.placeholder = 'Looking for captures…';
  box.matchOnDescription = true;
  box.matchOnDetail = true;
  box.busy = true;
  const chosen = new Promise<Item | undefined>((resolve) => {
    box.onDidAccept(() => {
      resolve(box.selectedItems[0]);
    });
    box.onDidHide(() => {
      resolve(undefined);
    });
  });
  box.show();
  try {
    const captures = await answer;
    box.placeholder = placeholder(captures);
    box.items = [...(captures.captures.length === 0 ? whyNone(status()) : []), ...itemsOf(captures)];
    box.busy = false;
    return await chosen;
  } finally {
    box.dispose();
  }
}

function placeholder({ captures, watched }: Captures): string {
  if (captures.length > 0) {
    return 'Choose the capture whose numbers are shown';
  }
  return watched.length > 0 ? `No trace found in ${watched.join(', ')}` : 'No trace found, and no folder is watched';
}

/** Where nothing can be chosen, the reason stands in its place. */
function whyNone(status: Status | undefined): Item[] {
  return status === undefined
    ? []
    : [{ label: `$(info) ${status.text}`, detail: plain(status.detail), alwaysShow: true }];
}

function itemsOf({ captures }: Captures): Item[] {
  return [
    ...captures.map((capture) => ({
      capture,
      label: `$(${capture.problem !== null ? 'warning' : capture.shown ? 'eye' : 'pulse'}) ${capture.name}`,
      description: [capture.backend, capture.device, capture.steps, capture.age, capture.shown ? 'shown' : '']
        .filter((part) => part !== '')
        .join(' · '),
      detail: capture.problem ?? vscode.workspace.asRelativePath(capture.path),
    })),
    { label: 'Elsewhere', kind: vscode.QuickPickItemKind.Separator },
    { browse: 'file', label: '$(file) Browse for a trace file…', alwaysShow: true },
    { browse: 'folder', label: '$(folder-opened) Browse for a profile folder…', alwaysShow: true },
  ];
}

async function idOf(item: Item): Promise<string | undefined> {
  if ('capture' in item) {
    return item.capture.id;
  }
  if (!('browse' in item)) {
    return undefined;
  }
  const files = item.browse === 'file';
  const defaultUri = vscode.workspace.workspaceFolders?.[0]?.uri;
  const chosen = await vscode.window.showOpenDialog({
    canSelectFiles: files,
    canSelectFolders: !files,
    openLabel: 'Open Trace',
    ...(defaultUri === undefined ? {} : { defaultUri }),
    ...(files ? { filters: { Traces: ['json', 'gz'], 'All files': ['*'] } } : {}),
  });
  return chosen?.[0]?.fsPath;
}
