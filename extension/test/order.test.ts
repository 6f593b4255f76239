import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operators, Row } from '../src/protocol';
import { nameOf, nextSort, ownSort, visibleRows } from '../src/webview/order';

function row(name: string, calls: number, device: number | null): Row {
  const cells = [
    { text: name, value: null },
    { text: `${calls}`, value: calls },
    { text: device === null ? '' : `${device} ms`, value: device },
  ];
  return { cells, kind: 'op', bar: null, location: null, locations: 0 };
}

const operators: Operators = {
  capture: 'c',
  title: '',
  subtitle: '',
  notices: [],
  columns: [
    { id: 'name', label: 'Operator', numeric: false, sort: true },
    { id: 'calls', label: 'Calls', numeric: true, sort: true },
    { id: 'device', label: 'Self', numeric: true, sort: true },
  ],
  rows: [row('aten::mul', 3, 9), row('aten::to', 10, null), row('aten::add', 2, 10)],
  sortedBy: 'device',
  selected: null,
  footer: [],
};

const names = (filter: string, column: string | null, descending = false) =>
  visibleRows(operators, filter, column === null ? null : { column, descending }).map(nameOf);

test('without a sort the rows stay in the order the server gave them', () => {
  assert.deepEqual(names('', null), ['aten::mul', 'aten::to', 'aten::add']);
});

test('numbers are sorted by value, not by text', () => {
  assert.deepEqual(names('', 'calls', true), ['aten::to', 'aten::mul', 'aten::add']);
});

test('a cell without a number is last in either direction', () => {
  assert.deepEqual(names('', 'device', true), ['aten::add', 'aten::mul', 'aten::to']);
  assert.deepEqual(names('', 'device', false), ['aten::mul', 'aten::add', 'aten::to']);
});

test('names are sorted from A to Z', () => {
  assert.deepEqual(names('', 'name'), ['aten::add', 'aten::mul', 'aten::to']);
});

test('a column the table does not have changes nothing', () => {
  assert.deepEqual(names('', 'gone', true), names('', null));
});

test('every word of the filter must be in the name, in any case', () => {
  assert.deepEqual(names('ATEN  m', null), ['aten::mul']);
  assert.deepEqual(names('relu', null), []);
});

test('sorting leaves the rows of the server alone', () => {
  names('', 'name');
  assert.deepEqual(operators.rows.map(nameOf), ['aten::mul', 'aten::to', 'aten::add']);
});

test('a first click sorts numbers downwards and names upwards, a second turns round', () => {
  const calls = nextSort(operators, ownSort(operators), 'calls');
  assert.deepEqual(calls, { column: 'calls', descending: true });
  assert.deepEqual(nextSort(operators, calls, 'calls'), { column: 'calls', descending: false });
  assert.deepEqual(nextSort(operators, calls, 'name'), { column: 'name', descending: false });
});
