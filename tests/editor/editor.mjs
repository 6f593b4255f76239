// The test's hands and eyes in VS Code: one browser page, and the words a test speaks in.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { startCodeServer } from './code-server.mjs';

export const screenshots = path.join(import.meta.dirname, 'screenshots');

const viewport = { width: 1360, height: 820 };

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
  const page = await browser.newPage({ viewport, reducedMotion: 'reduce' });
  page.setDefaultTimeout(patience);
  if (process.env.SLOW) {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: Number(process.env.SLOW) });
  }
  return new Editor(page, server, folder, async () => {
    await browser.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
}

class Editor {
  constructor(page, server, folder, close) {
    this.page = page;
    this.viewport = viewport;
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
    await this.#quickInput('Control+P', name, this.row(name).first());
    await this.page.keyboard.press('Enter');
    await this.tab(path.basename(name)).waitFor();
    await this.code.first().waitFor();
  }

  /** Runs a command by its title, as F1 does. */
  async run(title) {
    await this.#quickInput('F1', `>${title}`, this.row(title).first());
    await this.row(title).first().click();
  }

  async goTo(line, column = 1) {
    await this.#quickInput('Control+G', `:${line}:${column}`, this.row(`Go to line ${line}`).or(this.row(`line ${line}`)).first());
    await this.page.keyboard.press('Enter');
    await this.cursorOn(line);
  }

  /** Opens VS Code's input by a key and types into it until it offers `wanted`. A key pressed too early is lost: press again. */
  async #quickInput(key, text, wanted) {
    const box = this.page.locator('.quick-input-widget input').first();
    for (let tries = 1; ; tries++) {
      try {
        await this.page.keyboard.press(key);
        await box.fill(text, { timeout: 3000 });
        await wanted.waitFor({ timeout: 5000 });
        return;
      } catch (error) {
        if (tries === 3) {
          throw error;
        }
        await this.page.keyboard.press('Escape');
      }
    }
  }

  /** Opens the quick fixes at the cursor and applies the one with this text; `look` sees the menu first. */
  async quickFix(text, look) {
    await this.page.keyboard.press('Control+.');
    const fix = this.quickFixes.filter({ hasText: text }).first();
    await fix.waitFor();
    await look();
    // By key: the menu takes no click right after it has opened.
    for (let tries = 0; !/focused/.test(await fix.getAttribute('class')); tries++) {
      if (tries > 10) {
        throw new Error(`the quick fix “${text}” cannot be reached`);
      }
      await this.page.keyboard.press('ArrowDown');
    }
    await this.page.keyboard.press('Enter');
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

  /** A question that has to be answered before anything else. */
  get dialog() {
    return this.page.locator('.monaco-dialog-box');
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
    // The first span of the line's own that holds it; a hint's comes after the code.
    await this.line(code).locator('span span', { hasText: word }).first().hover();
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

  /** Answers VS Code's own dialog, which shows the workspace: a file is taken by a click, a folder entered and then taken. */
  async chooseFile(name) {
    await this.#dialogButton.waitFor();
    await this.row(name).first().click();
  }

  async chooseFolder(name) {
    await this.chooseFile(name);
    // Inside, there is nothing but the way back.
    await this.row(name).waitFor({ state: 'detached' });
    await this.#dialogButton.click();
  }

  get #dialogButton() {
    return this.page.locator('.quick-input-widget .quick-input-action a', { hasText: 'Open Trace' });
  }

  /** Settings of the workspace, in the file VS Code keeps them in. */
  async setSettings(settings) {
    const folder = path.join(this.workspace, '.vscode');
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(settings));
  }
}
