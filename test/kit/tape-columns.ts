/** Trades and depth of tests as the columns that backtests use. */
import type { BookColumns, TradeColumns } from '../../src/data/tape.ts';
import type { Depth, Trade } from '../../src/domain/market.ts';

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
