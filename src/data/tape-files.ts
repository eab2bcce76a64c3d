/** A tape from files: what `loadTrades` and `loadDepth` read, as columns. */
import type { Depth, FeedGap, Trade } from '../domain/market.ts';
import { DepthChecks } from './check/depth.ts';
import { futureFinding } from './check/future-rows.ts';
import { leastGap } from './check/quiet-periods.ts';
import { TradeChecks } from './check/trades.ts';
import {
  cutNotes,
  gapNotes,
  gapsWithin,
  type Notes,
  notesOf,
  rowsWithin,
  type Stretch,
  together,
} from './data-warnings.ts';
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

const missing = { cause: 'not in the recorded data', healed: false } as const;

/** Silences too long to be quiet markets, as the catalogue keeps them in its ledger. */
export function silencesOf(symbol: string, { time }: TradeColumns): readonly FeedGap[] {
  const rows = time.length;
  if (rows === 0) return [];
  const least = leastGap('trades', (time[rows - 1] as number) - (time[0] as number), rows);
  const gaps: FeedGap[] = [];
  for (let row = 1; row < rows; row++) {
    const [from, to] = [time[row - 1] as number, time[row] as number];
    if (to - from >= least) gaps.push({ ...missing, symbol, channel: 'trades', from, to });
  }
  return gaps;
}

/** A file of a symbol's trades or books, of which stretch something is told, and the present, UTC ms. */
export interface TapeFile extends Stretch {
  readonly name: string;
  /** Whether its last line has an end. */
  readonly ended?: boolean;
  readonly now: number;
}

/** What an import would say of the trades. */
export function tradeNotes(
  { name, ended = true, now, ...stretch }: TapeFile,
  { time, price, quantity, side }: TradeColumns,
  gaps: readonly FeedGap[],
): Notes {
  const [first, end] = rowsWithin(time, stretch);
  const checks = new TradeChecks();
  checks.add(
    [time, price, quantity, side].map((column) => column.subarray(first, end)),
    end - first,
  );
  const found = [...checks.findings(), ...futureFinding(time[end - 1] ?? 0, undefined, now)];
  return together(gapNotes(name, gapsWithin(gaps, stretch)), cutNotes(name, ended), notesOf(name, found));
}

/** Books that are checked at a time: their levels are copied for it. */
const booksAtOnce = 1_000;

/** What an import would say of the books. */
export function bookNotes(
  { name, ended = true, now, ...stretch }: TapeFile,
  symbol: string,
  books: BookColumns,
): Notes {
  const { time } = books;
  const [first, end] = rowsWithin(time, stretch);
  const checks = new DepthChecks();
  addBooks(checks, books, [first, end]);
  const found = [...checks.findings(), ...futureFinding(time[end - 1] ?? 0, undefined, now)];
  const gaps = checks.gaps.map(([from, to]): FeedGap => ({ ...missing, symbol, channel: 'depth', from, to }));
  return together(gapNotes(name, gaps), cutNotes(name, ended), notesOf(name, found));
}

/** Adds books that stand in one line each, the first of all in line `firstLine`; 0 where nobody knows the lines. */
export function addBooks(
  checks: DepthChecks,
  { time, start, asks, price, quantity }: BookColumns,
  [first, end]: readonly [first: number, end: number],
  firstLine = 0,
): void {
  for (let book = first; book < end; book += booksAtOnce) {
    const last = Math.min(end, book + booksAtOnce);
    const [from, to] = [start[book] as number, start[last] as number];
    const [times, numbers, sides] = [0, 0, 0].map(() => new Float64Array(to - from)) as Float64Array[];
    const lines = new Uint32Array(to - from);
    for (let at = book; at < last; at++) {
      const [begin, middle, stop] = [start[at], asks[at], start[at + 1]].map((row) => (row as number) - from);
      times?.fill(time[at] as number, begin, stop);
      numbers?.fill(at, begin, stop);
      sides?.fill(1, begin, middle).fill(-1, middle, stop);
      if (firstLine > 0) lines.fill(firstLine + at, begin, stop);
    }
    checks.add(
      [times, numbers, sides, price.subarray(from, to), quantity.subarray(from, to)] as Float64Array[],
      to - from,
      lines,
    );
  }
}
