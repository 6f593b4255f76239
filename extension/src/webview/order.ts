// Which rows are shown, and in which order. Pure, so that it is tested without a browser.
import type { Cell, Operators, Row } from '../protocol';

export interface Sort {
  column: string;
  descending: boolean;
}

/** The server's own order: by the column it names, largest first. */
export function ownSort(operators: Operators): Sort {
  return { column: operators.sortedBy, descending: true };
}

/** The sort after a click on a column: largest numbers first, names from A to Z; a second click turns it round. */
export function nextSort(operators: Operators, now: Sort, column: string): Sort {
  if (now.column === column) {
    return { column, descending: !now.descending };
  }
  return { column, descending: operators.columns.find(({ id }) => id === column)?.numeric ?? false };
}

/** The rows whose name holds every word of the filter, in the order of `sort`; `null` is the server's own. */
export function visibleRows(operators: Operators, filter: string, sort: Sort | null): Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = operators.rows.filter((row) => {
    const name = nameOf(row).toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const column = sort === null ? -1 : operators.columns.findIndex(({ id }) => id === sort.column);
  if (sort === null || column < 0) {
    return rows;
  }
  const sign = sort.descending ? -1 : 1;
  return rows.sort((a, b) => compare(a, b, column, sign));
}

export function nameOf(row: Row): string {
  return row.cells[0]?.text ?? '';
}

/** An empty cell, or one without a number among numbers, is last in either direction: it says nothing, rather than little. */
function compare(a: Row, b: Row, column: number, sign: number): number {
  const left = a.cells[column] ?? nothing;
  const right = b.cells[column] ?? nothing;
  if (left.value !== null && right.value !== null) {
    return sign * (left.value - right.value);
  }
  if (left.value !== null || right.value !== null) {
    return left.value === null ? 1 : -1;
  }
  if (left.text === '' || right.text === '') {
    return Number(left.text === '') - Number(right.text === '');
  }
  return sign * left.text.localeCompare(right.text, undefined, { numeric: true });
}

const nothing: Cell = { text: '', value: null };
