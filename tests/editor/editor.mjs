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

/** Opens a copy of `project` in a fresh VS Code. */
export async function openEditor({ project, vsix, settings = {} }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'aten-lens-editor-'));
  const workspace = path.join(folder, path.basename(project));
  fs.cpSync(project, workspace, { recursive: true });
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
  const editor = new Editor(page, server, workspace, async () => {
    await browser.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await editor.openFolder(workspace);
  return editor;
}

class Editor {
  constructor(page, server, workspace, close) {
    this.page = page;
    this.server = server;
    this.workspace = workspace;
    this.close = close;
  }

  async openFolder(folder) {
    this.workspace = folder;
    await this.page.goto(this.server.urlOf(folder), { waitUntil: 'domcontentloaded' });
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

  /** The line number the cursor is on, as the status bar says it. */
  async cursorLine() {
    const text = await this.page.locator('#status\\.editor\\.selection').innerText();
    return Number(/Ln (\d+)/.exec(text)?.[1]);
  }

  /** The text of every hint on screen, from top to bottom. */
  async hintTexts() {
    const texts = await this.hints().allInnerTexts();
    return texts.map((text) => text.replaceAll('\u00a0', ' ').trim()).filter((text) => text !== '');
  }
}
