// The architecture, as far as a machine can see it in the manifests: which crate may depend on which, that the pure ones
// stay pure, and that the packages the server is meant to stand on are direct dependencies in use.
//   node tests/architecture.mjs
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/** The arrows: each crate, and which of ours it may depend on, which are the ones before it on a trace's way. */
const arrows = {
  trace: [],
  source: [],
  profile: ['trace'],
  capture: ['trace', 'source'],
  attribution: ['profile', 'source', 'trace'],
  rules: ['attribution', 'profile', 'source', 'trace'],
  ide: ['rules', 'attribution', 'source', 'profile', 'trace'],
  lsp: ['ide', 'capture'],
  cli: ['ide', 'rules', 'attribution', 'source', 'profile', 'trace', 'capture'],
  'aten-lens': ['lsp', 'cli'],
};

/** Crates that touch nothing outside: no file, no clock, no runtime, no protocol. */
const pure = ['trace', 'profile', 'source', 'attribution', 'rules', 'ide'];
const notInPure = ['tokio', 'tower', 'tower-lsp', 'lsp-types', 'notify', 'memmap2', 'capture'];

/** What the server stands on. */
const foundations = ['tower-lsp', 'tokio', 'serde_json', 'dashmap', 'tracing', 'lsp-types'];

const metadata = JSON.parse(
  execFileSync('cargo', ['metadata', '--format-version=1', '--locked'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  }),
);
const packages = new Map(metadata.packages.map((one) => [one.id, one]));
const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
const members = new Map(metadata.workspace_members.map((id) => [packages.get(id).name, packages.get(id)]));
const faults = [];

/** Direct dependencies of what is shipped; those of tests and build scripts do not count. */
function shipped(id) {
  return nodes
    .get(id)
    .deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind === null))
    .map(({ pkg }) => pkg);
}

function reachable(id, seen = new Set()) {
  for (const next of shipped(id)) {
    if (!seen.has(next)) {
      seen.add(next);
      reachable(next, seen);
    }
  }
  return seen;
}

const nameOf = (id) => packages.get(id).name;

for (const [name, { id }] of members) {
  const allowed = arrows[name];
  if (allowed === undefined) {
    faults.push(`${name} has no place in the architecture`);
    continue;
  }
  const ours = shipped(id).map(nameOf).filter((other) => members.has(other));
  for (const other of ours.filter((other) => !allowed.includes(other))) {
    faults.push(`${name} depends on ${other}: that arrow runs back`);
  }
}

const bans = new Set();
for (const name of pure) {
  const { id, manifest_path } = members.get(name);
  for (const dependency of [...reachable(id)].map(nameOf).filter((dependency) => notInPure.includes(dependency))) {
    faults.push(`${name} is pure and yet depends on ${dependency}`);
  }
  const file = path.join(path.dirname(manifest_path), 'clippy.toml');
  bans.add(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : `none in ${name}`);
}
if (bans.size !== 1 || !/std::fs::/.test([...bans][0])) {
  faults.push('the pure crates do not all have the same clippy.toml with its bans');
}

for (const foundation of foundations) {
  const users = [...members.values()].filter(({ id }) => shipped(id).map(nameOf).includes(foundation));
  const use = new RegExp(`\\b${foundation.replace('-', '_')}::`);
  if (!users.some(({ manifest_path }) => sources(path.dirname(manifest_path)).some((text) => use.test(text)))) {
    faults.push(`${foundation} is not a direct dependency in use`);
  }
}

function sources(folder) {
  const own = folder === root ? path.join(root, 'server/src') : path.join(folder, 'src');
  return fs
    .readdirSync(own, { recursive: true })
    .filter((name) => name.endsWith('.rs'))
    .map((name) => fs.readFileSync(path.join(own, name), 'utf8'));
}

for (const fault of faults) {
  console.error(fault);
}
console.log(`architecture: ${members.size} crates, ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
