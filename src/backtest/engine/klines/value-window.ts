/** The values of a strategy's indicators, a few thousand rows of them at a time. */
import type { Interval } from '../../../domain/interval.ts';
import type { Columns } from '../../../domain/market.ts';
import { wholeColumn } from '../../../strategy/indicator.ts';
import type { Indicator } from '../../../strategy/indicators.ts';

/**
 * Rows at a time: a few columns of them stay in a processor's cache. Whole ones are fresh memory whenever the allocator gave that of the
 * run before back, and then their first touch costs as much again as all else of a run with two averages.
 */
const pieceRows = 4_096;

type Fill = (from: number, to: number) => Float64Array;

/** Goes forward only, by whole pieces. */
export class ValueWindow {
  readonly #fills: readonly Fill[];
  readonly #rows: number;
  /** The values of the rows `from` up to, not including, `to`, by indicator. */
  columns: readonly Float64Array[] = [];
  from = 0;
  to = 0;

  constructor(indicators: readonly Indicator[], klines: Columns, interval: Interval) {
    this.#rows = klines.close.length;
    this.#fills = indicators.map((indicator) => filling(indicator, klines, interval));
  }

  /** Goes on until it holds the values of a row. */
  reach(row: number): void {
    while (row >= this.to && this.to < this.#rows) this.#next();
  }

  #next(): void {
    this.from = this.to;
    this.to = Math.min(this.from + pieceRows, this.#rows);
    this.columns = this.#fills.map((fill) => fill(this.from, this.to));
  }
}

function filling(indicator: Indicator, klines: Columns, interval: Interval): Fill {
  const piece = indicator.column.pieces?.(klines, interval);
  if (piece === undefined) {
    const whole = wholeColumn(indicator, klines, interval);
    return (from, to) => whole.subarray(from, to);
  }
  const values = new Float64Array(pieceRows);
  return (from, to) => {
    piece(values, from, to);
    return values;
  };
}
