import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { findBinary } from '../src/binary';

const folders: string[] = [];

function folder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'aten-lens-binary-'));
  folders.push(made);
  return made;
}

after(() => {
  for (const made of folders) {
    fs.rmSync(made, { recursive: true });
  }
});

function program(file: string, mode = 0o755): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, '');
  fs.chmodSync(file, mode);
  return file;
}

test('the server that comes with the extension is used', () => {
  const extension = folder();
  const file = program(path.join(extension, 'bin', 'aten-lens'));
  assert.deepEqual(findBinary('', extension, undefined), { path: file });
});

test('the server the user names comes first, with the workspace folder filled in', () => {
  const workspace = folder();
  const file = program(path.join(workspace, 'out', 'lens'));
  assert.deepEqual(findBinary(' ${workspaceFolder}/out/lens ', folder(), workspace), { path: file });
});

test('a missing, unrunnable or wrong file is named with the reason', () => {
  const workspace = folder();
  // Root may run nothing that has no executable bit either.
  program(path.join(workspace, 'plain'), 0o644);
  const problem = (configured: string) => JSON.stringify(findBinary(configured, workspace, workspace));
  assert.match(problem(path.join(workspace, 'none')), /server\.path.*none does not exist/);
  assert.match(problem(path.join(workspace, 'plain')), /plain is not executable/);
  assert.match(problem(workspace), /is not a file/);
  assert.match(problem(''), /brings no server.*Install the build for this platform, or set atenLens\.server\.path/);
});
