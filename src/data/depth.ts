/** Recorded depth from a file of JSON lines that a configuration names. */
import type { Depth, Level } from '../domain/market.ts';
import { DepthChecks } from './check/depth.ts';
import { refuseNamed } from './check/errors.ts';
import { jsonDepthReader } from './import/depth-reader.ts';
import { UnreadableLines } from './import/row-reader.ts';
import { type ReadFile, readNamedTable } from './named-file.ts';
import { booksOf, type DepthRows, depthColumns } from './tape.ts';

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
