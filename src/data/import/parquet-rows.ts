/** Rows of somebody's Parquet file, by the names of its columns. */

import { Refusal } from '../../domain/refusal.ts';
import { type Duck, openDuck, quoted } from '../catalogue/duckdb.ts';
import { columnsOf, type Kind } from '../catalogue/kinds.ts';
import { vectorsOf } from '../catalogue/parquet.ts';
import { shown } from '../shown.ts';
import { type Batch, mostBatchRows, type Reading } from './batch.ts';
import { fieldsOf } from './fields.ts';
import type { Told } from './layout.ts';
import { epochMs, epochUnit } from './times.ts';

/** Decimals of doubles are found by trying; finer ones than this are told as this. */
const mostDecimals = 12;

/** Reads a Parquet file into batches; a `Refusal` when a column is missing. */
export async function readParquetRows(duck: Duck, path: string, kind: Kind, told: Told): Promise<Reading> {
  const { columns, rows } = await described(duck, path);
  const width = columnsOf[kind].length;
  const decimals = new Uint8Array(width);
  const reading: Omit<Reading, 'batches'> = {
    unreadable: { count: 0, first: [] },
    decimals,
    units: new Set(),
    ended: true,
    lines: 0,
  };
  const select = selectOf(columns, kind, told, path);
  return Object.assign(reading, {
    batches: batches(path, `SELECT ${select} FROM read_parquet(${quoted(path)})`, rows, reading, width),
  });
}

/** Columns and how many rows there must be; a `Refusal` where the file is none, or was cut off. */
async function described(
  { connection }: Duck,
  path: string,
): Promise<{ readonly columns: readonly Described[]; readonly rows: number }> {
  try {
    const columns = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet(${quoted(path)})`);
    const counted = await connection.runAndReadAll(`SELECT sum(num_rows) FROM parquet_file_metadata(${quoted(path)})`);
    return {
      columns: columns.getRows().map(([name, type]) => ({ name: String(name), type: String(type) })),
      rows: Number(counted.getRows()[0]?.[0]),
    };
  } catch (error) {
    throw damaged(path, firstLine(error));
  }
}

const firstLine = (error: unknown): string =>
  shown(String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '');

const damaged = (path: string, why: string): Refusal =>
  new Refusal(`${path} is damaged or cut off (Parquet: ${why}): fetch the file again`);

interface Described {
  readonly name: string;
  readonly type: string;
}

function selectOf(columns: readonly Described[], kind: Kind, told: Told, path: string): string {
  if (kind === 'depth') return columnsOf.depth.map(({ read }) => read).join(', ');
  const { time, values } = fieldsOf(told.columns ?? columns.map(({ name }) => name), { ...told, kind }, path);
  const named = (at: number): Described => columns[at] ?? { name: '', type: '' };
  const timeColumn = named(time);
  const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const times = /TIMESTAMP|DATE/.test(timeColumn.type)
    ? `CAST(epoch_ms(CAST(${quotedName(timeColumn.name)} AS TIMESTAMP)) AS DOUBLE)`
    : `CAST(${quotedName(timeColumn.name)} AS DOUBLE)`;
  const others = columnsOf[kind].slice(1).map(({ name }) => {
    const makerBuys = name === 'side' && values['side'] === undefined;
    const { name: column } = named(values[makerBuys ? 'makerBuys' : name] ?? -1);
    if (makerBuys) return `CASE WHEN ${quotedName(column)} THEN -1.0::DOUBLE ELSE 1.0::DOUBLE END`;
    if (name === 'side') return `CASE WHEN lower(${quotedName(column)}) = 'buy' THEN 1.0::DOUBLE ELSE -1.0::DOUBLE END`;
    return `CAST(${quotedName(column)} AS DOUBLE)`;
  });
  return [times, ...others].join(', ');
}

/** Vector by vector, in a database of its own: an answer that is still being read does not outlive another question on its connection. */
async function* batches(
  path: string,
  sql: string,
  expected: number,
  reading: Omit<Reading, 'batches'>,
  width: number,
): AsyncGenerator<Batch> {
  const duck = await openDuck(1);
  const columns = Array.from({ length: width }, () => new Float64Array(mostBatchRows));
  const lines = new Uint32Array(mostBatchRows);
  try {
    let rows = 0;
    for await (const vectors of vectorsOf(duck, sql, width)) {
      const count = vectors[0]?.length ?? 0;
      if (rows + count > mostBatchRows) {
        yield batchOf(columns, rows, lines, reading);
        rows = 0;
      }
      for (const [index, vector] of vectors.entries()) columns[index]?.set(vector, rows);
      rows += count;
    }
    if (rows > 0) yield batchOf(columns, rows, lines, reading);
    // A stream that meets damage ends without a word.
    if (reading.lines !== expected) throw damaged(path, `only ${reading.lines} of its ${expected} rows can be read`);
  } catch (error) {
    throw error instanceof Refusal ? error : damaged(path, firstLine(error));
  } finally {
    duck.close();
  }
}

function batchOf(
  columns: readonly Float64Array[],
  rows: number,
  lines: Uint32Array,
  reading: Omit<Reading, 'batches'>,
): Batch {
  const times = columns[0] as Float64Array;
  const [first = Number.NaN] = times;
  if (!Number.isNaN(epochMs(first))) reading.units.add(epochUnit(first));
  for (let row = 0; row < rows; row++) {
    times[row] = epochMs(times[row] as number);
    lines[row] = ++reading.lines;
  }
  for (const [index, column] of columns.entries())
    if (index > 0) noteDecimals(column.subarray(0, rows), reading.decimals, index);
  return { columns, rows, lines };
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
