/** Columns of indicators that can be had piece by piece, by whoever looks at each row once. */
import type { Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { SignalError } from './fault.ts';

/** Writes the values of the rows `from` up to, not including, `to` to the front of `into`. Each call goes on where the last one ended; the first begins at row 0. */
export type Piece = (into: Float64Array, from: number, to: number) => void;

export interface Column {
  (klines: Columns, interval: Interval): Float64Array;
  /** What it is, in full: two of the same key are the same, which runs over the same klines may then share. Sluice's own have one. */
  readonly key?: string;
  /** The same values without memory for all of them, whose first touch costs more than to work them out. */
  readonly pieces?: (klines: Columns, interval: Interval) => Piece;
}

/** The column that is one piece. A function with key and pieces of its own, so that what takes the place of `column` takes theirs, too. */
export function inPieces(key: string, pieces: (klines: Columns, interval: Interval) => Piece): Column {
  const column = (klines: Columns, interval: Interval): Float64Array => {
    const out = new Float64Array(klines.close.length);
    pieces(klines, interval)(out, 0, out.length);
    return out;
  };
  return Object.assign(column, { key, pieces });
}

/** So many rows of each column are looked at. */
const sampled = 64;

/**
 * The whole column. The klines are those of the whole run, of which orders fill and equity is reckoned: one of the user's that writes into
 * them is a fault.
 */
export function wholeColumn(indicator: { readonly column: Column }, klines: Columns, interval: Interval): Float64Array {
  if (indicator.column.key !== undefined) return indicator.column(klines, interval);
  const all = Object.entries(klines) as [keyof Columns, Float64Array][];
  const rows = klines.openTime.length;
  const places = Array.from({ length: sampled }, (_, at) => Math.round(((rows - 1) * at) / (sampled - 1)));
  const before = all.map(([, values]) => places.map((row) => values[row]));
  const made = indicator.column(klines, interval);
  for (const [index, [name, values]] of all.entries())
    if (places.some((row, at) => !Object.is(values[row], before[index]?.[at])))
      throw new SignalError(
        `column() of an indicator writes into the ${name} of the klines that it is given, which are those of the whole run: it must write into an array of its own`,
      );
  return made;
}
