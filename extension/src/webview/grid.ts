/** What the grid reports; rows count from 0 in the order shown. */
export interface GridActions {
  sort(column: string): void;
  open(row: number, keepFocus: boolean): void;
  leaveUpwards(): void;
  moved(row: number): void;
}

/**
 * Keyboard and mouse in the table, as the ARIA grid pattern has it: one cell is in the tab order (a roving
 * tabindex), the arrow keys move it, Home and End go along the row, Control with them to the corners.
 */
export class Grid {
  /** The cell in the tab order: row −1 is the heading. */
  #at = { row: 0, column: 0 };

  constructor(
    private readonly table: HTMLTableElement,
    private readonly actions: GridActions,
  ) {
    table.addEventListener('keydown', (event) => {
      if (this.#key(event)) {
        event.preventDefault();
      }
    });
    table.addEventListener('click', (event) => {
      this.#click(event);
    });
  }

  /** After the table was filled anew: the cell in the tab order, focused again where it was focused before. */
  place(row: number, focused: boolean): void {
    this.#at = { row: Math.min(row, this.#rows() - 1), column: this.#at.column };
    this.#move(0, 0, focused);
    this.#cell()?.scrollIntoView({ block: 'nearest' });
  }

  focusFirst(): void {
    this.#at = { row: Math.min(0, this.#rows() - 1), column: 0 };
    this.#move(0, 0, true);
  }

  get hasFocus(): boolean {
    return this.table.contains(document.activeElement);
  }

  get row(): number {
    return this.#at.row;
  }

  #rows(): number {
    return this.table.tBodies[0]?.rows.length ?? 0;
  }

  #cell(): HTMLTableCellElement | undefined {
    const { row, column } = this.#at;
    return (row < 0 ? this.table.tHead?.rows[0] : this.table.tBodies[0]?.rows[row])?.cells[column];
  }

  #move(rows: number, columns: number, focus = true): void {
    const width = this.table.tHead?.rows[0]?.cells.length ?? 0;
    this.#at = {
      row: clamp(this.#at.row + rows, -1, this.#rows() - 1),
      column: clamp(this.#at.column + columns, 0, width - 1),
    };
    for (const cell of this.table.querySelectorAll('[tabindex]')) {
      cell.removeAttribute('tabindex');
    }
    for (const row of this.table.querySelectorAll('[aria-selected]')) {
      row.removeAttribute('aria-selected');
    }
    const cell = this.#cell();
    if (cell === undefined) {
      return;
    }
    cell.tabIndex = 0;
    if (this.#at.row >= 0) {
      cell.parentElement?.setAttribute('aria-selected', 'true');
    }
    if (focus) {
      cell.focus();
      this.actions.moved(this.#at.row);
    }
  }

  #key(event: KeyboardEvent): boolean {
    const corner = event.ctrlKey || event.metaKey;
    if (event.altKey) {
      return false;
    }
    switch (event.key) {
      case 'ArrowUp':
        if (this.#at.row < 0) {
          this.actions.leaveUpwards();
        } else {
          this.#move(-1, 0);
        }
        return true;
      case 'ArrowDown':
        this.#move(1, 0);
        return true;
      case 'ArrowLeft':
        this.#move(0, -1);
        return true;
      case 'ArrowRight':
        this.#move(0, 1);
        return true;
      case 'PageUp':
        this.#move(-Math.min(10, this.#at.row), 0);
        return true;
      case 'PageDown':
        this.#move(10, 0);
        return true;
      case 'Home':
        this.#move(corner ? -Math.max(0, this.#at.row) : 0, -Infinity);
        return true;
      case 'End':
        this.#move(corner ? Infinity : 0, Infinity);
        return true;
      case 'Enter':
      case ' ':
        this.#act(event.key === ' ');
        return true;
      default:
        return false;
    }
  }

  #act(keepFocus: boolean): void {
    if (this.#at.row >= 0) {
      this.actions.open(this.#at.row, keepFocus);
      return;
    }
    const column = this.#cell()?.dataset.sort;
    if (column !== undefined) {
      this.actions.sort(column);
    }
  }

  #click(event: MouseEvent): void {
    const cell = event.target instanceof Element ? event.target.closest<HTMLTableCellElement>('td, th') : null;
    // Selecting text to copy it is no wish to leave.
    if (cell === null || document.getSelection()?.isCollapsed === false) {
      return;
    }
    const row = cell.parentElement instanceof HTMLElement ? cell.parentElement.dataset.row : undefined;
    this.#at = { row: row === undefined ? -1 : Number(row), column: cell.cellIndex };
    this.#move(0, 0);
    this.#act(false);
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
