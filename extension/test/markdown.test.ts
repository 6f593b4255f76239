import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain } from '../src/markdown';

test('emphasis, code and line breaks go, words and links stay', () => {
  assert.equal(
    plain('No trace in `profile_output/**`.\n\n**Record one** or [open one](command:atenLens.openTrace).'),
    'No trace in profile_output/**. Record one or [open one](command:atenLens.openTrace).',
  );
});

test('what was escaped is shown as it is', () => {
  assert.equal(plain('a \\*\\*b\\*\\* c\\_d'), 'a **b** c_d');
});
