// The test's hands and eyes in VS Code: one browser page, and the words a test speaks in.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { startCodeServer } from './code-server.mjs';

export const screenshots = path.join(import.meta.dirname, 'screenshots');

/** A step that takes longer than this has failed. */
const patience = 20_000;

const browserFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/**
 * Starts a fresh VS Code that can open copies of `workspaces`: folders to copy, or functions that make one in a folder.
 */
export async function openEditor({ workspaces, vsix, settings = {} }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aten-lens-editor-'));
  for (const workspace of workspaces) {
    if (typeof workspace === 'function') {
      workspace(folder);
    } else {
      fs.cpSync(workspace, path.join(folder, path.basename(workspace)), { recursive: true });
    }
  }
  fs.rmSync(screenshots, { recursive: true, force: true });
  fs.mkdirSync(screenshots, { recursive: true });
  const server = await startCodeServer({
    folder: path.join(folder, 'code-server'),
    vsix,
    settings: {
      'workbench.reduceMotion': 'on',
      'window.menuBarVisibility': 'compact',
      'editor.cursorBlinking': 'solid',
      'editor.hover.delay': 100,
      'editor.minimap.enabled': false,
      'files.hotExit': 'off',
      'files.autoSave': 'off',
      ...settings,
    },
  });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: browserFlags });
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 }, reducedMotion: 'reduce' });
  page.setDefaultTimeout(patience);
  return new Editor(page, server, folder, async () => {
    await browser.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
}

class Editor {
  constructor(page, server, folder, close) {
    this.page = page;
    this.server = server;
    this.folder = folder;
    this.close = close;
  }

  /** Opens one of the workspaces by its folder's name. */
  async openWorkspace(name) {
    this.workspace = path.join(this.folder, name);
    await this.page.goto(this.server.urlOf(this.workspace), { waitUntil: 'domcontentloaded' });
    await this.page.waitForSelector('.monaco-workbench .part.statusbar', { timeout: 90_000 });
  }

  screenshot(name) {
    return this.page.screenshot({ path: path.join(screenshots, `${name}.png`) });
  }

  /** Opens a file by its name, as Ctrl+P does. */
  async openFile(name) {
    await this.page.keyboard.press('Control+P');
    await this.#type(name);
    await this.row(name).first().waitFor();
    await this.page.keyboard.press('Enter');
    await this.tab(path.basename(name)).waitFor();
    await this.code.first().waitFor();
  }

  /** Runs a command by its title, as F1 does. */
  async run(title) {
    await this.page.keyboard.press('F1');
    await this.#type(`>${title}`);
    await this.row(title).first().click();
  }

  async goTo(line, column = 1) {
    await this.page.keyboard.press('Control+G');
    await this.#type(`:${line}:${column}`);
    await this.page.keyboard.press('Enter');
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  }

  async #type(text) {
    const box = this.page.locator('.quick-input-widget input').first();
    await box.waitFor({ state: 'visible' });
    await box.fill(text);
  }

  row(text) {
    return this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text });
  }

  tab(name) {
    return this.page.locator(`.tabs-container .tab[data-resource-name="${name}"]`);
  }

  /** The lines of code on screen. */
  get code() {
    return this.page.locator('.editor-instance .view-line');
  }

  /** The lines that hold `text`. Code on screen has non-breaking spaces. */
  line(text) {
    return this.code.filter({ hasText: text });
  }

  /** Inlay hints, anywhere or on the line that holds `text`. */
  hints(text) {
    const lines = text === undefined ? this.code : this.line(text);
    return lines.locator('span[class*="dyn-rule"]');
  }

  get lenses() {
    return this.page.locator('.codelens-decoration a');
  }

  squiggles(severity = 'info') {
    return this.page.locator(`.squiggly-${severity}`);
  }

  get hover() {
    return this.page.locator('.monaco-hover:not(.hidden) .hover-contents');
  }

  get quickFixes() {
    return this.page.locator('.action-widget .monaco-list-row');
  }

  get toasts() {
    return this.page.locator('.notifications-toasts .notification-list-item');
  }

  /** The operators table: the document inside the webview. */
  get table() {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  }

  /** The row of an operator. */
  operator(name) {
    return this.table.locator('tbody tr', { has: this.page.locator(`td:first-child[title="${name}"]`) });
  }

  /** The names in the table, from top to bottom. */
  names() {
    return this.table.locator('tbody td:first-child').evaluateAll((cells) => cells.map((cell) => cell.title));
  }

  /** The hint with this text on the line that holds this code. */
  hint(code, text) {
    return this.line(code).filter({ hasText: text });
  }

  statusBar(text) {
    return this.page.locator('.part.statusbar .statusbar-item', { hasText: text }).first();
  }

  /** Rests the mouse on a word of a line of code. */
  async hoverOver(code, word) {
    await this.line(code).locator('span', { hasText: word }).last().hover();
    await this.hover.first().waitFor();
  }

  /** Takes the mouse where nothing is. */
  async leave() {
    await this.page.mouse.move(700, 760);
    await this.hover.first().waitFor({ state: 'hidden' });
  }

  /** Waits until the cursor is on this line, which the status bar says. */
  async cursorOn(line) {
    await this.statusBar(`Ln ${line},`).waitFor();
  }

  /** The number in the margin beside the line that holds `text`. */
  async lineNumberOf(text) {
    const top = await this.line(text).first().evaluate((line) => line.style.top);
    const numbers = this.page.locator('.margin-view-overlays > div');
    return numbers.evaluateAll((all, top) => Number(all.find((one) => one.style.top === top)?.textContent), top);
  }

  async seeLineNumber(text, wanted) {
    for (const end = Date.now() + patience; (await this.lineNumberOf(text)) !== wanted; ) {
      if (Date.now() > end) {
        throw new Error(`“${text}” is on line ${await this.lineNumberOf(text)}, not ${wanted}`);
      }
      await this.page.waitForTimeout(20);
    }
  }

  /** A path for a new trace of this variant, as the profiler would choose it; its folder exists. */
  newTrace(variant) {
    const stamp = `20261014${String(100000 + ++this.#traces)}`;
    const folder = path.join(this.workspace, 'profile_output', variant, 'i-0a1b2c3d4e5f60718_pid_31877', stamp);
    fs.mkdirSync(folder, { recursive: true });
    return path.join(folder, 'trace.json');
  }

  #traces = 0;

  /** Answers VS Code's own file dialog. */
  async choosePath(file) {
    const box = this.page.locator('.quick-input-widget input').first();
    await this.page.locator('.quick-input-widget', { hasText: 'Open Trace' }).locator('a.monaco-button', { hasText: 'Open Trace' }).waitFor();
    await box.fill(file);
    await this.page.waitForTimeout(300);
    await this.page.keyboard.press('Enter');
  }

  /** Settings of the workspace, in the file VS Code keeps them in. */
  async setSettings(settings) {
    const folder = path.join(this.workspace, '.vscode');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(settings));
  }
}
