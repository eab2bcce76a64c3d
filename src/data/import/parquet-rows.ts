/** Rows of somebody's Parquet file, by the names of its columns. */

import { basename } from 'node:path';
import { escapeLine } from '../../domain/printable.ts';
import { Refusal } from '../../domain/refusal.ts';
import { type Duck, identifier, openDuck, parquetFrom, quoted, quotedPath } from '../catalogue/duckdb.ts';
import { columnsOf, type Kind } from '../catalogue/kinds.ts';
import { vectorsOf } from '../catalogue/parquet.ts';
import { type Batch, mostBatchRows, type Reading, type UnreadableLines } from './batch.ts';
import { withNotes } from './contracts.ts';
import { byMaker, takerSides } from './csv-rows.ts';
import { fieldsOf } from './fields.ts';
import { columnNamed } from './file-names.ts';
import { isParquet } from './guess-layout.ts';
import type { Told } from './layout.ts';
import { refuseSeveralIn } from './symbols.ts';
import { epochMs, epochUnit, leastNs } from './times.ts';
import type { DataFile } from './unpack.ts';

/** Decimals of doubles are found by trying; finer ones than this are told as this. */
const mostDecimals = 12;
/** Rows that are looked at for what the columns hold. */
const sampledRows = 200;

/** Reads a Parquet file into batches; a `Refusal` when a column is missing. */
export async function readParquetRows(
  duck: Duck,
  path: string,
  kind: Kind,
  told: Told,
  unreadable: UnreadableLines,
): Promise<Reading> {
  const file = await described(duck, path);
  await refuseSeveralIn(
    duck,
    path,
    file.columns.map(({ name }) => name),
    told,
  );
  const width = columnsOf[kind].length;
  const decimals = new Uint8Array(width);
  const reading: Omit<Reading, 'batches'> = {
    unreadable,
    decimals,
    units: new Set(),
    ended: true,
    lines: 0,
  };
  const places = placesOf(file, kind, told, path);
  const cells = cellsOf(places, kind, told, path);
  const isAssumed = isLocal(places.time) && told.zone === undefined;
  const local = `times (${escapeLine(places.time.name)}) name no zone and are read as UTC (local ones have to be written with their zone first)`;
  return Object.assign(reading, {
    batches: batches(path, cells, file.rows, reading),
    notes: [...places.notes, ...(isAssumed ? [local] : [])],
    isLocal: isAssumed,
  });
}

/** What was told, and what a Parquet file holds by the names of its columns where nobody said that and they tell. */
export async function toldOfParquet<T extends Told>(file: Pick<DataFile, 'path' | 'head'>, told: T): Promise<T> {
  if (told.kind !== undefined || !isParquet(file.head)) return told;
  const duck = await openDuck(1);
  try {
    const { columns } = await described(duck, file.path);
    const kind = kindOf(told.columns ?? columns.map(({ name }) => name));
    return kind === undefined ? told : { ...told, kind };
  } finally {
    duck.close();
  }
}

function kindOf(header: readonly string[]): Kind | undefined {
  const has = (field: 'high' | 'low' | 'price'): boolean => columnNamed(header, field) >= 0;
  if (has('high') && has('low')) return 'klines';
  if (!has('price')) return undefined;
  return header.some((name) => name.toLowerCase() === 'book') ? 'depth' : 'trades';
}

interface File {
  readonly columns: readonly Described[];
  readonly rows: number;
  /** The first rows, as text. */
  readonly sample: readonly (readonly string[])[];
}

/** Columns, how many rows there must be, and the first ones; a `Refusal` where the file is none, or was cut off. */
async function described({ connection }: Duck, path: string): Promise<File> {
  try {
    const columns = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquetFrom(path)}`);
    const first = await connection.runAndReadAll(
      `SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ${parquetFrom(path)} LIMIT ${sampledRows}`,
    );
    const counted = await connection.runAndReadAll(
      `SELECT sum(num_rows) FROM parquet_file_metadata(${quotedPath(path)})`,
    );
    return {
      columns: columns.getRows().map(([name, type]) => ({ name: String(name), type: String(type) })),
      rows: Number(counted.getRows()[0]?.[0]),
      sample: first.getRows().map((cells) => cells.map((cell) => String(cell ?? ''))),
    };
  } catch (error) {
    throw damaged(path, firstLine(error));
  }
}

const firstLine = (error: unknown): string =>
  escapeLine(String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '');

const damaged = (path: string, why: string): Refusal =>
  new Refusal(`${path} is damaged or cut off (Parquet: ${why}): fetch the file again`);

interface Described {
  readonly name: string;
  readonly type: string;
}

/** What fills a column of the batch: a double, null where it is not what belongs there. */
interface Cell {
  readonly name: string;
  readonly sql: string;
  readonly wanted: string;
}

function cellsOf({ time, value }: Places, kind: Kind, told: Told, path: string): readonly Cell[] {
  return columnsOf[kind].map(({ name }, at) => {
    if (at === 0) return timeCell(time, told, path);
    if (name !== 'side') return { name: value(name).name, sql: doubleOf(value(name)), wanted: 'a number' };
    const makerBuys = value('makerBuys');
    return makerBuys.name === '' ? sideCell(value(name)) : makerCell(makerBuys);
  });
}

interface Places {
  readonly time: Described;
  readonly value: (name: string) => Described;
  readonly notes: readonly string[];
}

/** Which column holds what; a `Refusal` where one is missing. */
function placesOf({ columns, sample }: File, kind: Kind, told: Told, path: string): Places {
  if (kind === 'depth') return booksOf(columns, path);
  const header = told.columns ?? columns.map(({ name }) => name);
  const { time, values, notes } = withNotes(fieldsOf(header, { ...told, kind }, path), header, sample, basename(path));
  const at = (place: number | undefined): Described => columns[place ?? -1] ?? { name: '', type: '' };
  return { time: at(time), value: (name) => at(values[name]), notes };
}

/** Books are read as they are exported, a row for each level. */
function booksOf(columns: readonly Described[], path: string): Places {
  const value = (wanted: string): Described =>
    columns.find(({ name }) => name.toLowerCase() === wanted) ?? { name: '', type: '' };
  const missing = columnsOf.depth.map(({ name }) => name).filter((name) => value(name).name === '');
  if (missing.length > 0)
    throw new Refusal(
      `${path}: no column for ${missing.join(', ')} among "${escapeLine(
        columns
          .map(({ name }) => name)
          .join(',')
          .slice(0, 120),
      )}": books in Parquet have a row for each level, with time_ms, book (which numbers the books), side, price and quantity; write others as one JSON object a line`,
    );
  return { time: value('time_ms'), value, notes: [] };
}

/** A price of 41985.37 as a float of 32 bits is 41985.37109375, finer than any instrument: its shortest text is what was meant. */
const doubleOf = ({ name, type }: Described): string =>
  `TRY_CAST(${type === 'FLOAT' ? `CAST(${identifier(name)} AS VARCHAR)` : identifier(name)} AS DOUBLE)`;
const isMoment = ({ type }: Described): boolean => /TIMESTAMP|DATE/.test(type);
const isLocal = (column: Described): boolean => isMoment(column) && !column.type.includes('TIME ZONE');
const isWhole = ({ type }: Described): boolean => /^U?(BIG|HUGE)INT$/.test(type);

function timeCell(column: Described, { zone = 'UTC' }: Told, path: string): Cell {
  const { name } = column;
  const cell = { name, wanted: 'a time in s, ms, µs or ns since 1970' };
  const named = identifier(column.name);
  // A double cannot tell ns apart: what is finer than ms is cut off before.
  if (isWhole(column))
    return {
      ...cell,
      sql: `CAST(CASE WHEN ${named} >= ${leastNs} THEN ${named} - ${named} % 1000000 ELSE ${named} END AS DOUBLE)`,
    };
  if (!isMoment(column)) return { ...cell, sql: doubleOf(column) };
  if (zone !== 'UTC' && zone !== 'Z' && isLocal(column))
    throw new Refusal(
      `${path}: ${escapeLine(name)} holds times that name no zone, and Parquet's are read as UTC: where they are local ones, write them with their zone first (in Python df['${escapeLine(name)}'].dt.tz_localize('${zone}')) and leave out --zone, or import CSV`,
    );
  return { ...cell, sql: `CAST(epoch_ms(CAST(${named} AS TIMESTAMP)) AS DOUBLE)` };
}

const sideCell = (column: Described): Cell => ({
  name: column.name,
  sql: wordsOf(column, takerSides),
  wanted: 'buy or sell',
});

const makerCell = (column: Described): Cell => ({
  name: column.name,
  // Of numbers pandas makes doubles where some are missing.
  sql:
    column.type === 'BOOLEAN'
      ? `CASE WHEN ${identifier(column.name)} THEN -1.0::DOUBLE WHEN NOT ${identifier(column.name)} THEN 1.0::DOUBLE END`
      : wordsOf(column, { ...byMaker, '1.0': -1, '0.0': 1 }),
  wanted: 'true or false',
});

function wordsOf(column: Described, words: Readonly<Record<string, number>>): string {
  const of = (value: number): string =>
    Object.keys(words)
      .filter((word) => words[word] === value)
      .map(quoted)
      .join(', ');
  const word = `lower(CAST(${identifier(column.name)} AS VARCHAR))`;
  return `CASE WHEN ${word} IN (${of(1)}) THEN 1.0::DOUBLE WHEN ${word} IN (${of(-1)}) THEN -1.0::DOUBLE END`;
}

/** Vector by vector, in a database of its own: an answer that is still being read does not outlive another question on its connection. */
async function* batches(
  path: string,
  cells: readonly Cell[],
  expected: number,
  reading: Omit<Reading, 'batches'>,
): AsyncGenerator<Batch> {
  const duck = await openDuck(1);
  const columns = cells.map(() => new Float64Array(mostBatchRows));
  const lines = new Uint32Array(mostBatchRows);
  const sql = `SELECT ${cells.map((cell) => cell.sql).join(', ')} FROM ${parquetFrom(path)}`;
  try {
    let rows = 0;
    for await (const vectors of vectorsOf(duck, sql, cells.length)) {
      const count = vectors[0]?.length ?? 0;
      if (rows + count > mostBatchRows) {
        yield batchOf(columns, rows, lines, reading, cells);
        rows = 0;
      }
      for (const [index, vector] of vectors.entries()) columns[index]?.set(vector, rows);
      rows += count;
    }
    if (rows > 0) yield batchOf(columns, rows, lines, reading, cells);
    // A stream that meets damage ends without a word.
    if (reading.lines !== expected) throw damaged(path, `only ${reading.lines} of its ${expected} rows can be read`);
  } catch (error) {
    throw error instanceof Refusal ? error : damaged(path, firstLine(error));
  } finally {
    duck.close();
  }
}

/** The rows that can be read; the others are noted. */
function batchOf(
  columns: readonly Float64Array[],
  read: number,
  lines: Uint32Array,
  reading: Omit<Reading, 'batches'>,
  cells: readonly Cell[],
): Batch {
  const times = columns[0] as Float64Array;
  const [first = Number.NaN] = times;
  if (!Number.isNaN(epochMs(first))) reading.units.add(epochUnit(first));
  let rows = 0;
  for (let row = 0; row < read; row++) {
    times[row] = epochMs(times[row] as number);
    reading.lines++;
    const fault = faultAt(columns, row);
    if (fault >= 0) {
      const { name, wanted } = cells[fault] as Cell;
      reading.unreadable.note(reading.lines, `${name} is empty or not ${wanted}`);
    } else {
      if (rows < row) for (const column of columns) column[rows] = column[row] as number;
      lines[rows++] = reading.lines;
    }
  }
  for (const [index, column] of columns.entries())
    if (index > 0) noteDecimals(column.subarray(0, rows), reading.decimals, index);
  return { columns, rows, lines };
}

/** The first column that has no number in a row; -1 where each has one. */
function faultAt(columns: readonly Float64Array[], row: number): number {
  for (let at = 0; at < columns.length; at++) if (!Number.isFinite(columns[at]?.[row])) return at;
  return -1;
}

function noteDecimals(column: Float64Array, decimals: Uint8Array, index: number): void {
  let most = decimals[index] ?? 0;
  for (const value of column) {
    while (most < mostDecimals && !hasAtMost(value, most)) most++;
    if (most === mostDecimals) break;
  }
  decimals[index] = most;
}

/** Whether a double is what a number of so many decimals is read as. A whole number below 2^53 divided by a power of ten is rounded once, as reading is. */
function hasAtMost(value: number, decimals: number): boolean {
  const power = 10 ** decimals;
  const whole = Math.round(value * power);
  return Number.isSafeInteger(whole) ? whole / power === value : value === Number(value.toFixed(decimals));
}
