import { expect, test } from 'vitest';
import { openDuck } from './duckdb.ts';

test('moments are of UTC on a machine of any zone, on each connection', async () => {
  // Set before DuckDB reads it.
  process.env['TZ'] = 'America/New_York';
  const duck = await openDuck(1);
  for (const connection of [duck.connection, await duck.connect()]) {
    const read = await connection.runAndReadAll(
      `SELECT current_setting('TimeZone'), epoch_ms(CAST(make_timestamptz(${Date.UTC(2024, 0, 1)}000) AS TIMESTAMP))`,
    );
    expect(read.getRows()).toEqual([['UTC', BigInt(Date.UTC(2024, 0, 1))]]);
  }
  duck.close();
});
