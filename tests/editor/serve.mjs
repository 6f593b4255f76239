// Serves the demo: a VS Code in the browser with the extension and the RMSNorm project.
//   node serve.mjs FOLDER VSIX [--no-wait]      FOLDER holds the project `rmsnorm`
import path from 'node:path';
import { startCodeServer } from './code-server.mjs';

const [folder, vsix, noWait] = process.argv.slice(2);
const server = await startCodeServer({ folder: path.join(folder, 'code-server'), vsix });
const project = path.join(folder, 'rmsnorm');
const file = path.join(project, 'rmsnorm.py');
// VS Code opens the file named in its `payload` as soon as it is up.
const payload = JSON.stringify([['openFile', `vscode-remote://${new URL(server.url).host}${file}`]]);
console.log(`\n  Open ${server.urlOf(project)}&payload=${encodeURIComponent(payload)}\n`);
if (noWait === '--no-wait') {
  await server.stop();
} else {
  console.log('  Ctrl+C ends it.');
  const end = async () => {
    await server.stop();
    process.exit(0);
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
}
