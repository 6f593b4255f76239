import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as vscode from 'vscode';
import {
  CloseAction,
  type CloseHandlerResult,
  CodeLensRequest,
  ErrorAction,
  ExecuteCommandRequest,
  LanguageClient,
  type LanguageClientOptions,
  State,
} from 'vscode-languageclient/node';
import { findBinary } from './binary';
import { describe, type Log } from './log';
import { type Status, statusNotification } from './protocol';
import * as settings from './settings';
import type { StatusItem } from './status';

/** A server that has not answered `initialize` by then is taken for dead, so that nothing spins for ever. */
const startTimeoutMs = 20_000;

/** A server that ends by itself is started again, but not more often than this within the time. */
const restarts = { most: 3, withinMs: 180_000 };

/** The language server: at most one process, started and stopped one step at a time. */
export class Server implements vscode.Disposable {
  readonly #statusChanged = new vscode.EventEmitter<Status>();
  readonly onStatus = this.#statusChanged.event;
  /** What the server last said about the trace in use. */
  latest: Status | undefined;
  #client: LanguageClient | undefined;
  #process: ChildProcess | undefined;
  #startTimer: NodeJS.Timeout | undefined;
  /** Whether the present client has had a server that answered. */
  #ran = false;
  /** When its server ended by itself, of late. */
  #ends: number[] = [];
  #steps: Promise<void> = Promise.resolve();

  constructor(
    private readonly extensionPath: string,
    private readonly log: Log,
    private readonly status: StatusItem,
  ) {}

  restart(): Promise<void> {
    return this.#next(async () => {
      await this.#stop();
      await this.#start();
    });
  }

  stop(): Promise<void> {
    return this.#next(() => this.#stop());
  }

  dispose(): void {
    this.#statusChanged.dispose();
  }

  async request<Result>(method: string, params: unknown): Promise<Result> {
    return (await this.#running()).sendRequest<Result>(method, params);
  }

  async execute(command: string, ...args: unknown[]): Promise<unknown> {
    const client = await this.#running();
    return client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
  }

  /**
   * Has VS Code ask for the lenses once more. It drops a request that was about to be made when the editor loses the
   * focus, as it does to the operators table just when another capture has changed the numbers.
   */
  refreshLenses(): void {
    const lenses = this.#client?.getFeature(CodeLensRequest.method);
    const providers = vscode.workspace.textDocuments.map((document) => lenses?.getProvider(document));
    for (const provider of new Set(providers)) {
      provider?.onDidChangeCodeLensEmitter.fire();
    }
  }

  #next(step: () => Promise<void>): Promise<void> {
    const done = this.#steps.then(step);
    this.#steps = done.catch((error: unknown) => {
      this.log.error(describe(error));
    });
    return this.#steps;
  }

  async #running(): Promise<LanguageClient> {
    await this.#steps;
    if (this.#client?.state !== State.Running) {
      throw new Error('The ATen Lens server is not running. “ATen Lens: Show Logs” says why.');
    }
    return this.#client;
  }

  async #start(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const binary = findBinary(settings.serverPath(), this.extensionPath, folder);
    if ('problem' in binary) {
      this.#fail('no server', binary.problem);
      return;
    }
    this.status.starting();
    const client = new LanguageClient('atenLens', 'ATen Lens', () => this.#spawn(binary.path), this.#options());
    this.#client = client;
    let told = false as boolean;
    this.#ends = [];
    client.onNotification(statusNotification, (status: Status) => {
      told = true;
      this.latest = status;
      this.status.server(status);
      this.#statusChanged.fire(status);
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        clearTimeout(this.#startTimer);
      } else if (newState === State.Stopped && this.#client === client) {
        this.status.failed('server stopped', 'The language server has ended.', 'restartServer');
      }
    });
    try {
      await client.start();
    } catch (error) {
      clearTimeout(this.#startTimer);
      this.#client = undefined;
      this.#fail('server did not start', `The ATen Lens server ${binary.path} did not start: ${describe(error)}`);
      return;
    }
    this.#ran = true;
    if (!told) {
      this.status.server({ state: 'none', text: 'no trace yet', detail: 'The server is looking for traces.' });
    }
  }

  async #spawn(path: string): Promise<ChildProcess> {
    this.log.info(`Starting ${path}`);
    const env = { ...process.env, ...settings.extraEnv() };
    const child = spawn(path, ['lsp', '--stdio'], { env, stdio: 'pipe' });
    this.#process = child;
    await once(child, 'spawn');
    this.#startTimer = setTimeout(() => {
      this.log.error(`No answer from ${path} within ${startTimeoutMs / 1000} s; ending it.`);
      child.kill('SIGKILL');
    }, startTimeoutMs);
    child.on('exit', (code, signal) => {
      this.log.info(`The server ended (${signal ?? `exit code ${code ?? 'unknown'}`}).`);
    });
    return child;
  }

  #options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: 'file', language: 'python' }],
      outputChannel: this.log.channel,
      diagnosticCollectionName: 'ATen Lens',
      initializationOptions: { settings: settings.all(), clientCommands: true },
      // A failed start is reported once, by `#start`.
      initializationFailedHandler: () => false,
      errorHandler: { error: () => ({ action: ErrorAction.Continue }), closed: () => this.#closed() },
      // Hovers link to the operators table; no other command may be run from the server's Markdown.
      markdown: { isTrusted: { enabledCommands: ['atenLens.openTrace'] } },
    };
  }

  /** The connection has ended without our doing. A server that never ran is not tried again. */
  #closed(): CloseHandlerResult {
    const now = Date.now();
    this.#ends = [...this.#ends.filter((end) => now - end < restarts.withinMs), now];
    if (this.#ran && this.#ends.length <= restarts.most) {
      this.status.starting();
      return { action: CloseAction.Restart, handled: true };
    }
    if (this.#ran) {
      this.#fail('server keeps ending', `The ATen Lens server ended ${this.#ends.length} times in three minutes.`);
    }
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  async #stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#ran = false;
    this.latest = undefined;
    if (client === undefined) {
      return;
    }
    try {
      await client.dispose();
    } catch (error) {
      this.log.error(`The server did not stop by itself: ${describe(error)}`);
      this.#process?.kill('SIGKILL');
    }
  }

  #fail(text: string, detail: string): void {
    this.log.error(detail);
    this.status.failed(text, detail, 'showLogs');
    void vscode.window.showErrorMessage(detail, 'Show Logs', 'Open Settings').then((choice) => {
      if (choice === 'Show Logs') {
        this.log.show();
      } else if (choice === 'Open Settings') {
        void vscode.commands.executeCommand('workbench.action.openSettings', 'atenLens.server');
      }
    });
  }
}
