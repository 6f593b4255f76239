import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The page of the operators view. It may load its own script and style and nothing else; it has no network. */
export function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = randomBytes(18).toString('base64url');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'operators.js')).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'operators.css')).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="stylesheet" href="${style}">
  <title>Operators</title>
</head>
<body>
  <header>
    <div class="titles">
      <h1 id="title">Operators</h1>
      <p id="subtitle"></p>
    </div>
    <div class="tools">
      <div class="search">
        <input id="filter" type="text" placeholder="Filter" aria-label="Filter operators" title="Filter operators ( / )" spellcheck="false" autocomplete="off">
        <span id="count" aria-live="polite"></span>
      </div>
      <button id="as-torch" type="button" aria-pressed="false" title="The table of key_averages(), its columns, names and order">As torch prints it</button>
    </div>
  </header>
  <ul id="notices" aria-label="Notices"></ul>
  <main id="scroll"><table id="table" role="grid" aria-labelledby="title"></table><p id="empty" hidden></p></main>
  <footer>
    <p id="footer"></p>
    <p id="say" role="status"></p>
  </footer>
  <script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
