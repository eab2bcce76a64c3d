/**
 * Backtests over recorded trades and books, events a second: an event is one trade or one price level of a book that changed. The
 * bundled eleven minutes are repeated, shifted in time, until a run lasts a while. Making the columns is not timed; the way to
 * the first event is.
 *
 *     npx node bench/events.ts [TIMES [maker|trades [ROUNDS]]]
 */
import { fileURLToPath } from 'node:url';
import { runTape } from '../src/backtest/engine/ticks/run.ts';
import type { RunInput } from '../src/backtest/run.ts';
import { resampleTrades } from '../src/data/resample.ts';
import { type BookColumns, booksOf, type Tape, type TradeColumns } from '../src/data/tape.ts';
import { readDepth, readTrades } from '../src/data/tape-files.ts';
import { registry } from '../strategies/registry.ts';
import { inputOf } from '../test/backtest/agreement.ts';

const symbol = 'BTCUSDT';
const file = (name: string): string => fileURLToPath(new URL(`../backtests/data/${name}`, import.meta.url));
/** The recording lasts a little less. */
const lengthMs = 11 * 60_000;

/** A column again and again; what each repetition adds to its values. */
function repeated(column: Float64Array, times: number, shift: number): Float64Array {
  const out = new Float64Array(column.length * times);
  for (let at = 0; at < times; at++)
    for (let row = 0; row < column.length; row++) out[at * column.length + row] = (column[row] as number) + at * shift;
  return out;
}

const repeatedTrades = ({ time, price, quantity, side }: TradeColumns, times: number): TradeColumns => ({
  time: repeated(time, times, lengthMs),
  price: repeated(price, times, 0),
  quantity: repeated(quantity, times, 0),
  side: repeated(side, times, 0),
});

function repeatedBooks({ time, start, asks, price, quantity }: BookColumns, times: number): BookColumns {
  const rows = price.length;
  /** With `more`, one place beyond the last book. */
  const places = (column: Uint32Array, count: number, more = 0): Uint32Array =>
    Uint32Array.from(
      { length: count * times + more },
      (_, at) => (column[at % count] as number) + Math.floor(at / count) * rows,
    );
  return {
    time: repeated(time, times, lengthMs),
    start: places(start, time.length, 1),
    asks: places(asks, time.length),
    price: repeated(price, times, 0),
    quantity: repeated(quantity, times, 0),
  };
}

/** Price levels that a book shows with another size than the one before, those that went included. */
function changedLevels({ time, start, price, quantity }: BookColumns): number {
  let changed = 0;
  let before = new Map<number, number>();
  for (let book = 0; book < time.length; book++) {
    const now = new Map<number, number>();
    for (let row = start[book] as number; row < (start[book + 1] as number); row++)
      now.set(price[row] as number, quantity[row] as number);
    for (const [at, size] of now) if (before.get(at) !== size) changed++;
    for (const at of before.keys()) if (!now.has(at)) changed++;
    before = now;
  }
  return changed;
}

const [times = '40', what = 'maker', rounds = '3'] = process.argv.slice(2);
const { default: strategy } = await registry[what === 'maker' ? 'maker' : 'sma-cross']();
const trades = repeatedTrades(readTrades(file('BTCUSDT-trades-2024-08-08T2354_11min.csv.gz')).columns, Number(times));
const books = repeatedBooks(
  booksOf(readDepth(file('BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz')).rows),
  Number(times),
);
const tape: Tape = what === 'maker' ? { trades, books, gaps: [] } : { trades, gaps: [] };
const input: RunInput = {
  ...inputOf({
    symbol,
    interval: '1min',
    instrument: {
      base: 'BTC',
      quote: 'USDT',
      pricePrecision: 2,
      quantityPrecision: 5,
      minQuantity: '0.00001',
      minNotional: '5',
    },
    columns: resampleTrades(trades, { interval: '1min' }),
    rules: 'sluice',
    fees: { maker: '0', taker: '0.0004' },
    cash: '100000',
    strategy,
    params:
      what === 'maker'
        ? { offset: 0.0001, refresh: 0.0002, quantity: 0.01, maxPosition: 0.05 }
        : { fast: 10, slow: 50, quantity: 0.1, share: 0, stop: 0 },
  }),
  tapes: new Map([[symbol, tape]]),
};
const events = trades.time.length + (what === 'maker' ? changedLevels(books) : 0);
for (let round = 0; round < Number(rounds); round++) {
  const startedAt = performance.now();
  const { fills, requests } = await runTape(input);
  const ms = performance.now() - startedAt;
  const counted = `${events} events (${trades.time.length} trades), ${fills.length} fills, ${requests?.creates ?? 0} orders`;
  console.log(
    `${what} ${round === 0 ? 'cold' : 'warm'}: ${(events / ms / 1000).toFixed(2)} M events/s, ${ms.toFixed(0)} ms: ${counted}`,
  );
}
