/** Columns of indicators that can be had piece by piece, by whoever looks at each row once. */
import type { Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';

/** Writes the values of the rows `from` up to, not including, `to` to the front of `into`. Each call goes on where the last one ended; the first begins at row 0. */
export type Piece = (into: Float64Array, from: number, to: number) => void;

export interface Column {
  (klines: Columns, interval: Interval): Float64Array;
  /** The same values without memory for all of them, whose first touch costs more than to work them out. */
  readonly pieces?: (klines: Columns, interval: Interval) => Piece;
}

/** The column that is one piece. A function with pieces of its own, so that what takes the place of `column` takes theirs, too. */
export function inPieces(pieces: (klines: Columns, interval: Interval) => Piece): Column {
  const column = (klines: Columns, interval: Interval): Float64Array => {
    const out = new Float64Array(klines.close.length);
    pieces(klines, interval)(out, 0, out.length);
    return out;
  };
  return Object.assign(column, { pieces });
}
