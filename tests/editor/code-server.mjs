// A VS Code in the browser (code-server), with everything it writes in one folder of ours.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const repository = path.resolve(import.meta.dirname, '../..');
const installed = path.join(process.env.ATEN_LENS_CACHE ?? path.join(repository, '.cache'), 'code-server');
const entry = path.join(installed, 'node_modules/code-server/out/node/entry.js');

/** Settings for an editor that asks nothing, fetches nothing and moves nothing by itself. */
const quiet = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.enableExperiments': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'security.workspace.trust.enabled': false,
  'chat.commandCenter.enabled': false,
  'git.enabled': false,
};

/** Where a free port is now. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts VS Code's server with the extension installed.
 * @param {{ folder: string, vsix: string, settings?: object, env?: object }} options `folder` is for what VS Code writes.
 */
export async function startCodeServer({ folder, vsix, settings = {}, env = {} }) {
  if (!fs.existsSync(entry)) {
    throw new Error(`no code-server in ${installed}: run tests/editor/install-code-server.sh ${installed}`);
  }
  const user = path.join(folder, 'user');
  const extensions = path.join(folder, 'extensions');
  fs.mkdirSync(path.join(user, 'User'), { recursive: true });
  fs.mkdirSync(extensions, { recursive: true });
  fs.writeFileSync(path.join(user, 'User/settings.json'), JSON.stringify({ ...quiet, ...settings }, null, 2));
  // Without a file of its own it would write one into the home directory.
  const config = path.join(folder, 'config.yaml');
  fs.writeFileSync(config, 'auth: none\ncert: false\n');
  const own = ['--config', config, '--user-data-dir', user, '--extensions-dir', extensions];
  const environment = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, ...env };

  const install = spawnSync(process.execPath, [entry, ...own, '--install-extension', vsix, '--force'], {
    env: environment,
    encoding: 'utf8',
  });
  if (install.status !== 0) {
    throw new Error(`the extension could not be installed: ${install.stdout}${install.stderr}`);
  }

  const port = await freePort();
  const log = path.join(folder, 'code-server.log');
  const out = fs.openSync(log, 'w');
  const flags = [
    '--disable-telemetry',
    '--disable-update-check',
    '--disable-workspace-trust',
    '--disable-getting-started-override',
    '--ignore-last-opened',
  ];
  const server = spawn(process.execPath, [entry, ...own, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, ...flags], {
    env: environment,
    stdio: ['ignore', out, out],
    // A process group of its own, so that all it starts ends with it.
    detached: true,
  });
  // Whatever ends this process ends the server too.
  process.once('exit', () => signal(server, 'SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  const up = async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true;
  for (let tries = 0; !(await up()); tries++) {
    if (server.exitCode !== null || tries > 300) {
      throw new Error(`code-server did not come up: ${fs.readFileSync(log, 'utf8')}`);
    }
    await sleep(100);
  }
  return {
    url,
    urlOf: (workspace) => `${url}/?folder=${encodeURIComponent(workspace)}`,
    /** What the extension and the server wrote into *Show Logs*. */
    serverLog: () => outputChannel(path.join(user, 'logs')),
    stop: () => stop(server),
  };
}

function outputChannel(logs) {
  const files = fs.existsSync(logs) ? fs.readdirSync(logs, { recursive: true }) : [];
  return files
    .filter((name) => /ATen Lens\.log$/.test(name))
    .map((name) => fs.readFileSync(path.join(logs, name), 'utf8'))
    .join('\n');
}

async function stop(server) {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  signal(server, 'SIGTERM');
  await Promise.race([ended, sleep(5000, undefined, { ref: false })]);
  signal(server, 'SIGKILL');
}

/** Signals the server and all it started. */
function signal(server, name) {
  try {
    process.kill(-server.pid, name);
  } catch {
    // It is gone already.
  }
}
