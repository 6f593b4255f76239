import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

export type Binary = { path: string } | { problem: string };

/** The server to run: the one the user names, else the one that came with the extension. */
export function findBinary(configured: string, extensionPath: string, workspaceFolder: string | undefined): Binary {
  if (configured.trim() !== '') {
    const file = expand(configured.trim(), workspaceFolder);
    const problem = problemOf(file);
    return problem === undefined
      ? { path: file }
      : { problem: `The server set in atenLens.server.path cannot be run: ${file} ${problem}.` };
  }
  const name = process.platform === 'win32' ? 'aten-lens.exe' : 'aten-lens';
  const file = path.join(extensionPath, 'bin', name);
  const problem = problemOf(file);
  return problem === undefined
    ? { path: file }
    : {
        problem:
          `This build of ATen Lens brings no server that runs on ${process.platform}-${process.arch} ` +
          `(${file} ${problem}). Install the build for this platform, or set atenLens.server.path.`,
      };
}

function expand(file: string, workspaceFolder: string | undefined): string {
  const home = file === '~' || file.startsWith('~/') ? path.join(os.homedir(), file.slice(1)) : file;
  return workspaceFolder === undefined ? home : home.replaceAll('${workspaceFolder}', workspaceFolder);
}

function problemOf(file: string): string | undefined {
  try {
    if (!fs.statSync(file).isFile()) {
      return 'is not a file';
    }
  } catch {
    return 'does not exist';
  }
  try {
    fs.accessSync(file, fs.constants.X_OK);
  } catch {
    return 'is not executable';
  }
  return undefined;
}
