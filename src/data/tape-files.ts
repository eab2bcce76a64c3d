/** Trades and depth from files that a configuration names: their rows, gaps, and the notes on them. */
import type { Depth, FeedGap, Level, Trade } from '../domain/market.ts';
import { DepthChecks } from './check/depth.ts';
import { refuseNamed } from './check/finding.ts';
import { futureFinding, recordedGap, silencesIn } from './check/gaps.ts';
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
import { jsonDepthReader } from './import/depth-reader.ts';
import { UnreadableLines } from './import/row-reader.ts';
import { namedCsv, type ReadFile, readNamedTable } from './named-file.ts';
import { booksOf, type DepthRows, depthColumns, type TradeColumns, tradeColumns } from './tape.ts';

/** Silences too long for a quiet market, as the catalogue records them. */
export const silencesOf = (symbol: string, { time }: TradeColumns): readonly FeedGap[] =>
  silencesIn('trades', time, time.length).map((gap) => recordedGap(symbol, 'trades', gap));

/** A file of trades or depth, and the stretch that the notes are about. */
export interface TapeFile extends Stretch {
  readonly name: string;
  /** Whether its last line has an end. */
  readonly ended?: boolean;
  /** The present, UTC ms. */
  readonly now: number;
}

/** What an import would find in the trades. */
export function tradeNotes(file: TapeFile, columns: TradeColumns, gaps: readonly FeedGap[]): Notes {
  const { time, price, quantity, side } = columns;
  const checks = new TradeChecks();
  return tapeNotes(file, checks, [time, price, quantity, side], () => gapsWithin(gaps, file));
}

/** What an import would find in the depth. */
export function depthNotes(file: TapeFile, symbol: string, rows: DepthRows): Notes {
  const { time, book, side, price, quantity } = rows;
  const checks = new DepthChecks();
  return tapeNotes(file, checks, [time, book, side, price, quantity], () =>
    checks.gaps.map((gap) => recordedGap(symbol, 'depth', gap)),
  );
}

function tapeNotes(
  { name, ended = true, now, ...stretch }: TapeFile,
  checks: TradeChecks | DepthChecks,
  columns: readonly [time: Float64Array, ...Float64Array[]],
  gaps: () => readonly FeedGap[],
): Notes {
  const [time] = columns;
  const [first, end] = rowsWithin(time, stretch);
  checks.add(
    columns.map((column) => column.subarray(first, end)),
    end - first,
  );
  const found = [...checks.findings(), ...futureFinding(time[end - 1] ?? 0, undefined, now)];
  return together(gapNotes(name, gaps()), cutNotes(name, ended), notesOf(name, found));
}

/**
 * Reads whole books, one JSON object `{t, b, a}` a line, `.jsonl` or `.jsonl.gz`, in their order of time. Throws a `Refusal` with all
 * faults that an import would find.
 */
export function readDepth(path: string): ReadFile & { readonly rows: DepthRows } {
  const checks = new DepthChecks();
  const reader = jsonDepthReader(new UnreadableLines(path), undefined, true);
  const { columns, ...read } = readNamedTable({ path, reader }, 'depth', (batch) =>
    checks.add(batch.columns, batch.rows, batch.lines),
  );
  refuseNamed(path, checks.findings(), checks.rows);
  return { ...read, rows: depthColumns(columns) };
}

/** The same, book by book. */
export function loadDepth({ path, symbol }: { readonly path: string; readonly symbol: string }): readonly Depth[] {
  const { time: times, start, asks, price, quantity } = booksOf(readDepth(path).rows);
  const levels = (from = 0, to = 0): Level[] =>
    Array.from({ length: to - from }, (_, at) => [price[from + at] as number, quantity[from + at] as number]);
  return Array.from(times, (time, book) => ({
    ...{ symbol, time, seenAt: time },
    bids: levels(start[book], asks[book]),
    asks: levels(asks[book], start[book + 1]),
  }));
}

/**
 * Reads trades with the header `time_ms,price,qty,side` (the taker's side), `.csv` or `.csv.gz`, in their order of time.
 * Identical rows are kept: venues print several equal trades in one millisecond. Throws a `Refusal` with all faults that an import would
 * find.
 */
export function readTrades(path: string): ReadFile & { readonly columns: TradeColumns } {
  const checks = new TradeChecks();
  const file = namedCsv(path, [
    { name: 'time_ms', role: 'epoch' },
    { name: 'price', role: 'number' },
    { name: 'qty', role: 'number' },
    { name: 'side', role: 'side' },
  ]);
  const { columns, ...read } = readNamedTable(file, 'trades', (batch) =>
    checks.add(batch.columns, batch.rows, batch.lines),
  );
  refuseNamed(path, checks.findings(), checks.rows);
  return { ...read, columns: tradeColumns(columns) };
}

/** The same, one by one. */
export function loadTrades({ path, symbol }: { readonly path: string; readonly symbol: string }): readonly Trade[] {
  const { time: times, price, quantity, side } = readTrades(path).columns;
  return Array.from(times, (time, row) => ({
    ...{ symbol, time, seenAt: time },
    price: price[row] as number,
    quantity: quantity[row] as number,
    side: side[row] === 1 ? 'BUY' : 'SELL',
  }));
}
