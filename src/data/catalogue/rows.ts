/** Columns that grow, and merging the rows of a month with those stored. */
import { lowerBound } from '../../domain/market.ts';
import { columnsOf, type Kind } from './kinds.ts';
import type { Table } from './parquet.ts';

/** Columns that grow as rows are appended. */
export class GrowingTable {
  readonly kind: Kind;
  columns: Float64Array[];
  rows = 0;

  constructor(kind: Kind, capacity: number) {
    this.kind = kind;
    this.columns = columnsOf[kind].map(() => new Float64Array(capacity));
  }

  /** `likelyRows`: how many rows there may be in the end. */
  append(from: readonly Float64Array[], first: number, end: number, likelyRows = 0): void {
    const capacity = this.columns[0]?.length ?? 0;
    const rows = this.rows + end - first;
    if (rows > capacity) {
      const larger = Math.max(rows, Math.ceil(capacity * 1.5), likelyRows);
      this.columns = this.columns.map((column) => {
        const grown = new Float64Array(larger);
        grown.set(column.subarray(0, this.rows));
        return grown;
      });
    }
    for (const [index, column] of this.columns.entries())
      column.set((from[index] as Float64Array).subarray(first, end), this.rows);
    this.rows = rows;
  }
}

interface Merged {
  readonly table: Table;
  /** Rows that were stored already, equal in all values. */
  readonly known: number;
  /** Stored rows that differ; the new ones are in the table. */
  readonly conflicts: number;
  readonly firstConflict?: number;
}

const slice = ({ kind, columns }: Table, first: number, end: number): Table => ({
  kind,
  columns: columns.map((column) => column.subarray(first, end)),
  rows: end - first,
});

/** How much of a month new rows cover. */
interface Cover {
  /** The file has rows of earlier months, so that it covers this one from its beginning. */
  readonly fromBefore: boolean;
  /** It has rows of later ones, and covers this one to its end. */
  readonly toBehind: boolean;
  /** Stored rows in its stretch that it does not have are removed. */
  readonly replace: boolean;
}

/** Merges new rows of a month with those stored: klines by their times, trades and depth by the stretch that the file covers. */
export function merge(stored: Table, fresh: Table, cover: Cover): Merged {
  if (stored.kind === 'klines') return mergeKlines(stored, fresh);
  const [times, freshTimes] = [stored.columns[0] as Float64Array, fresh.columns[0] as Float64Array];
  const from = cover.fromBefore ? Number.NEGATIVE_INFINITY : (freshTimes[0] as number);
  const to = cover.toBehind ? Number.POSITIVE_INFINITY : (freshTimes[fresh.rows - 1] as number);
  const first = lowerBound(times, stored.rows, from);
  const end = lowerBound(times, stored.rows, to + 1);
  const inside = slice(stored, first, end);
  if (isPartOf(fresh, inside)) {
    const kept = { table: stored, known: fresh.rows, conflicts: 0 };
    if (!cover.replace || inside.rows === fresh.rows) return kept;
    const pieces = [slice(stored, 0, first), fresh, slice(stored, end, stored.rows)];
    const conflicts = inside.rows - fresh.rows;
    return { ...kept, table: concat(stored.kind, pieces), conflicts, firstConflict: times[first] as number };
  }
  const whole = inside.rows === 0 ? undefined : withEnds(inside, fresh, from, to);
  const pieces = [slice(stored, 0, first), ...(whole ?? [fresh]), slice(stored, end, stored.rows)];
  const table = concat(stored.kind, pieces);
  if (inside.rows === 0) return { table, known: 0, conflicts: 0 };
  if (whole !== undefined) return { table, known: fresh.rows - (table.rows - stored.rows), conflicts: 0 };
  return { table, known: 0, conflicts: inside.rows, firstConflict: times[first] as number };
}

/**
 * New rows that contain every stored one of their stretch, as overlapping files and pages do. Either may be cut within its first or last
 * moment: the one with more rows counts. Undefined when they contradict each other.
 */
function withEnds(inside: Table, fresh: Table, from: number, to: number): readonly Table[] | undefined {
  const [old, young] = [inside, fresh].map((one) => {
    const column = one.columns[0] as Float64Array;
    const begun = lowerBound(column, one.rows, from + 1);
    const ends = from === to ? one.rows : lowerBound(column, one.rows, to);
    return [slice(one, 0, begun), slice(one, begun, ends), slice(one, ends, one.rows)] as const;
  });
  if (old === undefined || young === undefined || !isPartOf(old[1], young[1])) return undefined;
  const [first, last] = [fuller(old[0], young[0]), fuller(old[2], young[2])];
  return first === undefined || last === undefined ? undefined : [first, young[1], last];
}

const fuller = (old: Table, young: Table): Table | undefined =>
  isPartOf(old, young) ? young : isPartOf(young, old) ? old : undefined;

/** Whether the trades, or whole books, of `part` are among those of `whole`, in their order. */
function isPartOf(part: Table, whole: Table): boolean {
  let next = 0;
  for (let row = 0; row < part.rows; ) {
    const end = endOf(part, row);
    let nextEnd = endOf(whole, next);
    while (next < whole.rows && !isSame(part, row, end, whole, next, nextEnd)) {
      next = nextEnd;
      nextEnd = endOf(whole, next);
    }
    if (next >= whole.rows) return false;
    [row, next] = [end, nextEnd];
  }
  return true;
}

/** The row after the trade, or the book, that begins at a row. */
export function endOf({ kind, columns, rows }: Table, row: number): number {
  if (kind !== 'depth') return row + 1;
  const books = columns[1] as Float64Array;
  let end = row + 1;
  while (end < rows && books[end] === books[row]) end++;
  return end;
}

/** Whether the rows of a trade or a book have the same values as others. */
export function isSame(a: Table, from: number, end: number, b: Table, at: number, atEnd: number): boolean {
  if (end - from !== atEnd - at) return false;
  for (let index = 0; index < a.columns.length; index++) {
    // Books are numbered as they come.
    if (a.kind === 'depth' && index === 1) continue;
    const [column, other] = [a.columns[index] as Float64Array, b.columns[index] as Float64Array];
    for (let row = from; row < end; row++) if (column[row] !== other[at + row - from]) return false;
  }
  return true;
}

function mergeKlines(stored: Table, fresh: Table): Merged {
  const table = new GrowingTable('klines', stored.rows + fresh.rows);
  const [times, freshTimes] = [stored.columns[0] as Float64Array, fresh.columns[0] as Float64Array];
  let [known, conflicts, row, firstConflict] = [0, 0, 0, Number.NaN];
  for (let at = 0; at < fresh.rows; at++) {
    const time = freshTimes[at] as number;
    const from = row;
    while (row < stored.rows && (times[row] as number) < time) row++;
    table.append(stored.columns, from, row);
    if (row < stored.rows && times[row] === time) {
      if (stored.columns.every((column, index) => column[row] === fresh.columns[index]?.[at])) known++;
      else if (conflicts++ === 0) firstConflict = time;
      row++;
    }
    table.append(fresh.columns, at, at + 1);
  }
  table.append(stored.columns, row, stored.rows);
  return { table, known, conflicts, ...(conflicts > 0 && { firstConflict }) };
}

/** The books of the pieces are numbered anew, so that two of one number do not become one book. */
function concat(kind: Kind, pieces: readonly Table[]): Table {
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0);
  const table = new GrowingTable(kind, rows);
  let book = -1;
  for (const piece of pieces) {
    const from = table.rows;
    table.append(piece.columns, 0, piece.rows);
    if (kind === 'depth')
      book = renumber(piece.columns[1] as Float64Array, piece.rows, table.columns[1] as Float64Array, from, book);
  }
  return table;
}

/** Numbers books from `last + 1` on, where they change; the last number given. */
export function renumber(books: Float64Array, rows: number, into: Float64Array, at: number, last: number): number {
  let number = last;
  let before = Number.NaN;
  for (let row = 0; row < rows; row++) {
    const book = books[row] as number;
    if (book !== before) number++;
    before = book;
    into[at + row] = number;
  }
  return number;
}
