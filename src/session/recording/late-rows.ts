/**
 * Where a new file of frames begins, at midnight or at a restart, its first rows are often dated as the last stored ones, or before them:
 * many venues date by the whole second. They go beside what is stored. Any other import would contradict it.
 */
import type { SeriesKey } from '../../data/catalogue/kinds.ts';
import { loadSeries } from '../../data/catalogue/load.ts';
import { readManifest } from '../../data/catalogue/manifest.ts';
import type { Depth, Level, Trade } from '../../domain/market.ts';

/** A file whose rows begin further back than this, ms, was not recorded behind what is stored: it is compared as other files are. */
const latestMs = 600_000;

type Columns = readonly Float64Array[];

export const lateTrades = (dir: string, key: SeriesKey, rows: readonly Trade[]): Promise<Trade[]> =>
  withStored(dir, key, rows, tradesOf, ({ time, price, quantity, side }) => `${time} ${price} ${quantity} ${side}`);

export const lateDepth = (dir: string, key: SeriesKey, rows: readonly Depth[]): Promise<Depth[]> =>
  withStored(dir, key, rows, booksOf, ({ time, bids, asks }) => JSON.stringify([time, bids, asks]));

/** Rows in the order of time, among them what is stored since their first moment; rows that are stored are there once. */
async function withStored<T extends { readonly time: number }>(
  dir: string,
  key: SeriesKey,
  rows: readonly T[],
  read: (columns: Columns, from: number, symbol: string) => T[],
  nameOf: (row: T) => string,
): Promise<T[]> {
  // What the past brought after a break came later than what followed it.
  const ordered = rows.toSorted((a, b) => a.time - b.time);
  const from = ordered[0]?.time ?? Number.POSITIVE_INFINITY;
  const before = readManifest(dir, key);
  const last = before?.months.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  if (before === undefined || from > last || from < last - latestMs) return ordered;
  const stored = read((await loadSeries(dir, before, { from })).columns, from, key.symbol);
  const known = new Map<string, number>();
  for (const row of stored) known.set(nameOf(row), (known.get(nameOf(row)) ?? 0) + 1);
  const fresh = ordered.filter((row) => {
    if (row.time > last) return true;
    const name = nameOf(row);
    const left = known.get(name) ?? 0;
    known.set(name, left - 1);
    return left <= 0;
  });
  return [...stored, ...fresh].sort((a, b) => a.time - b.time);
}

function tradesOf([times, prices, quantities, sides]: Columns, from: number, symbol: string): Trade[] {
  const rows: Trade[] = [];
  for (const [row, time] of (times ?? []).entries()) {
    if (time < from) continue;
    const side = (sides?.[row] ?? 0) > 0 ? 'BUY' : 'SELL';
    rows.push({ symbol, time, price: prices?.[row] ?? 0, quantity: quantities?.[row] ?? 0, side, seenAt: time });
  }
  return rows;
}

function booksOf([times, books, sides, prices, quantities]: Columns, from: number, symbol: string): Depth[] {
  const rows: Depth[] = [];
  let [book, bids, asks] = [-1, [] as Level[], [] as Level[]];
  for (const [row, time] of (times ?? []).entries()) {
    if (time < from) continue;
    if (books?.[row] !== book) {
      [book, bids, asks] = [books?.[row] ?? 0, [], []];
      rows.push({ symbol, time, bids, asks, seenAt: time });
    }
    ((sides?.[row] ?? 0) > 0 ? bids : asks).push([prices?.[row] ?? 0, quantities?.[row] ?? 0]);
  }
  return rows;
}
