// What the operators view and its webview say to each other.
import type { Operators, SourceLocation } from '../protocol';

export type ToWebview =
  | { type: 'operators'; operators: Operators; asTorch: boolean; filter: string | null }
  | { type: 'failed'; message: string }
  | { type: 'loading' };

export type FromWebview =
  | { type: 'ready' }
  | { type: 'focused' }
  | { type: 'asTorch'; asTorch: boolean }
  | { type: 'open'; location: SourceLocation; keepFocus: boolean }
  | { type: 'openTrace' };

/** What the webview keeps while it is hidden and across a reload of the window. */
export interface ViewState {
  asTorch: boolean;
  filter: string;
  sort: { column: string; descending: boolean } | null;
  /** The row's name, not its number: a newer trace may order its rows differently. */
  row: string | null;
}
