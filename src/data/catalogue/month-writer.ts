/** Cuts rows that come in the order of time into months, and stages each as Parquet and as a column file. */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeColumnFile } from './column-file.ts';
import type { Duck } from './duckdb.ts';
import { frameOf, gapsOf } from './gap-ledger.ts';
import { monthEnd, monthOf, type SeriesKey, seriesName } from './kinds.ts';
import { loadMonth } from './load.ts';
import { columnPath, folderOf, type Manifest, type Month } from './manifest.ts';
import { ParquetWriter, type Table } from './parquet.ts';
import { GrowingTable, merge, renumber } from './rows.ts';

/** Minutes of a month: most months of most kinds fit without growing. */
const usualRows = 31 * 1_440;

/** Memory for the rows of a month, free again once that month is written. */
interface Room {
  readonly table: GrowingTable;
  free: Promise<void>;
}

export interface Staged {
  /** Every month of the series, old and new, in order. */
  readonly months: readonly Month[];
  /** Rows at whose times, or among which, nothing else was stored. */
  readonly added: number;
  readonly known: number;
  /** Stored rows that give way. */
  readonly conflicts: number;
  readonly firstConflict?: number;
}

export class MonthWriter {
  readonly #duck: Duck;
  readonly #dir: string;
  readonly #key: SeriesKey & Pick<Manifest, 'zone'>;
  readonly #replace: boolean;
  /** In turn: a month is packed while the next is handed over. */
  readonly #parquet: readonly ParquetWriter[];
  readonly #months: Map<string, Month>;
  readonly #written: string[] = [];
  /** One is filled while two are written as Parquet and the one before as a column file. */
  readonly #rooms: readonly Room[];
  #filling = 0;
  #end = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  /** The last month with rows. */
  #covered: string | undefined;
  /** Stored months between two with rows. */
  readonly #between: string[] = [];
  #count = { added: 0, known: 0, conflicts: 0, firstConflict: Number.NaN };
  /** Rows came in disorder: staged months are useless. */
  broken = false;

  /** `replace`: stored trades and books in the stretch that the rows cover give way where the rows do not have them. */
  constructor(
    duck: Duck,
    dir: string,
    key: SeriesKey & Pick<Manifest, 'zone'>,
    before: Manifest | undefined,
    replace = false,
  ) {
    this.#replace = replace;
    this.#duck = duck;
    this.#dir = dir;
    this.#key = key;
    this.#parquet = ['even', 'odd'].map((name) => new ParquetWriter(duck, name));
    this.#months = new Map(before?.months.map((month) => [month.month, month]));
    this.#rooms = Array.from({ length: 4 }, () => ({
      table: new GrowingTable(key.kind, usualRows),
      free: Promise.resolve(),
    }));
    mkdirSync(folderOf(dir, key), { recursive: true });
  }

  /** Takes rows; they may change afterwards. */
  async add(columns: readonly Float64Array[], rows: number): Promise<void> {
    const times = columns[0] as Float64Array;
    for (let row = 0; row < rows && !this.broken; ) {
      const first = times[row] as number;
      if (!(first >= this.#last)) this.broken = true;
      if (first >= this.#end) {
        await this.#flush(true);
        this.#end = monthEnd(first);
      }
      const from = row;
      for (let last = this.#last; row < rows && (times[row] as number) < this.#end; row++) {
        const time = times[row] as number;
        if (time < last) this.broken = true;
        last = time;
        this.#last = time;
      }
      this.#room.table.append(columns, from, row);
      // A batch may hold times that are none; nothing goes on from there.
      if (row === from) this.broken = true;
    }
  }

  get #room(): Room {
    return this.#rooms[this.#filling] as Room;
  }

  async #flush(toBehind: boolean): Promise<void> {
    const full = this.#room;
    if (full.table.rows === 0) return;
    const parquet = this.#parquet[this.#filling % this.#parquet.length] as ParquetWriter;
    // A large month takes gigabytes: two are in memory at a time, one filled while the other is written.
    const isLarge = full.table.rows > usualRows;
    await (isLarge ? this.#staged() : parquet.idle);
    this.#filling = (this.#filling + 1) % (isLarge ? 2 : this.#rooms.length);
    await this.#room.free;
    this.#room.table.rows = 0;
    const month = monthOf(full.table.columns[0]?.[0] ?? 0);
    if (this.#key.kind !== 'klines' && this.#covered !== undefined)
      for (const name of this.#months.keys()) if (name > this.#covered && name < month) this.#between.push(name);
    const table = await this.#withStored(full.table, month, toBehind);
    this.#covered = month;
    if (table === undefined) return;
    const path = join(folderOf(this.#dir, this.#key), `${month}.unfinished.${process.pid}`);
    this.#written.push(path);
    full.free = parquet.write(table, path).then(() => this.#stage(month, table, path));
    // The error comes out of the next await.
    full.free.catch(() => {});
  }

  /** When all full months are written. */
  async #staged(): Promise<void> {
    await Promise.all(this.#rooms.map(({ free }) => free));
  }

  /** Removes stored months that lie between those of the rows and have no rows among them. */
  #dropBetween(): void {
    const { added, conflicts } = this.#count;
    if (!this.#replace && added === 0 && conflicts === 0) return;
    for (const month of this.#between) {
      const { rows, from } = this.#months.get(month) as Month;
      this.#months.delete(month);
      this.#noteConflicts(rows, from);
    }
  }

  #noteConflicts(rows: number, first: number | undefined): void {
    this.#count.conflicts += rows;
    const { firstConflict } = this.#count;
    if (first !== undefined && !(first >= firstConflict)) this.#count.firstConflict = first;
  }

  /** The rows of the month with those stored; undefined when nothing is new. */
  async #withStored(fresh: GrowingTable, month: string, toBehind: boolean): Promise<Table | undefined> {
    if (fresh.kind === 'depth') {
      const books = fresh.columns[1] as Float64Array;
      renumber(books, fresh.rows, books, 0, -1);
    }
    const stored = this.#months.get(month);
    if (stored === undefined) {
      this.#count.added += fresh.rows;
      return fresh;
    }
    const { table, known, conflicts, firstConflict } = merge(
      await loadMonth(this.#duck, this.#dir, this.#key, stored),
      fresh,
      { fromBefore: this.#covered !== undefined, toBehind, replace: this.#replace },
    );
    this.#count.known += known;
    this.#noteConflicts(conflicts, firstConflict);
    // A kline gives way to one of its time; of trades and books those of a stretch do, however many come.
    this.#count.added += fresh.rows - known - (fresh.kind === 'klines' ? conflicts : 0);
    return known === fresh.rows && conflicts === 0 ? undefined : table;
  }

  async #stage(month: string, table: Table, path: string): Promise<void> {
    const bytes = readFileSync(path);
    const sha256 = hash('sha256', bytes);
    const file = `${month}.${sha256.slice(0, 8)}.parquet`;
    const target = join(folderOf(this.#dir, this.#key), file);
    renameSync(path, target);
    this.#written.push(target);
    await writeColumnFile(columnPath(this.#dir, sha256), table, sha256);
    const times = table.columns[0] as Float64Array;
    const [from, to] = [times[0] as number, times[table.rows - 1] as number];
    const gaps = gapsOf(table, frameOf(this.#key));
    this.#months.set(month, { month, rows: table.rows, from, to, file, bytes: bytes.length, sha256, gaps });
  }

  /** Writes the rest; nothing counts until the manifest names it. Throws for rows in disorder that no check refused. */
  async finish(): Promise<Staged> {
    if (this.broken) throw new Error(`the rows of ${seriesName(this.#key)} are out of order, and no check found it`);
    await this.#flush(false);
    await this.#staged();
    this.#dropBetween();
    const months = [...this.#months.values()].toSorted((a, b) => a.from - b.from);
    const { firstConflict, ...count } = this.#count;
    return { months, ...count, ...(!Number.isNaN(firstConflict) && { firstConflict }) };
  }

  /** Removes what was staged but for the files that the series had before. */
  async discard(before: Manifest | undefined): Promise<void> {
    await Promise.allSettled(this.#rooms.map(({ free }) => free));
    const kept = new Set(before?.months.map(({ file }) => file));
    const hashes = new Set(before?.months.map(({ sha256 }) => sha256));
    for (const path of this.#written) if (!kept.has(path.replace(/^.*[/\\]/, ''))) rmSync(path, { force: true });
    for (const { sha256 } of this.#months.values())
      if (!hashes.has(sha256)) rmSync(columnPath(this.#dir, sha256), { force: true });
  }
}
