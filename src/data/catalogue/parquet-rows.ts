/** Rows of any columns to a Parquet file and back. */
import { type Duck, identifier, openDuck, parquetFrom, quoted } from './duckdb.ts';
import { parquetOptions } from './parquet.ts';

export interface RowColumn {
  readonly name: string;
  /** `decimal`: text outside, 18 decimals in the file. */
  readonly type: 'text' | 'integer' | 'decimal';
}
export type RowValue = string | number | null;

const types = { text: 'VARCHAR', integer: 'BIGINT', decimal: 'DECIMAL(38, 18)' } as const;

/** Rows appended between two moments in which other work of the process can go on. */
const rowsAtOnce = 10_000;

/** Writes rows in their order and returns their number. The file must not exist; it is not synced to the disk. */
export async function writeParquetRows(
  path: string,
  columns: readonly RowColumn[],
  rows: Iterable<readonly RowValue[]>,
): Promise<number> {
  const duck = await openDuck(1);
  try {
    // Text as it is: DuckDB reads decimals from it exactly.
    const staged = columns.map(({ name, type }) => `${identifier(name)} ${type === 'integer' ? 'BIGINT' : 'VARCHAR'}`);
    await duck.connection.run(`CREATE TABLE staged (${staged.join(', ')})`);
    const appender = await duck.connection.createAppender('staged');
    let count = 0;
    for (const row of rows) {
      for (const value of row) {
        if (value === null) appender.appendNull();
        else if (typeof value === 'number') appender.appendBigInt(BigInt(value));
        else appender.appendVarchar(value);
      }
      appender.endRow();
      if (++count % rowsAtOnce === 0) appender.flushSync();
    }
    appender.closeSync();
    const select = columns.map(
      ({ name, type }) => `CAST(${identifier(name)} AS ${types[type]}) AS ${identifier(name)}`,
    );
    await duck.connection.run(
      `COPY (SELECT ${select.join(', ')} FROM staged ORDER BY rowid) TO ${quoted(path)} (${parquetOptions}, USE_TMP_FILE false)`,
    );
    return count;
  } finally {
    duck.close();
  }
}

/** The rows of a Parquet file in their order, as they were written. */
export async function* readParquetRows(duck: Duck, path: string): AsyncGenerator<readonly RowValue[]> {
  const result = await duck.connection.stream(`SELECT * FROM ${parquetFrom(path)}`);
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    for (const row of chunk.getRows())
      yield row.map((value) => (value === null ? null : typeof value === 'bigint' ? Number(value) : String(value)));
  }
}
