// What a user does with ATen Lens, from the first look at the numbers to the next run, in one VS Code.
//   VSIX=path node --test scenario.test.mjs        UPDATE_README=1 also replaces the README's screenshot
// SLOW=8 makes the browser that many times slower, as a busy machine does: what depends on timing shows.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openEditor, screenshots } from './editor.mjs';
import { report, timeUntil } from './measure.mjs';

const repository = path.resolve(import.meta.dirname, '../..');
const projects = path.join(repository, 'fixtures/projects');
const fasterTrace = path.join(repository, 'fixtures/traces/rmsnorm_faster.json');

/** What each line of the naive variant costs: the table in fixtures/projects/rmsnorm/README.md. */
const naive = {
  'x2 = x * x': 'mul · 402 µs NEURON 17.1%',
  'ms = x2.mean': 'mean · 341 µs NEURON 14.5%',
  'ms = ms + eps': 'add · 435 µs NEURON 18.5%',
  'r = torch.rsqrt': 'rsqrt · 415 µs NEURON 17.6%',
  'y = x * r': 'mul · 379 µs NEURON 16.1%',
  'return y * weight': 'mul · 384 µs NEURON 16.3%',
};

let editor;

/** A step: when it fails, what was on screen and what the server said are part of the failure. */
function step(name, run) {
  test(name, { timeout: 90_000 }, async () => {
    try {
      await run();
    } catch (error) {
      const picture = `failed-${name.replace(/\W+/g, '-')}`;
      await editor.screenshot(picture).catch(() => undefined);
      console.error(`see ${path.join(screenshots, `${picture}.png`)}\n${editor.server.serverLog()}`);
      throw error;
    }
  });
}

describe('ATen Lens in VS Code', () => {
  before(
    async () => {
      const vsix = process.env.VSIX ?? found(path.join(repository, 'extension'), /^aten-lens-.*\.vsix$/);
      editor = await openEditor({
        workspaces: [path.join(projects, 'rmsnorm'), path.join(projects, 'no_stacks'), olderTorch, unusableInputs],
        vsix,
        settings: { 'workbench.colorTheme': 'Default Dark Modern' },
      });
    },
    { timeout: 120_000 },
  );
  after(async () => {
    report();
    await editor?.close();
  });

  step('every hot line shows its cost, the function its sum, the hot spots are underlined', async () => {
    await editor.openWorkspace('rmsnorm');
    await editor.openFile('rmsnorm.py');
    await seeNaive();
    await editor.lenses.filter({ hasText: '2.35 ms NEURON · 6 ops · 100.0%' }).waitFor();
    await editor.lenses.filter({ hasText: 'ATen Lens: naive' }).waitFor();
    await editor.squiggles().first().waitFor();
    await editor.statusBar('naive').waitFor();
    await editor.screenshot('overview');
  });

  step('the hover has the table of the line', async () => {
    await editor.hoverOver('r = torch.rsqrt', 'rsqrt');
    await editor.hover.locator('table', { hasText: 'rsqrt' }).waitFor();
    const cells = await editor.hover.locator('table').first().locator('td').allInnerTexts();
    assert.ok(cells.includes('415 µs') && cells.includes('17.6%'), cells.join(' | '));
    await editor.screenshot('hover');
    await editor.leave();
  });

  step('the quick fix writes torch.rms_norm, and undo brings code and marks back', async () => {
    await editor.goTo(4, 6);
    await editor.quickFix('torch.rms_norm', () => editor.screenshot('quick-fix'));
    await editor.line('torch.rms_norm(x, (x.shape[-1],), weight, eps)').nth(1).waitFor();
    // What those lines cost is not what the new one costs.
    await editor.hints().first().waitFor({ state: 'detached' });
    await editor.squiggles().first().waitFor({ state: 'detached' });
    await editor.screenshot('after-quick-fix');
    await editor.page.keyboard.press('Control+Z');
    await seeNaive();
  });

  step('Open Trace lists the captures and shows the operators of the one picked', async () => {
    await editor.run('ATen Lens: Open Trace');
    for (const capture of ['naive', 'fused', 'compiled']) {
      await editor.row(capture).first().waitFor();
    }
    const shown = await editor.row('naive').first().innerText();
    assert.match(shown, /NEURON.*2\.35 ms.*shown/s);
    await editor.screenshot('open-trace');
    await editor.row('naive').first().click();
    await editor.operator('aten::mul').waitFor();
    const names = (await editor.names()).filter((name) => name.startsWith('aten::'));
    assert.deepEqual(names, ['aten::mul', 'aten::add', 'aten::rsqrt', 'aten::mean']);
    const cells = await editor.operator('aten::mul').locator('td').allInnerTexts();
    for (const text of ['3', '1.16 ms', '49.5%', '60.9 µs']) {
      assert.ok(cells.includes(text), `${text} is not in ${cells.join(' | ')}`);
    }
    await editor.screenshot('operators');
    await editor.run('View: Toggle Primary Side Bar Visibility');
    await editor.page.setViewportSize({ width: 1600, height: 540 });
    await editor.hint('ms = x2.mean', '14.5%').waitFor();
    await editor.page.waitForTimeout(500);
    await editor.screenshot('readme');
    await editor.page.setViewportSize(editor.viewport);
    await editor.run('View: Toggle Primary Side Bar Visibility');
    await editor.table.locator('th').first().focus();
  });

  step('the table sorts by a click or a key, and filters', async () => {
    const { table, page } = editor;
    const heading = table.locator('th', { hasText: 'Self CPU' }).first();
    await heading.click();
    await table.locator('th[aria-sort="descending"]', { hasText: 'Self CPU' }).first().waitFor();
    const down = await editor.names();
    await page.keyboard.press('Enter');
    await table.locator('th[aria-sort="ascending"]', { hasText: 'Self CPU' }).first().waitFor();
    // Equal rows keep their order, so only the ends are sure to change places.
    assert.equal((await editor.names()).at(-1), down[0]);
    await page.keyboard.press('/');
    await page.keyboard.type('aten rsqrt');
    await table.locator('#count', { hasText: '1 of' }).waitFor();
    assert.deepEqual(await editor.names(), ['aten::rsqrt']);
    await editor.screenshot('filtered');
  });

  step('Enter on a row goes to its line; a click does the same', async () => {
    const { page, table } = editor;
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await editor.cursorOn(9);
    await table.locator('#filter').fill('');
    await editor.operator('aten::mean').click();
    await editor.cursorOn(7);
    await editor.screenshot('landed');
  });

  step('the table can be as torch prints it', async () => {
    const { table } = editor;
    await table.locator('#as-torch').click();
    await table.locator('#as-torch[aria-pressed="true"]').waitFor();
    await editor.operator('aten::mul').locator('td', { hasText: '1.165ms' }).first().waitFor();
    await editor.screenshot('as-torch');
    await table.locator('#as-torch').click();
    await table.locator('#as-torch[aria-pressed="false"]').waitFor();
  });

  step('another capture brings its own numbers onto the lines', async () => {
    await editor.run('ATen Lens: Open Trace');
    await editor.row('fused').first().click();
    await editor.operator('aten::_fused_rms_norm').waitFor();
    await editor.hint('return torch.rms_norm', '403 µs NEURON 100.0%').waitFor();
    await editor.lenses.filter({ hasText: 'ATen Lens: fused' }).waitFor();
    await editor.lenses.filter({ hasText: '403 µs NEURON' }).waitFor();
    await editor.screenshot('fused');
    await editor.page.keyboard.press('Control+W');
  });

  step('a new trace in the watched folder changes the numbers, once it is whole', async () => {
    await editor.openFile('rmsnorm.py');
    const whole = fs.readFileSync(fasterTrace);
    const file = editor.newTrace('naive');
    const writing = fs.openSync(file, 'w');
    fs.writeSync(writing, whole.subarray(0, whole.length / 2));
    await editor.page.waitForTimeout(800);
    await editor.hint('return torch.rms_norm', '403 µs').waitFor();
    fs.writeSync(writing, whole.subarray(whole.length / 2));
    fs.closeSync(writing);
    await editor.hint('x2 = x * x', '302 µs NEURON').waitFor();
    await editor.lenses.filter({ hasText: '1.77 ms NEURON' }).waitFor();
    await editor.screenshot('new-trace');
  });

  step('trace lands → hints on screen', async () => {
    const slower = found(path.join(projects, 'rmsnorm/profile_output/naive'), /trace\.json$/, true);
    for (let round = 0; round < 6; round++) {
      const [trace, text] = round % 2 === 0 ? [slower, '402 µs'] : [fasterTrace, '302 µs'];
      const file = editor.newTrace('naive');
      fs.copyFileSync(trace, `${file}.part`);
      await timeUntil('trace lands → hints on screen', editor.page, () => fs.renameSync(`${file}.part`, file), text);
    }
  });

  step('an edit above a hot line moves its mark, an edit of the line takes it away', async () => {
    const { page } = editor;
    assert.equal(await editor.lineNumberOf('x2 = x * x'), 6);
    for (let round = 0; round < 7; round++) {
      await editor.goTo(3);
      await editor.hint('x2 = x * x', 'mul').waitFor();
      await timeUntil('keystroke → moved hint', page, () => page.keyboard.press('Enter'), {
        text: 'x2 = x * x',
        hint: 'mul',
        line: 7,
      });
      await page.waitForTimeout(300);
      await editor.hint('x2 = x * x', 'mul').waitFor();
      assert.equal(await editor.lineNumberOf('x2 = x * x'), 7);
      if (round === 0) {
        await editor.screenshot('edited-above');
      }
      await page.keyboard.press('Control+Z');
      await editor.seeLineNumber('x2 = x * x', 6);
    }
    for (let round = 0; round < 5; round++) {
      await editor.goTo(10, 10);
      await editor.hint('y = x * r', 'mul').waitFor();
      await timeUntil('keystroke → mark of the changed line gone', page, () => page.keyboard.type('2'), {
        text: 'y = x2 * r',
        hint: null,
      });
      await editor.hint('return y * weight', 'mul').waitFor();
      await page.keyboard.press('Control+Z');
    }
    await editor.hint('y = x * r', 'mul').waitFor();
  });

  step('marks can be hidden, and settings take effect at once', async () => {
    await editor.run('ATen Lens: Toggle Marks');
    await editor.hints().first().waitFor({ state: 'detached' });
    await editor.run('ATen Lens: Toggle Marks');
    await editor.hint('x2 = x * x', 'mul').waitFor();
    await editor.setSettings({ 'atenLens.hints.minShare': 18 });
    await editor.hints('x2 = x * x').first().waitFor({ state: 'detached' });
    await editor.hint('ms = ms + eps', 'add').waitFor();
    await editor.setSettings({});
    await editor.hint('x2 = x * x', 'mul').waitFor();
  });

  step('the server can be started again', async () => {
    const starts = () => editor.server.serverLog().split(' Starting ').length;
    const before = starts();
    await editor.run('ATen Lens: Restart Server');
    await until(() => starts() > before, 'another start in the log');
    await editor.hint('x2 = x * x', 'mul').waitFor();
    await editor.lenses.filter({ hasText: 'ATen Lens: naive' }).waitFor();
  });

  step('the exact-line recorder is put into the workspace and shown', async () => {
    await editor.run('ATen Lens: Add Exact-Line Recorder');
    await editor.tab('aten_lens_recorder.py').waitFor();
    await editor.line('Records the line of every Python call').first().waitFor();
    assert.ok(fs.existsSync(path.join(editor.workspace, 'aten_lens_recorder.py')), 'it is in the workspace');
    await editor.screenshot('recorder');
    await editor.run('Notifications: Clear All Notifications');
    await editor.page.keyboard.press('Control+W');
  });

  step('what else lies under its name is replaced only when the user says so', async () => {
    const module = path.join(editor.workspace, 'aten_lens_recorder.py');
    for (const [answer, kept] of [
      ['Cancel', true],
      ['Overwrite', false],
    ]) {
      fs.writeFileSync(module, 'mine = 1\n');
      await editor.run('ATen Lens: Add Exact-Line Recorder');
      await editor.dialog.waitFor();
      await editor.screenshot(`recorder-${answer.toLowerCase()}`);
      await editor.dialog.getByRole('button', { name: answer }).click();
      await editor.dialog.waitFor({ state: 'detached' });
      if (kept) {
        await editor.page.waitForTimeout(300);
      } else {
        await editor.line('Records the line of every Python call').first().waitFor();
      }
      assert.equal(fs.readFileSync(module, 'utf8') === 'mine = 1\n', kept);
    }
    await editor.run('Notifications: Clear All Notifications');
    await editor.page.keyboard.press('Control+W');
  });

  step('a trace of an older torch is a hint on the handler, whose fix sets up the recorder', async () => {
    await editor.openWorkspace('older_torch');
    await editor.openFile('profile_rmsnorm.py');
    await editor.squiggles('hint').first().waitFor();
    await editor.screenshot('inferred-lines');
    await editor.goTo(await editor.lineNumberOf('on_trace_ready='), 12);
    await editor.quickFix('Record exact lines', () => editor.screenshot('inferred-lines-fix'));
    await editor.line('on_trace_ready=exact_lines(NeuronProfiler(config).export_trace),').first().waitFor();
    await editor.squiggles('hint').first().waitFor({ state: 'detached' });
    await editor.screenshot('inferred-lines-fixed');
    // A script that is run now has to find the whole module.
    const module = path.join(editor.workspace, 'aten_lens_recorder.py');
    await until(() => fs.existsSync(module) && /def exact_lines/.test(fs.readFileSync(module, 'utf8')), 'it is saved');
  });

  step('a trace without stacks is a finding on the call of the profiler, with the fix', async () => {
    await editor.openWorkspace('no_stacks');
    await editor.openFile('train.py');
    await editor.squiggles().or(editor.squiggles('warning')).first().waitFor();
    await editor.lenses.filter({ hasText: 'candidate: ~2.35 ms NEURON' }).waitFor();
    await editor.screenshot('no-stacks');
    const line = await editor.lineNumberOf('with torch.no_grad(), profile(');
    await editor.goTo(line, 34);
    await editor.quickFix('with_stack=True', () => editor.screenshot('no-stacks-fix'));
    await editor.line('with_stack=True').first().waitFor();
    await editor.screenshot('no-stacks-fixed');
    await editor.page.keyboard.press('Control+Z');
  });

  step('what is no trace gets one clear line, and the server lives on', async () => {
    await editor.openWorkspace('unusable');
    await editor.openFile('broken.py');
    for (const name of ['other.json', 'empty.json', 'nothing']) {
      await editor.run('ATen Lens: Open Trace');
      if (name === 'nothing') {
        await editor.row('Browse for a profile folder').click();
        await editor.chooseFolder(name);
      } else {
        await editor.row('Browse for a trace file').click();
        await editor.chooseFile(name);
      }
      const toast = editor.toasts.first();
      await toast.waitFor();
      const text = (await toast.locator('.notification-list-item-message').innerText()).trim();
      console.log(`  ${name}: ${text}`);
      assert.ok(text.includes(name), `names ${name}`);
      assert.ok(!text.includes('\n') && text.length < 300, 'one line');
      await editor.screenshot(`unusable-${name.replace(/\W/g, '')}`);
      await editor.run('Notifications: Clear All Notifications');
      await toast.waitFor({ state: 'detached' });
    }
    assert.ok(!/panicked|The server ended/.test(editor.server.serverLog().split('Starting').at(-1)), 'it lives');
  });
});

/** Waits until every line of the naive variant shows what it costs. */
async function seeNaive() {
  for (const [code, cost] of Object.entries(naive)) {
    await editor.hint(code, cost).waitFor();
  }
}

async function until(holds, what) {
  for (const end = Date.now() + 10_000; !holds(); ) {
    assert.ok(Date.now() < end, what);
    await editor.page.waitForTimeout(50);
  }
}

/** The worked example as torch up to 2.13 would have recorded it: without the lines of calls. */
function olderTorch(folder) {
  const [from, to] = [path.join(projects, 'rmsnorm'), path.join(folder, 'older_torch')];
  const isOther = (file) => /profile_output\/(fused|compiled)/.test(file);
  fs.cpSync(from, to, { recursive: true, filter: (file) => !isOther(file) });
  const trace = found(path.join(to, 'profile_output'), /trace\.json$/, true);
  fs.writeFileSync(trace, fs.readFileSync(trace, 'utf8').replace(/"CallFrom": *"[^"]*",?/g, ''));
}

/** A workspace of inputs nobody can show, made by the test. */
function unusableInputs(folder) {
  const workspace = path.join(folder, 'unusable');
  fs.mkdirSync(path.join(workspace, 'nothing'), { recursive: true });
  fs.writeFileSync(path.join(workspace, 'nothing/notes.txt'), 'no trace here\n');
  fs.writeFileSync(path.join(workspace, 'other.json'), '{"name": "a package", "version": 1}\n');
  fs.writeFileSync(path.join(workspace, 'empty.json'), '');
  fs.writeFileSync(path.join(workspace, 'broken.py'), 'import torch\n\ndef broken(x:\n    return x * (\n');
  return workspace;
}

/** The one file in a folder whose name fits. */
function found(folder, name, recursive = false) {
  const [file] = fs.readdirSync(folder, { recursive }).filter((entry) => name.test(entry));
  assert.ok(file, `nothing like ${name} in ${folder}`);
  return path.join(folder, file);
}

if (process.env.UPDATE_README) {
  process.once('exit', (code) => {
    if (code === 0) {
      fs.copyFileSync(path.join(screenshots, 'readme.png'), path.join(repository, 'extension/media/screenshot.png'));
    }
  });
}
