import type { Column, Operators, Row } from '../protocol';
import { element } from './dom';
import type { Sort } from './order';

/** Fills the table. Every cell gets its place in the grid, and none is in the tab order yet: see grid.ts. */
export function fill(table: HTMLTableElement, operators: Operators, rows: Row[], sort: Sort): void {
  const bars = rows.some(({ bar }) => bar !== null);
  const head = element('tr');
  head.append(...operators.columns.map((column) => headCell(column, sort)));
  if (bars) {
    head.children[0]?.after(barHead());
  }
  const body = element('tbody');
  body.append(...rows.map((row, index) => bodyRow(operators.columns, row, index, bars)));
  table.replaceChildren(element('thead', '', head), body);
  table.setAttribute('aria-rowcount', String(rows.length + 1));
}

function headCell(column: Column, sort: Sort): HTMLTableCellElement {
  const cell = element('th', column.numeric ? 'number' : 'text', column.label);
  cell.scope = 'col';
  cell.setAttribute('role', 'columnheader');
  if (column.sort) {
    const active = sort.column === column.id;
    cell.dataset.sort = column.id;
    cell.setAttribute('aria-sort', !active ? 'none' : sort.descending ? 'descending' : 'ascending');
    const arrow = element('span', 'arrow', active && !sort.descending ? '▲' : '▼');
    arrow.ariaHidden = 'true';
    // Beside the text on its free side, so that numbers and their heading stay flush.
    if (column.numeric) {
      cell.prepend(arrow);
    } else {
      cell.append(arrow);
    }
  }
  return cell;
}

function barHead(): HTMLTableCellElement {
  const cell = element('th', 'bar');
  cell.scope = 'col';
  cell.setAttribute('role', 'columnheader');
  cell.ariaLabel = 'Share';
  return cell;
}

function bodyRow(columns: Column[], row: Row, index: number, bars: boolean): HTMLTableRowElement {
  const other = row.kind !== 'op' && row.kind !== '';
  const line = element('tr', row.location === null ? '' : 'linked');
  line.classList.toggle('other', other);
  line.dataset.row = String(index);
  line.setAttribute('aria-rowindex', String(index + 2));
  line.append(
    ...columns.map((column, at) => {
      const cell = gridCell(classOf(column), row.cells[at]?.text ?? '');
      if (at === 0) {
        cell.title = row.cells[0]?.text ?? '';
        if (other) {
          cell.append(element('span', 'kind', row.kind));
        }
      } else if (column.id === 'line') {
        cell.title = whereTo(row);
      }
      return cell;
    }),
  );
  if (bars) {
    line.children[0]?.after(barCell(row.bar));
  }
  return line;
}

function barCell(share: number | null): HTMLTableCellElement {
  const cell = gridCell('bar', '');
  if (share !== null && share > 0) {
    const bar = element('span', 'track', element('span', 'fill'));
    // Set through the style object: the page's policy refuses style attributes.
    bar.style.setProperty('--share', String(Math.max(0, Math.min(1, share))));
    cell.append(bar);
  }
  return cell;
}

function whereTo({ location, locations }: Row): string {
  if (location === null) {
    return 'No source line is known for this row';
  }
  return locations > 1 ? `On ${locations} lines; this is the costliest` : '';
}

function classOf({ id, numeric }: Column): string {
  return id === 'line' ? 'line' : numeric ? 'number' : 'text';
}

function gridCell(className: string, ...children: (Node | string)[]): HTMLTableCellElement {
  const cell = element('td', className, ...children);
  cell.setAttribute('role', 'gridcell');
  return cell;
}
