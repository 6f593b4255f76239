import * as vscode from 'vscode';
import { plain } from './markdown';
import type { Status } from './protocol';

/** What the status item offers besides its text. */
type Offer = 'openTrace' | 'restartServer' | 'showLogs';

const offers: Record<Offer, vscode.Command> = {
  openTrace: { title: 'Open Trace…', command: 'atenLens.openTrace' },
  restartServer: { title: 'Restart Server', command: 'atenLens.restartServer' },
  showLogs: { title: 'Show Logs', command: 'atenLens.showLogs' },
};

/** The trace in use, in the language status of Python files. It also answers why nothing is shown. */
export class StatusItem implements vscode.Disposable {
  readonly #item = vscode.languages.createLanguageStatusItem('atenLens.status', { language: 'python' });

  constructor() {
    this.#item.name = 'ATen Lens';
    this.starting();
  }

  starting(): void {
    this.#set('Starting…', 'The language server is starting.', true, vscode.LanguageStatusSeverity.Information);
  }

  server(status: Status): void {
    const severity =
      status.state === 'error' ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
    this.#set(status.text, plain(status.detail), status.state === 'loading', severity);
  }

  failed(text: string, detail: string, offer: Offer): void {
    this.#set(text, detail, false, vscode.LanguageStatusSeverity.Error, offer);
  }

  dispose(): void {
    this.#item.dispose();
  }

  #set(text: string, detail: string, busy: boolean, severity: vscode.LanguageStatusSeverity, offer?: Offer): void {
    this.#item.text = text;
    this.#item.detail = detail;
    this.#item.busy = busy;
    this.#item.severity = severity;
    this.#item.command = offers[offer ?? 'openTrace'];
  }
}
