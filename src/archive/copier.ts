/** A process that copies Parquet files of the archive into a database, with the name of the file in each row. */
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { identifier, openDuck, parquetFrom } from '../data/catalogue/duckdb.ts';
import { readParquetRows } from '../data/catalogue/parquet-rows.ts';
import { causeOf } from '../domain/refusal.ts';
import { type Copying, fileColumn } from './copying.ts';

async function copyAll({ files, to }: Copying): Promise<void> {
  const [duck, db] = [await openDuck(1), new Database(to)];
  try {
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    for (const { path, file, table, keys } of files) {
      const described = await duck.connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquetFrom(path)}`);
      const columns = described
        .getRows()
        .map(([column, type]) => `${identifier(String(column))} ${type === 'BIGINT' ? 'INTEGER' : 'TEXT'}`);
      db.exec(`
        CREATE TABLE IF NOT EXISTS ${table} (${columns.join(', ')}, ${fileColumn} TEXT);
        CREATE INDEX IF NOT EXISTS ${table}_by_key ON ${table} (${keys.join(', ')});
      `);
      const insert = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')}, ?)`);
      db.exec('BEGIN');
      for await (const row of readParquetRows(duck, path)) insert.run(...row, file);
      db.exec('COMMIT');
    }
  } finally {
    db.close();
    duck.close();
  }
}

/** Long enough for a sentence: the message of a driver may have a whole query in it. */
const maxText = 300;

copyAll(JSON.parse(readFileSync(process.stdin.fd, 'utf8')) as Copying).catch((error: unknown) => {
  process.stdout.write(causeOf(error).slice(0, maxText));
  process.exitCode = 1;
});
