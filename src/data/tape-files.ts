/** A tape from files: what `loadTrades` and `loadDepth` read, as columns. */
import type { Depth, FeedGap, Trade } from '../domain/market.ts';
import { leastGap } from './check/silence.ts';
import type { BookColumns, TradeColumns } from './tape.ts';

export function tradeColumns(trades: readonly Trade[]): TradeColumns {
  return {
    time: Float64Array.from(trades, ({ time }) => time),
    price: Float64Array.from(trades, ({ price }) => price),
    quantity: Float64Array.from(trades, ({ quantity }) => quantity),
    side: Float64Array.from(trades, ({ side }) => (side === 'BUY' ? 1 : -1)),
  };
}

export function bookColumns(books: readonly Depth[]): BookColumns {
  const rows = books.reduce((sum, { bids, asks }) => sum + bids.length + asks.length, 0);
  const out = {
    time: new Float64Array(books.length),
    start: new Uint32Array(books.length + 1),
    asks: new Uint32Array(books.length),
    price: new Float64Array(rows),
    quantity: new Float64Array(rows),
  };
  let row = 0;
  for (const [at, { time, bids, asks }] of books.entries()) {
    out.time[at] = time;
    out.start[at] = row;
    out.asks[at] = row + bids.length;
    for (const [price, quantity] of [...bids, ...asks]) {
      out.price[row] = price;
      out.quantity[row++] = quantity;
    }
  }
  out.start[books.length] = row;
  return out;
}

/** Silences too long to be quiet markets, as the catalogue keeps them in its ledger. */
export function silencesOf(symbol: string, { time }: TradeColumns): readonly FeedGap[] {
  const rows = time.length;
  if (rows === 0) return [];
  const least = leastGap('trades', (time[rows - 1] as number) - (time[0] as number), rows);
  const gaps: FeedGap[] = [];
  for (let row = 1; row < rows; row++) {
    const [from, to] = [time[row - 1] as number, time[row] as number];
    if (to - from >= least)
      gaps.push({ symbol, channel: 'trades', from, to, cause: 'not in the recorded data', healed: false });
  }
  return gaps;
}
