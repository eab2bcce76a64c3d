/** Columns to Parquet and back, by the vector: no value passes through an object. */
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { Refusal } from '../../domain/refusal.ts';
import { type Duck, parquetFrom, quoted } from './duckdb.ts';
import { columnsOf, type Kind } from './kinds.ts';

/** Rows handed over at a time, as one row of lists: for each the thread of DuckDB waits until ours has a moment, and a vector has 2,048. */
const feedRows = 65_536;
/**
 * Byte streams are split and dictionaries left out: half the processor time and a tenth less on the disk for prices. The usual level of
 * compression would take half as long again to save two percent. The same rows always become the same bytes.
 */
export const parquetOptions =
  'FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1';

export interface Table {
  readonly kind: Kind;
  readonly columns: readonly Float64Array[];
  readonly rows: number;
}

/** Writes tables, one at a time; several writers of one database, each of a name of its own, write at the same time. */
export class ParquetWriter {
  readonly #duck: Duck;
  readonly #name: string;
  #connection: Promise<DuckDBConnection> | undefined;
  readonly #registered = new Set<Kind>();
  #table: Table | undefined;
  #at = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(duck: Duck, name: string) {
    this.#duck = duck;
    this.#name = name;
  }

  /** When the table before is written, or was not to be. */
  get idle(): Promise<void> {
    return this.#last.then(
      () => {},
      () => {},
    );
  }

  /** Until it is written the columns may not change. */
  write(table: Table, path: string): Promise<void> {
    const writing = this.idle.then(() => this.#write(table, path));
    this.#last = writing;
    return writing;
  }

  async #write(table: Table, path: string): Promise<void> {
    const { kind } = table;
    this.#connection ??= this.#duck.connect();
    const connection = await this.#connection;
    const feed = `feed_${kind}_${this.#name}`;
    if (!this.#registered.has(kind)) this.#register(connection, kind, feed);
    this.#table = table;
    this.#at = 0;
    const select = columnsOf[kind].map(({ stored }) => stored).join(', ');
    const lists = columnsOf[kind].map(({ name }) => `unnest(${name}) AS ${name}`).join(', ');
    await connection.run(
      `COPY (SELECT ${select} FROM (SELECT ${lists} FROM ${feed}())) TO ${quoted(path)} (${parquetOptions})`,
    );
  }

  #register(connection: DuckDBConnection, kind: Kind, feed: string): void {
    const { api } = this.#duck;
    this.#registered.add(kind);
    connection.registerTableFunction(
      api.DuckDBTableFunction.create({
        name: feed,
        bindFunction: (bind) => {
          for (const { name } of columnsOf[kind]) bind.addResultColumn(name, api.LIST(api.DOUBLE));
          bind.setCardinality(Math.ceil((this.#table?.rows ?? 0) / feedRows), true);
        },
        // One thread: rows keep their order.
        initFunction: (init) => init.setMaxThreads(1),
        mainFunction: (_, chunk) => this.#fill(chunk),
      }),
    );
  }

  #fill(chunk: DuckDBDataChunk): void {
    const { bindings } = this.#duck;
    const table = this.#table;
    const count = table === undefined ? 0 : Math.min(feedRows, table.rows - this.#at);
    chunk.rowCount = count === 0 ? 0 : 1;
    if (table === undefined || count === 0) return;
    // Where the list begins, and its length.
    const entry = BigUint64Array.of(0n, BigInt(count)).buffer;
    for (const [index, column] of table.columns.entries()) {
      const vector = bindings.data_chunk_get_vector(chunk.chunk, index);
      const from = column.byteOffset + this.#at * 8;
      bindings.list_vector_reserve(vector, count);
      bindings.list_vector_set_size(vector, count);
      bindings.copy_data_to_vector(vector, 0, entry, 0, 16);
      bindings.copy_data_to_vector(
        bindings.list_vector_get_child(vector),
        0,
        column.buffer as ArrayBuffer,
        from,
        count * 8,
      );
    }
    this.#at += count;
  }
}

/** The rows of a select of doubles, vector by vector, NaN for null; each is valid until the next is asked for. */
export async function* vectorsOf(
  { bindings, connection }: Duck,
  sql: string,
  width: number,
): AsyncGenerator<readonly Float64Array[]> {
  const result = await connection.stream(sql);
  for (;;) {
    const next = await result.fetchChunk();
    if (next === null || next.rowCount === 0) return;
    const { chunk, rowCount: rows } = next;
    yield Array.from({ length: width }, (_, index) => {
      const vector = bindings.data_chunk_get_vector(chunk, index);
      const bytes = bindings.vector_get_data(vector, rows * 8);
      const values = new Float64Array(bytes.buffer, bytes.byteOffset, rows);
      // None where every row has a value, whatever its type says.
      const valid = bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Uint8Array | null;
      return valid === null ? values : withoutNulls(values, valid);
    });
  }
}

/** Under a null stands whatever was there before, such as the value of another row. */
const withoutNulls = (values: Float64Array, valid: Uint8Array): Float64Array =>
  values.map((value, row) => (((valid[row >> 3] as number) >> (row & 7)) & 1 ? value : Number.NaN));

export async function readParquet(duck: Duck, kind: Kind, path: string, rows: number): Promise<Table> {
  const columns = columnsOf[kind].map(() => new Float64Array(rows));
  const select = columnsOf[kind].map(({ read }) => read).join(', ');
  let at = 0;
  try {
    for await (const vectors of vectorsOf(duck, `SELECT ${select} FROM ${parquetFrom(path)}`, columns.length)) {
      const count = vectors[0]?.length ?? 0;
      if (at + count > rows) throw damaged(path, rows);
      for (const [index, vector] of vectors.entries()) (columns[index] as Float64Array).set(vector, at);
      at += count;
    }
  } catch {
    throw damaged(path, rows);
  }
  // A stream that meets damage ends without a word.
  if (at < rows) throw damaged(path, rows);
  return { kind, columns, rows: at };
}

const damaged = (path: string, rows: number): Refusal =>
  new Refusal(`${path} is damaged: it does not have ${rows} rows; restore it from a copy, or remove the series`, 1);
