import * as vscode from 'vscode';

/** One output channel for the extension and the server, so that *Show Logs* has one place to show. */
export class Log implements vscode.Disposable {
  readonly channel = vscode.window.createOutputChannel('ATen Lens', 'log');

  info(message: string): void {
    this.#line('info', message);
  }

  error(message: string): void {
    this.#line('error', message);
  }

  show(): void {
    this.channel.show(true);
  }

  dispose(): void {
    this.channel.dispose();
  }

  #line(level: string, message: string): void {
    this.channel.appendLine(`[${level}] ${new Date().toISOString()} ${message}`);
  }
}

/** An error's own words, on one line. */
export function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim();
}
