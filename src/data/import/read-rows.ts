/** Starts reading a file in its layout. */
import type { Duck } from '../catalogue/duckdb.ts';
import { columnsOf } from '../catalogue/kinds.ts';
import { CsvReader } from './csv-reader.ts';
import { depthReader } from './depth-reader.ts';
import type { Layout, LayoutOptions } from './layout.ts';
import { ObjectReader } from './line-reader.ts';
import { readParquetRows } from './parquet-reader.ts';
import { type Reading, readingOf, UnreadableLines } from './row-reader.ts';
import type { DataFile } from './unpack.ts';

/** Reads nothing before the first batch but the header of a Parquet file. */
export async function readRows(
  { path, blocks }: DataFile,
  { form, kind }: Layout,
  options: LayoutOptions,
  duck: Duck,
): Promise<Reading> {
  const width = columnsOf[kind].length;
  const unreadable = new UnreadableLines(path, options.repair?.has('unreadable'));
  switch (form.is) {
    case 'csv':
      return readingOf(blocks, new CsvReader(form, width, unreadable));
    case 'arrays':
      return readingOf(arraysAsLines(blocks), new CsvReader({ ...form, skipLines: 0 }, width, unreadable));
    case 'objects':
      return readingOf(blocks, new ObjectReader(form, width, unreadable));
    case 'depth':
      return readingOf(blocks, depthReader(form.layout, unreadable, form.symbol));
    case 'parquet':
      // DuckDB reads the file itself; this pass is for the hash.
      for await (const block of blocks) if (block.length === 0) break;
      return readParquetRows(duck, path, kind, options, unreadable);
  }
}

const lineFeed = 10;
const [open, close, quote] = [91, 93, 34];
const blanks: ReadonlySet<number> = new Set([32, 13, 9, lineFeed]);

/** `[[1,"a"],[2,"b"]]` as lines of comma-separated cells: freqtrade's files and Binance's answers. */
async function* arraysAsLines(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let inside = false;
  let quoted = false;
  for await (const block of blocks) {
    const out = new Uint8Array(block.length);
    let length = 0;
    for (const byte of block) {
      if (byte === quote) quoted = !quoted;
      if (!inside) inside = byte === open;
      else if (byte === close && !quoted) {
        inside = false;
        out[length++] = lineFeed;
      } else if (quoted || (byte !== open && !blanks.has(byte))) out[length++] = byte;
    }
    yield out.subarray(0, length);
  }
}
