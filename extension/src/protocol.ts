// What the server says beyond plain LSP; the contract is server/PROTOCOL.md.
// Numbers come as finished text. The `value` beside a text is there to sort by and for nothing else.

export interface Capture {
  /** The path of the trace that stands for this capture. */
  id: string;
  name: string;
  path: string;
  backend: string;
  device: string;
  steps: string;
  age: string;
  shown: boolean;
  problem: string | null;
}

export interface Captures {
  /** Newest first. */
  captures: Capture[];
  /** The places that are watched. */
  watched: string[];
}

/** The recorder of exact lines in a folder. */
export interface Recorder {
  path: string;
  usage: string;
  /** A file of its name holds something else and was left as it is. */
  differs: boolean;
}

export interface OperatorsParams {
  /** `null`: the capture that is shown. */
  capture: string | null;
  asTorch: boolean;
  filter: string | null;
  uri: string | null;
  line: number | null;
}

export interface Column {
  id: string;
  label: string;
  numeric: boolean;
  sort: boolean;
}

export interface Cell {
  text: string;
  value: number | null;
}

export interface SourceLocation {
  uri: string;
  /** Counted from 0. */
  line: number;
}

export interface Row {
  cells: Cell[];
  kind: string;
  /** Share of the whole, 0 to 1. */
  bar: number | null;
  /** The line that costs most. */
  location: SourceLocation | null;
  locations: number;
}

export interface Operators {
  capture: string;
  title: string;
  subtitle: string;
  notices: string[];
  columns: Column[];
  rows: Row[];
  sortedBy: string;
  selected: number | null;
  footer: string[];
}

export interface Status {
  state: 'none' | 'loading' | 'ready' | 'error';
  text: string;
  /** Markdown. */
  detail: string;
}

export const requests = {
  captures: 'atenLens/captures',
  operators: 'atenLens/operators',
} as const;

export const statusNotification = 'atenLens/status';

export const serverCommands = {
  refresh: 'atenLens.server.refresh',
  toggleMarks: 'atenLens.server.toggleMarks',
  clear: 'atenLens.server.clear',
  showCapture: 'atenLens.server.showCapture',
  addRecorder: 'atenLens.server.addRecorder',
} as const;
