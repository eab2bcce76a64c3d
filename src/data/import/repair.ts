/** Repairs rows in memory. Each repair must be requested and is counted. */
import type { Table } from '../catalogue/parquet.ts';
import { endOf, isSame } from '../catalogue/rows.ts';
import { bookFault } from '../check/depth.ts';
import type { Repair, Repaired } from '../check/finding.ts';
import { minDifferent, minMoments, repeatedBlock } from '../check/trades.ts';
import { isPossible, maxPrice } from '../price-jumps.ts';

/** The rows with the requested repairs. Repairs that changed nothing are not listed. */
export function repairRows(table: Table, asked: ReadonlySet<Repair>) {
  const repaired: Repaired[] = [];
  let now = table;
  const apply = (repair: Repair, keep: (rows: Table) => Uint32Array, changed: (order: Uint32Array) => number): void => {
    if (!asked.has(repair)) return;
    const order = keep(now);
    const rows = changed(order);
    if (rows === 0) return;
    const moved = order.findIndex((row, at) => row !== at);
    const time = now.columns[0]?.[moved < 0 ? order.length : moved];
    repaired.push({ repair, rows, ...(time !== undefined && { first: { time } }) });
    now = picked(now, order);
  };
  const dropped = (order: Uint32Array): number => now.rows - order.length;
  apply('impossible', possibleRows, dropped);
  apply('sort', inOrder, () => stepsBack(now));
  apply('duplicates', (rows) => (rows.kind === 'trades' ? tradesOnce(rows) : once(rows)), dropped);
  return { table: now, repaired };
}

/** Rows in reverse, as files that begin with the newest need it. */
export const reversed = (table: Table): Table =>
  picked(
    table,
    rowNumbers(table).map((row) => table.rows - 1 - row),
  );

const picked = ({ kind, columns }: Table, order: Uint32Array): Table => ({
  kind,
  columns: columns.map((column) => Float64Array.from(order, (row) => column[row] as number)),
  rows: order.length,
});

const rowNumbers = ({ rows }: Table): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);

function inOrder(table: Table): Uint32Array {
  const times = table.columns[0] as Float64Array;
  // Equal times keep the order of the file: so do the levels of a book.
  return rowNumbers(table).sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
}

function stepsBack({ columns, rows }: Table): number {
  const times = columns[0] as Float64Array;
  let back = 0;
  for (let row = 1; row < rows; row++) if ((times[row] as number) < (times[row - 1] as number)) back++;
  return back;
}

function possibleRows(table: Table): Uint32Array {
  const { kind, columns } = table;
  const at = (column: number, row: number): number => columns[column]?.[row] ?? Number.NaN;
  return without(table, (row, end) => {
    if (kind === 'klines') return !isPossible(at(1, row), at(2, row), at(3, row), at(4, row), at(5, row));
    if (kind === 'trades') return !(at(1, row) > 0 && at(1, row) < maxPrice && at(2, row) > 0);
    const levels: number[] = [];
    for (let one = row; one < end; one++) levels.push(at(2, one), at(3, one), at(4, one));
    const fault = bookFault(levels);
    return fault !== undefined && fault !== 'locked';
  });
}

/** The rows without the klines, trades or books for which `isDropped` says so, by their first row and the one behind the last. */
function without(table: Table, isDropped: (first: number, end: number) => boolean): Uint32Array {
  let [end, isOut] = [0, false];
  return rowNumbers(table).filter((row) => {
    if (row < end) return !isOut;
    end = endOf(table, row);
    isOut = isDropped(row, end);
    return !isOut;
  });
}

/** Klines and books that repeat the one before exactly are dropped. */
function once(table: Table): Uint32Array {
  let [before, now] = [0, 0];
  return without(table, (first, end) => {
    [before, now] = [now, first];
    return first > 0 && isSame(table, first, end, table, before, first);
  });
}

/** Of stretches in which all trades come twice, one half is dropped, and so are blocks that repeat an earlier one of their moment. */
function tradesOnce(table: Table): Uint32Array {
  const [times, ...values] = table.columns as [Float64Array, ...Float64Array[]];
  const { rows } = table;
  const drop = new Set<number>();
  let stretch: number[] = [];
  let [moments, different] = [0, 0];
  const end = (): void => {
    if (moments >= minMoments && different >= minDifferent) for (const row of stretch) drop.add(row);
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
  return rowNumbers(table).filter((row) => !drop.has(row));
}
