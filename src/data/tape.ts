/** Recorded trades and depth of a symbol as columns, as backtests use them. */
import type { Columns, FeedGap } from '../domain/market.ts';

/** Public trades, sorted by time. */
export interface TradeColumns {
  /** UTC ms. */
  readonly time: Float64Array;
  readonly price: Float64Array;
  /** In the base asset. */
  readonly quantity: Float64Array;
  /** The taker's: 1 for BUY, -1 for SELL. */
  readonly side: Float64Array;
}

/** Whole books, sorted by time. Book `b` has its bids from row `start[b]` to `asks[b]`, its asks up to `start[b + 1]`, best first. */
export interface BookColumns {
  /** UTC ms, one for each book. */
  readonly time: Float64Array;
  /** One more entry than there are books. */
  readonly start: Uint32Array;
  readonly asks: Uint32Array;
  readonly price: Float64Array;
  readonly quantity: Float64Array;
}

/** What is recorded of a symbol beside its klines. */
export interface Tape {
  readonly trades?: TradeColumns;
  readonly books?: BookColumns;
  /** Gaps in the trades, in the order of time. */
  readonly gaps: readonly FeedGap[];
}

/** Depth as the catalogue stores it, one row for each level. */
export interface DepthRows {
  readonly time: Float64Array;
  /** Numbers the books. */
  readonly book: Float64Array;
  /** 1 for a bid, -1 for an ask. */
  readonly side: Float64Array;
  readonly price: Float64Array;
  readonly quantity: Float64Array;
}

/** Columns of the catalogue by name. */
export function klineColumns([openTime, open, high, low, close, volume]: readonly Float64Array[]): Columns {
  if (!openTime || !open || !high || !low || !close || !volume) throw new Error('klines have six columns');
  return { openTime, open, high, low, close, volume };
}

export function tradeColumns([time, price, quantity, side]: readonly Float64Array[]): TradeColumns {
  if (!time || !price || !quantity || !side) throw new Error('trades have four columns');
  return { time, price, quantity, side };
}

export function depthColumns([time, book, side, price, quantity]: readonly Float64Array[]): DepthRows {
  if (!time || !book || !side || !price || !quantity) throw new Error('depth has five columns');
  return { time, book, side, price, quantity };
}

/** Rows of levels as whole books. */
export function booksOf({ time, book, side, price, quantity }: DepthRows): BookColumns {
  const rows = time.length;
  let count = 0;
  for (let row = 0; row < rows; row++) if (row === 0 || book[row] !== book[row - 1]) count++;
  const out = { time: new Float64Array(count), start: new Uint32Array(count + 1), asks: new Uint32Array(count) };
  let at = -1;
  for (let row = 0; row < rows; row++) {
    if (row === 0 || book[row] !== book[row - 1]) {
      at++;
      out.time[at] = time[row] as number;
      out.start[at] = row;
      out.asks[at] = row;
    }
    if ((side[row] as number) > 0) out.asks[at] = row + 1;
  }
  out.start[count] = rows;
  return { ...out, price, quantity };
}
