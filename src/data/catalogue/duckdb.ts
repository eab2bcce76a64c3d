/** DuckDB writes and reads Parquet and runs SQL. It is loaded on demand, because it is an optional package of 70 MB. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { Refusal } from '../../domain/refusal.ts';

/** DuckDB would take four fifths of the memory. */
const maxMemory = '1GB';

/** Opens a database in memory. A `Refusal` when the package was not installed for this platform. */
export async function openDuck(threads?: number) {
  const api = await import('@duckdb/node-api').catch(() => undefined);
  const bindings = await import('@duckdb/node-bindings').catch(() => undefined);
  if (api === undefined || bindings === undefined)
    throw new Refusal(
      'the catalogue needs DuckDB, which is not installed: run npm install @duckdb/node-api (Linux, macOS and Windows)',
      1,
    );
  const options = { memory_limit: maxMemory, ...(threads !== undefined && { threads: String(threads) }) };
  const instance = await api.DuckDBInstance.create(':memory:', options);
  const connection = await instance.connect();
  // By itself it takes the machine's: moments with a zone would be hours off, and one file would be other data on each machine.
  await connection.run("SET GLOBAL TimeZone = 'UTC'");
  const connections = [connection];
  return {
    api,
    bindings: bindings.default,
    connection,
    /** One more, which works at the same time; closed with the database. */
    async connect(): Promise<DuckDBConnection> {
      const more = await instance.connect();
      connections.push(more);
      return more;
    },
    close(): void {
      for (const one of connections) one.closeSync();
      instance.closeSync();
    },
  };
}

export type Duck = Awaited<ReturnType<typeof openDuck>>;

/** A text inside single quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name of a column, inside double quotes. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A path to read from, inside single quotes: `a[1].parquet` would be every file that the pattern fits, such as `a1.parquet`. */
export const quotedPath = (path: string): string => quoted(path.replaceAll(/[[*?]/g, '[$&]'));

/** What is read from Parquet files, and nothing from their paths: of `open=5/x.parquet` every open would be 5. */
export const parquetFrom = (...paths: readonly string[]): string =>
  `read_parquet([${paths.map(quotedPath).join(', ')}], hive_partitioning = false)`;
