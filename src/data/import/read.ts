/** A file's rows, whatever its layout. */
import type { Duck } from '../catalogue/duckdb.ts';
import { columnsOf } from '../catalogue/kinds.ts';
import { type Reading, UnreadableLines } from './batch.ts';
import { bandsAsBooks, endedAs, objectsAsBooks, snapshotsAsBooks } from './csv-books.ts';
import { readCsv } from './csv-rows.ts';
import { differencesAsBooks } from './depth-differences.ts';
import { arraysAsLines, readBooks, readObjects } from './json-rows.ts';
import type { Layout, Told } from './layout.ts';
import { readParquetRows } from './parquet-rows.ts';
import { lookAt } from './symbols.ts';
import type { DataFile } from './unpack.ts';

/** Starts reading; nothing is read before the first batch is asked for, but of Parquet its header. */
export async function readRows(file: DataFile, layout: Layout, told: Told, duck: Duck): Promise<Reading> {
  const { form, kind } = layout;
  const width = columnsOf[kind].length;
  const unreadable = new UnreadableLines(file.path, told.repair?.has('unreadable'));
  switch (form.is) {
    case 'csv':
      return readCsv(file.blocks, form, width, unreadable);
    case 'arrays':
      return readCsv(arraysAsLines(file.blocks), { ...form, skipLines: 0 }, width, unreadable);
    case 'objects':
      return readObjects(file.blocks, form, width, unreadable, lookAt(file.path, layout));
    case 'books':
      return readBooks(file.blocks, unreadable, lookAt(file.path, layout));
    case 'levels':
      return readBooks(endedAs(file.blocks, objectsAsBooks, unreadable), unreadable);
    case 'snapshots':
      return readBooks(endedAs(file.blocks, snapshotsAsBooks, unreadable), unreadable);
    case 'differences':
      return readBooks(endedAs(file.blocks, differencesAsBooks, unreadable), unreadable);
    case 'bands':
      return readBooks(endedAs(file.blocks, bandsAsBooks, unreadable), unreadable);
    case 'parquet':
      // DuckDB reads the file itself; our own pass over it is for its hash.
      for await (const block of file.blocks) if (block.length === 0) break;
      return readParquetRows(duck, file.path, kind, told, unreadable);
  }
}

/** What was assumed of a file and the user should know. */
export const notesOf = ({ notes }: Layout, { notes: more = [] }: Reading): readonly string[] => [...notes, ...more];
