import * as vscode from 'vscode';
import { plain } from './markdown';
import type { Status } from './protocol';

/** What a click on the status does. */
type Offer = 'openTrace' | 'restartServer' | 'showLogs';

const offers: Record<Offer, vscode.Command> = {
  openTrace: { title: 'Open Trace…', command: 'atenLens.openTrace' },
  restartServer: { title: 'Restart Server', command: 'atenLens.restartServer' },
  showLogs: { title: 'Show Logs', command: 'atenLens.showLogs' },
};

/** The language status shows its detail on one line that does not wrap. */
const detailChars = 90;

/**
 * The trace in use, for as long as a Python file is in front: its name and age in the status bar, with the whole
 * story in the tooltip, which also answers why nothing is shown; and the same in short in the language status.
 */
export class StatusItem implements vscode.Disposable {
  readonly #language = vscode.languages.createLanguageStatusItem('atenLens.status', { language: 'python' });
  readonly #bar = vscode.window.createStatusBarItem('atenLens.trace', vscode.StatusBarAlignment.Right, 101);
  readonly #editors = vscode.window.onDidChangeActiveTextEditor(() => {
    this.#showForPython();
  });

  constructor() {
    this.#language.name = this.#bar.name = 'ATen Lens';
    this.starting();
    this.#showForPython();
  }

  starting(): void {
    this.#set('starting…', 'The language server is starting.', 'loading');
  }

  server(status: Status): void {
    this.#set(status.text, status.detail, status.state);
  }

  failed(text: string, detail: string, offer: Offer): void {
    this.#set(text, detail, 'failed', offer);
  }

  dispose(): void {
    vscode.Disposable.from(this.#language, this.#bar, this.#editors).dispose();
  }

  #showForPython(): void {
    if (vscode.window.activeTextEditor?.document.languageId === 'python') {
      this.#bar.show();
    } else {
      this.#bar.hide();
    }
  }

  #set(text: string, detail: string, state: Status['state'] | 'failed', offer: Offer = 'openTrace'): void {
    const busy = state === 'loading';
    const bad = state === 'failed' || state === 'error';
    const story = new vscode.MarkdownString(detail);
    story.isTrusted = { enabledCommands: ['atenLens.openTrace'] };
    this.#bar.text = `$(${busy ? 'loading~spin' : bad ? 'warning' : 'pulse'}) ${text}`;
    this.#bar.tooltip = story;
    this.#bar.command = offers[offer];
    this.#language.text = text;
    this.#language.detail = shortened(plain(detail));
    this.#language.busy = busy;
    this.#language.severity =
      state === 'failed'
        ? vscode.LanguageStatusSeverity.Error
        : bad
          ? vscode.LanguageStatusSeverity.Warning
          : vscode.LanguageStatusSeverity.Information;
    this.#language.command = offers[offer];
  }
}

function shortened(text: string): string {
  return text.length <= detailChars ? text : `${text.slice(0, detailChars).replace(/\s+\S*$/, '')} …`;
}
