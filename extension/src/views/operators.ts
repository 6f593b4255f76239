import * as vscode from 'vscode';
import type { Server } from '../client';
import { describe, type Log } from '../log';
import { type Operators, type OperatorsParams, requests } from '../protocol';
import { page } from './html';
import type { FromWebview, ToWebview, ViewState } from './messages';
import { reveal } from './reveal';

const viewType = 'atenLens.operators';

/** The table of operators: one panel, which follows the capture that is shown. */
export class OperatorsView implements vscode.Disposable {
  readonly #dist: vscode.Uri;
  readonly #icon: vscode.Uri;
  readonly #subscriptions: vscode.Disposable[];
  #panel: vscode.WebviewPanel | undefined;
  /** What the webview shows, sent again when VS Code has thrown a hidden webview away and builds it anew. */
  #latest: ToWebview = { type: 'loading' };
  #params: OperatorsParams = { capture: null, asTorch: false, filter: null, uri: null, line: null };
  /** Counts the loads, so that a slow answer never replaces a newer one. */
  #load = 0;

  constructor(
    extensionUri: vscode.Uri,
    private readonly server: Server,
    private readonly log: Log,
  ) {
    this.#dist = vscode.Uri.joinPath(extensionUri, 'dist');
    this.#icon = vscode.Uri.joinPath(extensionUri, 'media', 'icon.png');
    this.#subscriptions = [
      server.onStatus(({ state }) => {
        if (state === 'ready' && this.#panel !== undefined) {
          void this.#show({ ...this.#params, capture: null, filter: null, uri: null, line: null });
        }
      }),
      vscode.window.registerWebviewPanelSerializer(viewType, {
        deserializeWebviewPanel: (panel: vscode.WebviewPanel, state: Partial<ViewState> | undefined) => {
          this.#adopt(panel);
          return this.#show({ ...this.#params, asTorch: state?.asTorch ?? false });
        },
      }),
    ];
  }

  /** Opens the view, or brings it forward, and shows what is asked for. */
  show(params: OperatorsParams): Promise<void> {
    if (this.#panel === undefined) {
      const column = vscode.window.activeTextEditor === undefined ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
      this.#adopt(vscode.window.createWebviewPanel(viewType, 'Operators', column));
    } else {
      this.#panel.reveal();
    }
    // What the user switched on in the view stays on.
    return this.#show({ ...params, asTorch: params.asTorch || this.#params.asTorch });
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
    this.#panel?.dispose();
  }

  #adopt(panel: vscode.WebviewPanel): void {
    this.#panel?.dispose();
    this.#panel = panel;
    this.#latest = { type: 'loading' };
    panel.iconPath = this.#icon;
    panel.webview.options = { enableScripts: true, localResourceRoots: [this.#dist] };
    panel.webview.onDidReceiveMessage((message: FromWebview) => {
      void this.#receive(message);
    });
    panel.onDidDispose(() => {
      if (this.#panel === panel) {
        this.#panel = undefined;
      }
    });
    panel.webview.html = page(panel.webview, this.#dist);
  }

  async #show(params: OperatorsParams): Promise<void> {
    this.#params = params;
    const load = ++this.#load;
    this.#post({ type: 'loading' });
    let message: ToWebview;
    try {
      const operators = await this.server.request<Operators>(requests.operators, params);
      message = { type: 'operators', operators, asTorch: params.asTorch, filter: params.filter };
    } catch (error) {
      this.log.error(describe(error));
      message = { type: 'failed', message: describe(error) };
    }
    if (load === this.#load) {
      this.#post(message);
    }
  }

  #post(message: ToWebview): void {
    this.#latest = message;
    void this.#panel?.webview.postMessage(message);
  }

  async #receive(message: FromWebview): Promise<void> {
    switch (message.type) {
      case 'ready':
        void this.#panel?.webview.postMessage(this.#latest);
        this.server.refreshLenses();
        break;
      case 'focused':
        this.server.refreshLenses();
        break;
      case 'asTorch':
        await this.#show({ ...this.#params, asTorch: message.asTorch, filter: null, uri: null, line: null });
        break;
      case 'openTrace':
        await vscode.commands.executeCommand('atenLens.openTrace');
        break;
      case 'open':
        try {
          await reveal(message.location, this.#panel?.viewColumn, message.keepFocus);
        } catch (error) {
          void vscode.window.showWarningMessage(`The source line cannot be shown: ${describe(error)}`);
        }
        break;
    }
  }
}
