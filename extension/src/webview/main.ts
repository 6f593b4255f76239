// The operators table: shows what the server sent, in the order and with the filter the reader wants.
import type { Operators, Row } from '../protocol';
import type { FromWebview, ToWebview, ViewState } from '../views/messages';
import { byId, element, withCode } from './dom';
import { Grid } from './grid';
import { nameOf, nextSort, ownSort, visibleRows } from './order';
import { fill } from './table';

declare function acquireVsCodeApi(): {
  postMessage(message: FromWebview): void;
  getState(): ViewState | undefined;
  setState(state: ViewState): void;
};

const host = acquireVsCodeApi();
const state: ViewState = host.getState() ?? { asTorch: false, filter: '', sort: null, row: null };
const filter = byId('filter', HTMLInputElement);
const table = byId('table', HTMLTableElement);
const asTorch = byId('as-torch', HTMLButtonElement);
const empty = byId('empty', HTMLParagraphElement);

let operators: Operators | undefined;
let rows: Row[] = [];

const grid = new Grid(table, {
  sort(column) {
    if (operators !== undefined) {
      state.sort = nextSort(operators, state.sort ?? ownSort(operators), column);
      draw();
    }
  },
  open: openRow,
  leaveUpwards() {
    filter.focus();
  },
  moved(row) {
    const shown = rows[row];
    if (shown !== undefined) {
      state.row = nameOf(shown);
      save();
    }
  },
});

function openRow(index: number, keepFocus: boolean): void {
  const row = rows[index];
  if (row === undefined) {
    return;
  }
  if (row.location === null) {
    say(`No source line is known for ${nameOf(row)}.`);
    return;
  }
  say(row.locations > 1 ? `${nameOf(row)} is on ${row.locations} lines; this is the costliest.` : '');
  host.postMessage({ type: 'open', location: row.location, keepFocus });
}

/** Draws the rows, and keeps the reader's place among them. */
function draw(): void {
  if (operators === undefined) {
    return;
  }
  const focused = grid.hasFocus;
  const heading = focused && grid.row < 0;
  rows = visibleRows(operators, state.filter, state.sort);
  fill(table, operators, rows, state.sort ?? ownSort(operators));
  const at = rows.findIndex((row) => nameOf(row) === state.row);
  grid.place(heading ? -1 : Math.max(0, at), focused);
  const all = operators.rows.length;
  byId('count', HTMLSpanElement).textContent = rows.length === all ? `${all}` : `${rows.length} of ${all}`;
  tellIfEmpty(
    rows.length > 0 ? '' : all > 0 ? `No row’s name holds “${state.filter}”.` : 'This trace has no operators.',
  );
  save();
}

function show(message: Extract<ToWebview, { type: 'operators' }>): void {
  operators = message.operators;
  state.asTorch = message.asTorch;
  state.filter = message.filter ?? state.filter;
  const selected = operators.selected === null ? undefined : operators.rows[operators.selected];
  if (selected !== undefined) {
    state.row = nameOf(selected);
  }
  // A sort by a column this table does not have falls back to the table's own.
  if (!operators.columns.some(({ id }) => id === state.sort?.column)) {
    state.sort = null;
  }
  filter.value = state.filter;
  asTorch.ariaPressed = String(state.asTorch);
  byId('title', HTMLHeadingElement).textContent = operators.title;
  byId('subtitle', HTMLParagraphElement).textContent = operators.subtitle;
  byId('notices', HTMLUListElement).replaceChildren(
    ...operators.notices.map((text) => element('li', '', ...withCode(text))),
  );
  byId('footer', HTMLParagraphElement).replaceChildren(
    ...operators.footer.map((text) => element('span', '', ...withCode(text))),
  );
  say('');
  draw();
}

function tellIfEmpty(text: string, ...more: Node[]): void {
  empty.hidden = text === '';
  empty.replaceChildren(element('span', '', ...withCode(text)), ...more);
  table.hidden = text !== '';
}

function showFailure(message: string): void {
  operators = undefined;
  const button = element('button', '', 'Open Trace…');
  button.addEventListener('click', () => {
    host.postMessage({ type: 'openTrace' });
  });
  tellIfEmpty(message, button);
}

function say(text: string): void {
  byId('say', HTMLParagraphElement).textContent = text;
}

function save(): void {
  host.setState(state);
}

window.addEventListener('message', ({ data }: MessageEvent<ToWebview>) => {
  document.body.ariaBusy = String(data.type === 'loading');
  if (data.type === 'operators') {
    show(data);
  } else if (data.type === 'failed') {
    showFailure(data.message);
  }
});

filter.addEventListener('input', () => {
  state.filter = filter.value;
  draw();
});
filter.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'Enter') {
    grid.focusFirst();
  } else if (event.key === 'Escape' && filter.value !== '') {
    filter.value = state.filter = '';
    draw();
  } else {
    return;
  }
  event.preventDefault();
});
asTorch.addEventListener('click', () => {
  // Torch's table has torch's order.
  state.sort = null;
  host.postMessage({ type: 'asTorch', asTorch: !state.asTorch });
});
window.addEventListener('keydown', (event) => {
  const find = (event.ctrlKey || event.metaKey) && event.key === 'f';
  if (find || (event.key === '/' && document.activeElement !== filter)) {
    event.preventDefault();
    filter.focus();
    filter.select();
  }
});

filter.value = state.filter;
window.addEventListener('focus', () => {
  host.postMessage({ type: 'focused' });
});
host.postMessage({ type: 'ready' });
