import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDuck } from './duckdb.ts';
import { columnsOf } from './kinds.ts';
import { ParquetWriter, readParquet, type Table } from './parquet.ts';

const table = (rows: number, from: number): Table => ({
  kind: 'trades',
  columns: columnsOf.trades.map((_, column) =>
    Float64Array.from({ length: rows }, (_, row) => (column === 3 ? (row % 2) * 2 - 1 : from + 7 * row + column)),
  ),
  rows,
});

test('a table of several hand-overs, and one behind it, are read as they were', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-parquet-'));
  const duck = await openDuck(1);
  const writer = new ParquetWriter(duck, 'one');
  for (const given of [table(150_001, 1_000_000), table(65_536, 3), table(1, 5)]) {
    const path = join(dir, `${given.rows}.parquet`);
    await writer.write(given, path);
    expect(await readParquet(duck, 'trades', path, given.rows)).toEqual(given);
  }
  duck.close();
});
