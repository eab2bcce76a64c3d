/** Repairs of rows in memory, each only when asked for and counted. */

import type { Table } from '../catalogue/parquet.ts';
import { bookFault } from '../check/depth.ts';
import { leastDifferent, leastMoments, repeatedBlock } from '../check/duplicate-trades.ts';
import type { Repair, Repaired } from '../check/finding.ts';
import { isPossible, mostPrice } from '../price-jumps.ts';

export interface Mended {
  readonly table: Table;
  readonly repaired: readonly Repaired[];
}

/** The rows with the repairs asked for; a repair that found nothing to do is not named. */
export function mend(table: Table, asked: ReadonlySet<Repair>): Mended {
  const repaired: Repaired[] = [];
  let now = table;
  const apply = (repair: Repair, keep: (rows: Table) => Uint32Array, changed: (order: Uint32Array) => number): void => {
    if (!asked.has(repair)) return;
    const order = keep(now);
    const rows = changed(order);
    if (rows === 0) return;
    repaired.push({ repair, rows, ...placeOf(now, order) });
    now = picked(now, order);
  };
  const dropped = (order: Uint32Array): number => now.rows - order.length;
  apply('impossible', possibleRows, dropped);
  apply('sort', inOrder, (order) => backSteps(now, order));
  apply('duplicates', once, dropped);
  return { table: now, repaired };
}

/** The first row that is another one than before. */
function placeOf({ columns }: Table, order: Uint32Array): { readonly first?: { readonly time: number } } {
  const at = order.findIndex((row, index) => row !== index);
  const time = columns[0]?.[at < 0 ? order.length : at];
  return time === undefined ? {} : { first: { time } };
}

/** Rows in reverse, as files that begin with the newest need it; books keep their levels in order. */
export function reversed({ kind, columns, rows }: Table): Table {
  const order = Uint32Array.from({ length: rows }, (_, row) => rows - 1 - row);
  return picked({ kind, columns, rows }, order);
}

export const picked = ({ kind, columns }: Table, order: Uint32Array): Table => ({
  kind,
  columns: columns.map((column) => Float64Array.from(order, (row) => column[row] as number)),
  rows: order.length,
});

function inOrder({ columns, rows }: Table): Uint32Array {
  const times = columns[0] as Float64Array;
  const order = Uint32Array.from({ length: rows }, (_, row) => row);
  // Equal times keep the order of the file: so do the levels of a book.
  return order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
}

function backSteps({ columns, rows }: Table, order: Uint32Array): number {
  const times = columns[0] as Float64Array;
  if (order.every((row, at) => row === at)) return 0;
  let back = 0;
  for (let row = 1; row < rows; row++) if ((times[row] as number) < (times[row - 1] as number)) back++;
  return back;
}

const filtered = (rows: number, keep: (row: number) => boolean): Uint32Array =>
  Uint32Array.from({ length: rows }, (_, row) => row).filter(keep);

function possibleRows({ kind, columns, rows }: Table): Uint32Array {
  const at = (column: number, row: number): number => columns[column]?.[row] ?? Number.NaN;
  if (kind === 'klines')
    return filtered(rows, (row) => isPossible(at(1, row), at(2, row), at(3, row), at(4, row), at(5, row)));
  if (kind === 'trades') return filtered(rows, (row) => at(1, row) > 0 && at(1, row) < mostPrice && at(2, row) > 0);
  const wrong = new Set<number>();
  for (const [first, end] of booksOf(columns[1] as Float64Array, rows)) {
    const levels: number[] = [];
    for (let row = first; row < end; row++) levels.push(at(2, row), at(3, row), at(4, row));
    const fault = bookFault(levels);
    if (fault !== undefined && fault !== 'locked') wrong.add(at(1, first));
  }
  return filtered(rows, (row) => !wrong.has(at(1, row)));
}

function* booksOf(books: Float64Array, rows: number): Generator<readonly [first: number, end: number]> {
  for (let first = 0; first < rows; ) {
    let end = first + 1;
    while (end < rows && books[end] === books[first]) end++;
    yield [first, end];
    first = end;
  }
}

/** Of klines and books each only once; of trades half of every stretch in which all come twice. */
function once(table: Table): Uint32Array {
  if (table.kind === 'trades') return tradesOnce(table);
  const { kind, columns, rows } = table;
  const groups = kind === 'depth' ? [...booksOf(columns[1] as Float64Array, rows)] : undefined;
  const same = (a: number, b: number): boolean =>
    columns.every((column, index) => (kind === 'depth' && index === 1) || column[a] === column[b]);
  if (groups === undefined) return filtered(rows, (row) => row === 0 || !same(row, row - 1));
  const drop = new Set<number>();
  for (let at = 1; at < groups.length; at++) {
    const [[first, end], [from, to]] = [groups[at] ?? [0, 0], groups[at - 1] ?? [0, 0]];
    let equal = end - first === to - from;
    for (let row = 0; equal && row < end - first; row++) equal = same(first + row, from + row);
    if (equal) drop.add(first);
  }
  let keep = true;
  const starts = new Set(groups.map(([first]) => first));
  return filtered(rows, (row) => {
    if (starts.has(row)) keep = !drop.has(row);
    return keep;
  });
}

function tradesOnce({ columns, rows }: Table): Uint32Array {
  const [times, ...values] = columns as [Float64Array, ...Float64Array[]];
  const drop = new Set<number>();
  let stretch: number[] = [];
  let [moments, different] = [0, 0];
  const end = (): void => {
    if (moments >= leastMoments && different >= leastDifferent) for (const row of stretch) drop.add(row);
    stretch = [];
    [moments, different] = [0, 0];
  };
  for (let first = 0; first < rows; ) {
    let next = first;
    const seen = new Map<string, number[]>();
    const keys: string[] = [];
    for (; next < rows && times[next] === times[first]; next++) {
      const key = values.map((column) => column[next]).join(' ');
      keys.push(key);
      const same = seen.get(key);
      if (same === undefined) seen.set(key, [next]);
      else same.push(next);
    }
    const doubled = [...seen.values()];
    const { from, length } = repeatedBlock(keys) ?? { from: 0, length: 0 };
    if (length === 0 && doubled.every((same) => same.length % 2 === 0)) {
      moments++;
      different += doubled.length;
      stretch.push(...doubled.flatMap((same) => same.slice(same.length / 2)));
    } else {
      end();
      for (let at = 0; at < length; at++) drop.add(first + from + at);
    }
    first = next;
  }
  end();
  return filtered(rows, (row) => !drop.has(row));
}
