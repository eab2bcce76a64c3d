/** Saved backtests and grids of this machine, as the page lists them. Fractions are numbers, times are UTC ms. */

import type { ComparisonView } from './comparison.ts';

export interface RunRow {
  readonly id: string;
  /** When it ran. */
  readonly at: number;
  /** The configuration's file, and what `--set` changed. */
  readonly file: string;
  readonly set: readonly string[];
  /** Names of shipped strategies, or their files. */
  readonly strategies: readonly string[];
  readonly symbols: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly return: number;
  readonly maxDrawdown: number;
  /** Null where it would mean nothing. */
  readonly sharpe: number | null;
  readonly fills: number;
  readonly conclusion: string;
  /** Notes on its data: see its report. */
  readonly notes: number;
}

/** Figures are those of the best parameter set; null where none is ranked. */
export interface GridRow extends Pick<RunRow, 'id' | 'at' | 'file' | 'set' | 'strategies' | 'symbols' | 'from' | 'to'> {
  /** `fast 5 to 24 (20)` for each axis. */
  readonly axes: readonly string[];
  readonly parameterSets: number;
  /** Those that did not run before it was stopped. */
  readonly missing: number;
  readonly objective: string;
  readonly best: {
    readonly values: string;
    readonly return: number;
    readonly maxDrawdown: number;
    readonly sharpe: number | null;
  } | null;
}

export interface LibraryView {
  readonly folder: string;
  /** Newest first, as grids are. */
  readonly runs: readonly RunRow[];
  readonly grids: readonly GridRow[];
  /** What cannot be read, and what is left out. */
  readonly notes: readonly string[];
}

/** A report: of a run, of a grid, or of several runs side by side. */
export type Wanted = { readonly run: string } | { readonly grid: string } | { readonly compare: readonly string[] };

export interface Library {
  list(): LibraryView;
  /** One HTML file, made from what is saved. Throws a `Refusal` where there is no such run or grid. */
  report(wanted: Wanted): Promise<string>;
  /** The live results in a state directory beside the saved backtests of the same strategies. */
  compare(stateDir: string): Promise<ComparisonView>;
}
