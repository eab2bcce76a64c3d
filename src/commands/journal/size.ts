/** `sluice journal size`: what each table takes on the disk, how fast it grows, and what a year will take. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { archiveDir, archivesIn } from '../../journal/archive.ts';
import { columnsOf } from '../../journal/hash-chain.ts';
import { journalFile } from '../../journal/open.ts';
import { openToRead } from '../../journal/reader.ts';
import { timeOf } from '../../journal/rows.ts';
import { chooseState, refusalOf, type StateChoice } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';
import { textTable } from '../../terminal/table.ts';

const dayMs = 86_400_000;
/** Over a shorter time a daily growth says little. */
const minGrowthMs = 3_600_000;

interface TableSize {
  readonly table: string;
  readonly rows: number;
  /** With its indices. */
  readonly bytes: number;
  /** How fast it grew while the rows that it has now were written; null: it holds what counts now, or less than an hour. */
  readonly bytesPerDay: number | null;
}

/** The output of `journal size --json` (docs/reference/json.md). */
function sizeOf(dir: string) {
  const { db, path } = openToRead(dir);
  try {
    db.exec('BEGIN');
    const sizes = (
      db
        .prepare(
          `SELECT tbl_name AS "table", sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema ON sqlite_schema.name = dbstat.name
             GROUP BY tbl_name ORDER BY bytes DESC, tbl_name`,
        )
        .all() as Pick<TableSize, 'table' | 'bytes'>[]
    ).map((one): TableSize => ({ ...one, ...growthOf(db, one) }));
    const pages = (name: string): number => Number(db.pragma(name, { simple: true }));
    const bytes = pages('page_count') * pages('page_size');
    const known = sizes.flatMap(({ bytesPerDay }) => (bytesPerDay === null ? [] : [bytesPerDay]));
    const bytesPerDay = known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
    const wal = `${path}-wal`;
    return {
      ...{ version: 2, state: dir, tables: sizes, fileBytes: bytes },
      freeBytes: pages('freelist_count') * pages('page_size'),
      logBytes: existsSync(wal) ? statSync(wal).size : 0,
      archiveBytes: archivesIn(db)
        .map(({ file }) => join(dir, archiveDir, file))
        .reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0),
      ...{ bytesPerDay, bytesInAYear: bytesPerDay === null ? null : bytes + bytesPerDay * 365 },
    };
  } finally {
    db.close();
  }
}

/** Rows of a table, and its growth by the times in it. */
function growthOf(
  db: ReturnType<typeof openToRead>['db'],
  { table, bytes }: Pick<TableSize, 'table' | 'bytes'>,
): Pick<TableSize, 'rows' | 'bytesPerDay'> {
  const rows = Number(db.prepare(`SELECT count(*) FROM "${table}"`).pluck().get());
  const time = timeOf(columnsOf(db, table));
  if (time === undefined) return { rows, bytesPerDay: null };
  const ms = Number(db.prepare(`SELECT max(${time}) - min(${time}) FROM "${table}"`).pluck().get() ?? 0);
  return { rows, bytesPerDay: ms < minGrowthMs ? null : Math.round((bytes / ms) * dayMs) };
}

export interface SizeOptions extends Output, StateChoice {}

export function showSize({ state, json, out, say }: SizeOptions): void {
  const { dir } = chooseState(state, say);
  const size = readSize(dir);
  if (json) {
    out(JSON.stringify(size));
    return;
  }
  out(
    textTable(
      ['table', 'rows', 'size', 'share', 'a day'],
      size.tables
        .filter(({ rows }) => rows > 0)
        .map(({ table, rows, bytes, bytesPerDay }) => [
          ...[table, rows.toLocaleString('en'), sizeText(bytes)],
          `${Math.round((bytes / size.fileBytes) * 100)} %`,
          bytesPerDay === null ? '' : sizeText(bytesPerDay),
        ]),
    ),
  );
  out(
    `${journalFile.padEnd(10)} ${sizeText(size.fileBytes)}, of which ${sizeText(size.freeBytes)} free; its log ${sizeText(size.logBytes)}`,
  );
  if (size.archiveBytes > 0) out(`archive    ${sizeText(size.archiveBytes)}`);
  out(
    size.bytesPerDay === null
      ? 'growth     unknown: the journal covers less than an hour'
      : `growth     ${sizeText(size.bytesPerDay)} per day of the exchange's clock; ${sizeText(size.bytesInAYear ?? 0)} in a year, if you never compact`,
  );
  out('smaller    sluice journal compact moves the evidence of ended orders to the archive');
}

function readSize(dir: string): ReturnType<typeof sizeOf> {
  try {
    return sizeOf(dir);
  } catch (error) {
    throw refusalOf(error, dir, 'read');
  }
}

/** `1.3 MB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
