/** Rows of somebody's Parquet file, by the names of its columns. */

import { basename } from 'node:path';
import { escapeLine } from '../../domain/printable.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { type Duck, identifier, openDuck, parquetFrom, quoted, quotedPath } from '../catalogue/duckdb.ts';
import { columnsOf, type Kind } from '../catalogue/kinds.ts';
import { vectorsOf } from '../catalogue/parquet.ts';
import { columnNamed, columnPlaces, quantityNotes, type Rows, symbolColumn } from './columns.ts';
import { byMaker, takerSides } from './csv-reader.ts';
import { isParquet } from './detect-layout.ts';
import type { LayoutOptions } from './layout.ts';
import { type Batch, maxBatchRows, type Reading, refuseSeveralSymbols, type UnreadableLines } from './row-reader.ts';
import { epochMs, epochUnit, minNs } from './times.ts';
import type { DataFile } from './unpack.ts';

/** Decimals of doubles are found by trying, up to this many. */
const maxDecimals = 12;
const sampledRows = 200;
/** Different symbols of a column that are compared. */
const maxSymbols = 100;

/** Reads a Parquet file into batches; throws a `Refusal` when a column is missing. */
export async function readParquetRows(
  duck: Duck,
  path: string,
  kind: Kind,
  given: LayoutOptions,
  unreadable: UnreadableLines,
): Promise<Reading> {
  const file = await described(duck, path);
  await refuseSeveralIn(duck, path, file, given);
  const decimals = new Uint8Array(columnsOf[kind].length);
  const reading: ReadingState = { unreadable, decimals, units: new Set(), ended: true, lines: 0 };
  const { columns, notes } = kind === 'depth' ? depthColumns(file, path) : rowColumns(file, kind, given, path);
  const time = columns.get('time_ms') ?? nowhere;
  const isAssumed = isLocal(time) && given.zone === undefined;
  const local = `times (${escapeLine(time.name)}) have no zone and are read as UTC (write local times with their zone first)`;
  return Object.assign(reading, {
    batches: batches(path, cellsOf(kind, columns, given, path), file.rows, reading),
    notes: [...notes, ...(isAssumed ? [local] : [])],
    isLocal: isAssumed,
  });
}

type ReadingState = Omit<Reading, 'batches'>;

/** The options, with the kind that the column names of a Parquet file show where none is stated. */
export async function withParquetKind<T extends LayoutOptions>(
  file: Pick<DataFile, 'path' | 'head'>,
  given: T,
): Promise<T> {
  if (given.kind !== undefined || !isParquet(file.head)) return given;
  const duck = await openDuck(1);
  try {
    const { columns } = await described(duck, file.path);
    const kind = kindOf(given.columns ?? columns.map(({ name }) => name));
    return kind === undefined ? given : { ...given, kind };
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

interface Column {
  readonly name: string;
  readonly type: string;
}
const nowhere: Column = { name: '', type: '' };

interface File {
  readonly columns: readonly Column[];
  readonly rows: number;
  /** The first rows, as text. */
  readonly sample: Rows;
}

/** Throws a `Refusal` where the file is no Parquet, or was cut off. */
async function described({ connection }: Duck, path: string): Promise<File> {
  const answer = async (sql: string): Promise<readonly (readonly string[])[]> =>
    (await connection.runAndReadAll(sql)).getRows().map((cells) => cells.map((cell) => String(cell ?? '')));
  try {
    const columns = await answer(`DESCRIBE SELECT * FROM ${parquetFrom(path)}`);
    const sample = await answer(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ${parquetFrom(path)} LIMIT ${sampledRows}`);
    const rows = await answer(`SELECT sum(num_rows) FROM parquet_file_metadata(${quotedPath(path)})`);
    return {
      columns: columns.map(([name = '', type = '']) => ({ name, type })),
      rows: Number(rows[0]?.[0]),
      sample,
    };
  } catch (error) {
    throw damaged(path, firstLine(error));
  }
}

const firstLine = (error: unknown): string => escapeLine(causeOf(error).split('\n', 1)[0] ?? '');

const damaged = (path: string, why: string): Refusal =>
  new Refusal(`${path} is damaged or cut off (Parquet: ${why}): fetch the file again`);

async function refuseSeveralIn(
  { connection }: Duck,
  path: string,
  { columns }: File,
  given: LayoutOptions,
): Promise<void> {
  const names = columns.map(({ name }) => name);
  const name = names[symbolColumn(names, given.columns)];
  if (name === undefined) return;
  const text = `CAST(${identifier(name)} AS VARCHAR)`;
  const found = await connection.runAndReadAll(`SELECT DISTINCT ${text} FROM ${parquetFrom(path)} LIMIT ${maxSymbols}`);
  refuseSeveralSymbols(
    path,
    found.getRows().map(([cell]) => String(cell ?? '')),
  );
}

function rowColumns({ columns, sample }: File, kind: Kind, given: LayoutOptions, path: string) {
  const header = given.columns ?? columns.map(({ name }) => name);
  const { time, values } = columnPlaces(header, { ...given, kind }, path);
  const places = Object.entries({ ...values, time_ms: time });
  return {
    columns: new Map(places.map(([name, at]) => [name, columns[at] ?? nowhere])),
    notes: quantityNotes(kind, basename(path), header, sample, [kind === 'trades' ? values.quantity : values.volume]),
  };
}

/** Depth is read as it is exported, a row for each level. */
function depthColumns({ columns }: File, path: string) {
  const found = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const missing = columnsOf.depth.map(({ name }) => name).filter((name) => !found.has(name));
  if (missing.length === 0) return { columns: found, notes: [] };
  const names = columns.map(({ name }) => name).join(',');
  throw new Refusal(
    `${path}: no column for ${missing.join(', ')} among "${escapeLine(names.slice(0, 120))}": books in Parquet have a row for each level, with time_ms, book (which numbers the books), side, price and quantity; write others as one JSON object a line`,
  );
}

/** What fills a column of the batch: a double, null where the value is not the expected one. */
interface Cell {
  readonly name: string;
  readonly sql: string;
  readonly expected: string;
}

function cellsOf(
  kind: Kind,
  columns: ReadonlyMap<string, Column>,
  given: LayoutOptions,
  path: string,
): readonly Cell[] {
  return columnsOf[kind].map(({ name }): Cell => {
    const column = columns.get(name) ?? nowhere;
    if (name === 'time_ms')
      return { name: column.name, sql: timeOf(column, given, path), expected: 'a time in s, ms, µs or ns since 1970' };
    if (name !== 'side') return { name: column.name, sql: doubleOf(column), expected: 'a number' };
    const maker = columns.get('makerBuys');
    // pandas turns numbers into doubles where some are missing.
    return maker === undefined
      ? { name: column.name, sql: signOf(column, takerSides), expected: 'buy or sell' }
      : { name: maker.name, sql: signOf(maker, { ...byMaker, '1.0': -1, '0.0': 1 }), expected: 'true or false' };
  });
}

/** A price of 41985.37 as a float of 32 bits is 41985.37109375, finer than any instrument: its shortest text is what was meant. */
const doubleOf = ({ name, type }: Column): string =>
  `TRY_CAST(${type === 'FLOAT' ? `CAST(${identifier(name)} AS VARCHAR)` : identifier(name)} AS DOUBLE)`;
const isMoment = ({ type }: Column): boolean => /TIMESTAMP|DATE/.test(type);
const isLocal = (column: Column): boolean => isMoment(column) && !column.type.includes('TIME ZONE');

function timeOf(column: Column, { zone = 'UTC' }: LayoutOptions, path: string): string {
  const named = identifier(column.name);
  // A double cannot tell ns apart: what is finer than ms is cut off before.
  if (/^U?(BIG|HUGE)INT$/.test(column.type))
    return `CAST(CASE WHEN ${named} >= ${minNs} THEN ${named} - ${named} % 1000000 ELSE ${named} END AS DOUBLE)`;
  if (!isMoment(column)) return doubleOf(column);
  const name = escapeLine(column.name);
  if (zone !== 'UTC' && zone !== 'Z' && isLocal(column))
    throw new Refusal(
      `${path}: ${name} has times without a zone, which are read as UTC in Parquet: if they are local, write them with their zone first (in Python df['${name}'].dt.tz_localize('${zone}')) and leave out --zone, or import CSV`,
    );
  return `CAST(epoch_ms(CAST(${named} AS TIMESTAMP)) AS DOUBLE)`;
}

/** 1 or -1 by the words for each. */
function signOf(column: Column, words: Readonly<Record<string, number>>): string {
  const word = `lower(CAST(${identifier(column.name)} AS VARCHAR))`;
  const cases = Object.entries(words).map(([text, sign]) => `WHEN ${quoted(text)} THEN ${sign}.0::DOUBLE`);
  return `CASE ${word} ${cases.join(' ')} END`;
}

/** In a database of its own: another query on its connection would end the result that is still being read. */
async function* batches(
  path: string,
  cells: readonly Cell[],
  expected: number,
  reading: ReadingState,
): AsyncGenerator<Batch> {
  const duck = await openDuck(1);
  const columns = cells.map(() => new Float64Array(maxBatchRows));
  const lines = new Uint32Array(maxBatchRows);
  const sql = `SELECT ${cells.map((cell) => cell.sql).join(', ')} FROM ${parquetFrom(path)}`;
  try {
    let rows = 0;
    for await (const vectors of vectorsOf(duck, sql, cells.length)) {
      const count = vectors[0]?.length ?? 0;
      if (rows + count > maxBatchRows) {
        yield batchOf(columns, rows, lines, reading, cells);
        rows = 0;
      }
      for (const [index, vector] of vectors.entries()) columns[index]?.set(vector, rows);
      rows += count;
    }
    if (rows > 0) yield batchOf(columns, rows, lines, reading, cells);
    // A stream that meets damage ends without an error.
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
  reading: ReadingState,
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
      const { name, expected } = cells[fault] as Cell;
      reading.unreadable.note(reading.lines, `${name} is empty or not ${expected}`);
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
  let max = decimals[index] ?? 0;
  for (const value of column) {
    while (max < maxDecimals && !hasAtMost(value, max)) max++;
    if (max === maxDecimals) break;
  }
  decimals[index] = max;
}

/** Whether a number of so many decimals is read as this double. A whole number below 2^53 divided by a power of ten is rounded once, as reading is. */
function hasAtMost(value: number, decimals: number): boolean {
  const power = 10 ** decimals;
  const whole = Math.round(value * power);
  return Number.isSafeInteger(whole) ? whole / power === value : value === Number(value.toFixed(decimals));
}
