// The manifest is read by VS Code alone, so nothing else would notice that it has drifted from the code.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { test } from 'node:test';
import manifest from '../package.json';

const settings = manifest.contributes.configuration.flatMap(({ properties }) => Object.keys(properties));

test('the settings are those the server reads', () => {
  const protocol = fs.readFileSync('../server/PROTOCOL.md', 'utf8');
  const section = protocol.slice(protocol.indexOf('## Settings'));
  const named = [...section.matchAll(/`([A-Za-z.]+): /g)].map(([, name]) => `atenLens.${name ?? ''}`);
  assert.deepEqual(settings.toSorted(), named.toSorted());
});

test('every command of the palette is registered', () => {
  const code = fs.readFileSync('src/commands.ts', 'utf8');
  for (const { command } of manifest.contributes.commands) {
    assert.ok(code.includes(`command('${command.replace('atenLens.', '')}'`), command);
  }
});

test('settings that choose a program, its environment or a file to write need a trusted workspace', () => {
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual(
    restricted.toSorted(),
    settings.filter((name) => /\.(server\.path|server\.extraEnv|logFile)$/.test(name)).toSorted(),
  );
});
