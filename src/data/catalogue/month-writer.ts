/** Cuts rows that come in the order of time into months, and stages each as Parquet and as a column file. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeColumnFile } from './column-file.ts';
import type { Duck } from './duckdb.ts';
import { columnsOf, monthEnd, monthOf, type SeriesKey } from './kinds.ts';
import { frameOf, gapsOf } from './ledger.ts';
import { loadMonth } from './load.ts';
import { columnPath, folderOf, type Manifest, type Month } from './manifest.ts';
import { ParquetWriter, type Table, type Writing } from './parquet.ts';
import { GrowingTable, merge, renumber } from './rows.ts';

/** Minutes of a month: most months of most kinds fit without growing. */
const usualRows = 31 * 1_440;

export interface Staged {
  /** Every month of the series, old and new, in order. */
  readonly months: readonly Month[];
  /** Rows that are there now and were not before. */
  readonly added: number;
  readonly known: number;
  readonly conflicts: number;
  readonly firstConflict?: number;
}

export class MonthWriter {
  readonly #duck: Duck;
  readonly #dir: string;
  readonly #key: SeriesKey & Pick<Manifest, 'zone'>;
  readonly #parquet: ParquetWriter;
  readonly #months: Map<string, Month>;
  readonly #written: string[] = [];
  /** One is filled while the other is written. */
  #filling: GrowingTable;
  #spare: GrowingTable;
  #end = Number.NEGATIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> = Promise.resolve();
  #count = { added: 0, known: 0, conflicts: 0, firstConflict: Number.NaN };
  /** Rows came that are no series in time: what is staged is worth nothing. */
  broken = false;

  constructor(duck: Duck, dir: string, key: SeriesKey & Pick<Manifest, 'zone'>, before: Manifest | undefined) {
    this.#duck = duck;
    this.#dir = dir;
    this.#key = key;
    this.#parquet = new ParquetWriter(duck);
    this.#months = new Map(before?.months.map((month) => [month.month, month]));
    const width = columnsOf[key.kind].length;
    this.#filling = new GrowingTable(key.kind, width, usualRows);
    this.#spare = new GrowingTable(key.kind, width, usualRows);
    mkdirSync(folderOf(dir, key), { recursive: true });
  }

  /** Takes rows; they may change afterwards. */
  async add(columns: readonly Float64Array[], rows: number): Promise<void> {
    const times = columns[0] as Float64Array;
    for (let row = 0; row < rows && !this.broken; ) {
      const first = times[row] as number;
      if (!(first >= this.#last)) this.broken = true;
      if (first >= this.#end) {
        await this.#flush();
        this.#end = monthEnd(first);
      }
      const from = row;
      for (let last = this.#last; row < rows && (times[row] as number) < this.#end; row++) {
        const time = times[row] as number;
        if (time < last) this.broken = true;
        last = time;
        this.#last = time;
      }
      this.#filling.append(columns, from, row);
      // A batch may hold times that are none; nothing goes on from there.
      if (row === from) this.broken = true;
    }
  }

  async #flush(): Promise<void> {
    if (this.#filling.rows === 0) return;
    await this.#writing;
    const full = this.#filling;
    this.#filling = this.#spare;
    this.#spare = full;
    this.#filling.rows = 0;
    const table = await this.#withStored(full);
    if (table === undefined) return;
    const month = monthOf(table.columns[0]?.[0] ?? 0);
    const path = join(folderOf(this.#dir, this.#key), `${month}.unfinished.${process.pid}`);
    this.#written.push(path);
    const writing: Writing = this.#parquet.write(table, path);
    this.#writing = writing.done.then(() => this.#stage(month, table, path));
    // Told by whoever waits for it next.
    this.#writing.catch(() => {});
    await writing.taken;
  }

  /** The rows of the month with those stored; undefined when nothing is new. */
  async #withStored(fresh: GrowingTable): Promise<Table | undefined> {
    if (fresh.kind === 'depth') {
      const books = fresh.columns[1] as Float64Array;
      renumber(books, fresh.rows, books, 0, -1);
    }
    const stored = this.#months.get(monthOf(fresh.columns[0]?.[0] ?? 0));
    if (stored === undefined) {
      this.#count.added += fresh.rows;
      return fresh;
    }
    const { table, known, conflicts, firstConflict } = merge(
      await loadMonth(this.#duck, this.#dir, this.#key, stored),
      fresh,
    );
    this.#count.known += known;
    this.#count.conflicts += conflicts;
    this.#count.added += fresh.rows - known;
    if (Number.isNaN(this.#count.firstConflict) && firstConflict !== undefined)
      this.#count.firstConflict = firstConflict;
    return known === fresh.rows ? undefined : table;
  }

  async #stage(month: string, table: Table, path: string): Promise<void> {
    const bytes = readFileSync(path);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = `${month}.${sha256.slice(0, 8)}.parquet`;
    const target = join(folderOf(this.#dir, this.#key), file);
    renameSync(path, target);
    this.#written.push(target);
    await writeColumnFile(columnPath(this.#dir, sha256), table, sha256);
    const times = table.columns[0] as Float64Array;
    const [from, to] = [times[0] as number, times[table.rows - 1] as number];
    const gaps = gapsOf(table, frameOf(this.#key)).map(([start, end]): [number, number] => [start, end]);
    this.#months.set(month, { month, rows: table.rows, from, to, file, bytes: bytes.length, sha256, gaps });
  }

  /** Writes what is left; nothing counts until the manifest names it. */
  async finish(): Promise<Staged> {
    await this.#flush();
    await this.#writing;
    const months = [...this.#months.values()].toSorted((a, b) => a.from - b.from);
    const { firstConflict, ...count } = this.#count;
    return { months, ...count, ...(!Number.isNaN(firstConflict) && { firstConflict }) };
  }

  /** Removes what was staged but for the files that the series had before. */
  async discard(before: Manifest | undefined): Promise<void> {
    await this.#writing.catch(() => {});
    const kept = new Set(before?.months.map(({ file }) => file));
    const hashes = new Set(before?.months.map(({ sha256 }) => sha256));
    for (const path of this.#written) if (!kept.has(path.replace(/^.*[/\\]/, ''))) rmSync(path, { force: true });
    for (const { sha256 } of this.#months.values())
      if (!hashes.has(sha256)) rmSync(columnPath(this.#dir, sha256), { force: true });
  }
}
