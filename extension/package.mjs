// Makes the VSIX: the release build of the server, the bundle, and what a reader of the package needs.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

process.chdir(import.meta.dirname);
const target = `${process.platform}-${process.arch}`;
const server = path.join(process.env.CARGO_TARGET_DIR ?? '../target', 'release', 'aten-lens');
if (!fs.existsSync(server)) {
  console.error(`${path.resolve(server)} does not exist: run \`cargo build --release\` first.`);
  process.exit(1);
}
fs.mkdirSync('bin', { recursive: true });
fs.copyFileSync(server, 'bin/aten-lens');
fs.chmodSync('bin/aten-lens', 0o755);
// One VSIX lies here at a time, so that `aten-lens-*.vsix` names it.
for (const old of fs.readdirSync('.').filter((name) => name.endsWith('.vsix'))) {
  fs.rmSync(old);
}
const licences = ['LICENSE-APACHE', 'LICENSE-MIT'];
for (const name of licences) {
  fs.copyFileSync(`../${name}`, name);
}
try {
  const vsce = 'node_modules/@vscode/vsce/vsce';
  execFileSync(process.execPath, [vsce, 'package', '--no-dependencies', '--target', target], { stdio: 'inherit' });
} finally {
  for (const name of licences) {
    fs.rmSync(name);
  }
}
