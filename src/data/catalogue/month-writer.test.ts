import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDuck } from './duckdb.ts';
import { columnsOf } from './kinds.ts';
import { MonthWriter } from './month-writer.ts';

test.for([
  ['a time that is none', [0, 1, Number.NaN, 3]],
  ['a time before the last one', [0, 2, 1, 3]],
] as const)('rows with %s do not end as a part of them', async ([, minutes]) => {
  const duck = await openDuck(1);
  const dir = mkdtempSync(join(tmpdir(), 'sluice-months-'));
  const writer = new MonthWriter(duck, dir, { kind: 'trades', symbol: 'BTCUSDT' }, undefined);
  const times = Float64Array.from(minutes, (minute) => Date.UTC(2024, 0, 1) + minute * 60_000);
  await writer.add([times, ...columnsOf.trades.slice(1).map(() => new Float64Array(4).fill(1))], 4);
  await expect(writer.finish()).rejects.toThrow('rows of trades BTCUSDT are out of order, and no check found it');
  await writer.discard(undefined);
  duck.close();
});
