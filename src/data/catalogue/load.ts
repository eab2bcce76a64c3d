/** Rows of the catalogue in memory: from the column files, which are made from Parquet where they are missing. */
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from '../../domain/refusal.ts';
import { readColumnFile, writeColumnFile } from './column-file.ts';
import { type Duck, openDuck } from './duckdb.ts';
import { columnsOf, type SeriesKey } from './kinds.ts';
import { columnPath, folderOf, type Manifest, type Month, removing } from './manifest.ts';
import { readParquet, type Table } from './parquet.ts';

export async function loadMonth(duck: Duck, dir: string, key: SeriesKey, month: Month): Promise<Table> {
  const columns = columnsOf[key.kind].map(() => new Float64Array(month.rows));
  if (await readColumnFile(columnPath(dir, month.sha256), month, columns, 0))
    return { kind: key.kind, columns, rows: month.rows };
  return readParquet(duck, key.kind, join(folderOf(dir, key), month.file), month.rows);
}

/** Imports merge rows with those of the file, so that without it none is possible. */
const remedy = (key: SeriesKey): string =>
  `restore the file from a copy, or remove the series (${removing(key)}) and import its rows again`;

/** Refuses a month whose file is not there or not as long as it was written. */
function checkMonthFile(dir: string, key: SeriesKey, { file, bytes }: Month): void {
  const path = join(folderOf(dir, key), file);
  if (!existsSync(path)) throw new Refusal(`${path} is missing: ${remedy(key)}`);
  const { size } = statSync(path);
  if (size !== bytes) throw new Refusal(`${path} has ${size} bytes instead of ${bytes}: ${remedy(key)}`);
}

/** Whether a month's file holds the bytes that were written. */
export const isAsWritten = (path: string, { sha256 }: Month): boolean => hash('sha256', readFileSync(path)) === sha256;

/** Refuses months whose files are not what was written: queries would give wrong answers. */
export function checkWhole(dir: string, manifest: Manifest): void {
  for (const month of manifest.months) {
    checkMonthFile(dir, manifest, month);
    const path = join(folderOf(dir, manifest), month.file);
    if (!isAsWritten(path, month)) throw damaged(path, manifest);
  }
}

const damaged = (path: string, key: SeriesKey): Refusal =>
  new Refusal(`${path} differs from its hash: ${remedy(key)}; sluice data check lists all such files`, 1);

export interface Span {
  /** UTC ms; months that lie before are not loaded. */
  readonly from?: number | undefined;
  /** UTC ms; months that begin then or later are not loaded. */
  readonly to?: number | undefined;
}

/** Every row of the months that touch the span, in memory that workers may share. */
export async function loadSeries(dir: string, manifest: Manifest, { from, to }: Span = {}): Promise<Table> {
  const months = manifest.months.filter(
    (month) => (from === undefined || month.to >= from) && (to === undefined || month.from < to),
  );
  const rows = months.reduce((sum, month) => sum + month.rows, 0);
  const columns = columnsOf[manifest.kind].map(() => new Float64Array(new SharedArrayBuffer(rows * 8)));
  const isRead = await readMonths(dir, months, columns);
  let duck: Duck | undefined;
  let at = 0;
  let books = 0;
  try {
    for (const [index, month] of months.entries()) {
      checkMonthFile(dir, manifest, month);
      if (isRead[index] !== true) {
        const path = join(folderOf(dir, manifest), month.file);
        // Once its columns are cached, damage would no longer show.
        if (!isAsWritten(path, month)) throw damaged(path, manifest);
        duck ??= await openDuck();
        const table = await readParquet(duck, manifest.kind, path, month.rows);
        await cached(dir, month.sha256, table);
        for (const [place, column] of table.columns.entries()) columns[place]?.set(column, at);
      }
      if (manifest.kind === 'depth') books = shiftBooks(columns[1] as Float64Array, at, month.rows, books);
      at += month.rows;
    }
  } finally {
    duck?.close();
  }
  return { kind: manifest.kind, columns, rows };
}

/** Caches the columns for the next time, unless the catalogue cannot be written or the disk is full. */
async function cached(dir: string, sha256: string, table: Table): Promise<void> {
  const path = columnPath(dir, sha256);
  try {
    mkdirSync(join(dir, 'cache'), { recursive: true });
    await writeColumnFile(path, table, sha256);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (existsSync(`${path}.${process.pid}`)) rmSync(`${path}.${process.pid}`);
  }
}

/** Files that are read at the same time: as many as Node has threads for it. */
const readsAtOnce = 4;

/** Reads the months' column files one behind another; which of them could be read. */
async function readMonths(
  dir: string,
  months: readonly Month[],
  columns: readonly Float64Array[],
): Promise<readonly boolean[]> {
  const isRead: boolean[] = [];
  const [next, starts] = [months.entries(), startsOf(months)];
  const reader = async (): Promise<void> => {
    for (const [index, month] of next)
      isRead[index] = await readColumnFile(columnPath(dir, month.sha256), month, columns, starts[index] ?? 0);
  };
  await Promise.all(Array.from({ length: readsAtOnce }, reader));
  return isRead;
}

function startsOf(months: readonly Month[]): readonly number[] {
  let rows = 0;
  return months.map((month) => {
    rows += month.rows;
    return rows - month.rows;
  });
}

/** Books are numbered from 0 in each month; in memory they go on from month to month. */
function shiftBooks(column: Float64Array, at: number, rows: number, by: number): number {
  for (let row = at; row < at + rows; row++) column[row] = (column[row] as number) + by;
  return rows === 0 ? by : (column[at + rows - 1] as number) + 1;
}
