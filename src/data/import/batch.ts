/** Rows on their way from a file into the catalogue, a few ten thousand at a time. */

import { shown } from '../../domain/printable.ts';

/** Rows of one batch at most; what a pass over a file holds of it. */
export const mostBatchRows = 65_536;

/** Rows as columns in the order of `columnsOf` (catalogue/kinds.ts); valid until the next batch is asked for. */
export interface Batch {
  readonly columns: readonly Float64Array[];
  readonly rows: number;
  /** The line of the file that each row stands in, from 1. */
  readonly lines: Uint32Array;
}

/** Lines that could not be read, counted; the first are named. */
export interface Unreadable {
  count: number;
  readonly first: { readonly line: number; readonly what: string }[];
}

/** Faults of one kind that are named one by one; the rest is a number. */
export const mostNamed = 3;

export function noteUnreadable(unreadable: Unreadable, line: number, what: string): void {
  unreadable.count++;
  if (unreadable.first.length < mostNamed) unreadable.first.push({ line, what: shown(what) });
}

/** What there is to say of a file's rows once they have all been read. */
export interface Reading {
  readonly batches: AsyncGenerator<Batch>;
  readonly unreadable: Unreadable;
  /** The most decimals seen in each column. */
  readonly decimals: Uint8Array;
  /** Units of epoch times that were met, in the order they first came. */
  readonly units: Set<string>;
  /** False when the last line has no end, as in a file that was cut off. Known at the end. */
  ended: boolean;
  lines: number;
  /** What a layout says of text, and of Parquet is known only now. */
  readonly notes?: readonly string[];
  readonly isLocal?: boolean;
}

/** Looks at rows of JSON as they come. */
export type Look = (row: unknown, line: number) => void;
