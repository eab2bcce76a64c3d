import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { btc, startTime } from '../../../test/kit/builders.ts';
import { readConfig } from '../../config/read.ts';
import { tradingSchema } from '../../config/schema.ts';
import { rate, units } from '../../domain/money.ts';
import type { Limits } from '../../risk/context.ts';
import { replayHere, replayLimits } from './replay.ts';

let dir: string;
let file: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
  file = join(dir, 'live.yaml');
  writeFileSync(
    file,
    `exchange: { restUrl: 'http://127.0.0.1:1', wsUrl: 'ws://127.0.0.1:1/ws' }
strategies:
  - { id: trend, use: sma-cross, symbol: BTCUSDT, interval: 1min, params: { fast: 2, slow: 5, share: 0.5 }, allocation: '1000' }
risk: { maxOrderValue: '9000', maxPosition: '9000' }
`,
  );
});
afterAll(() => rmSync(dir, { recursive: true }));

const length = 200;
const close = Float64Array.from({ length }, (_, row) => Math.round(100 + 10 * Math.sin(row / 8)));
const columns = {
  openTime: Float64Array.from({ length }, (_, row) => startTime + row * 60_000),
  ...{ open: close, high: close.map((price) => price + 1), low: close.map((price) => price - 1), close },
  volume: new Float64Array(length).fill(1_000),
};
const given = (limits: Partial<Limits>) => ({
  ...{ file, settings: [], instruments: [btc], cash: units('1000'), newVersions: new Map() },
  klines: [{ symbol: 'BTCUSDT', interval: '1min' as const, columns }],
  limits: { ...readConfig(file, tradingSchema).risk, ...limits } as Limits,
});

test('a limit that is below what a strategy asks for denies all that it would have entered', async () => {
  const { entries, example, fills, from, to } = await replayHere(given({ maxOrderShare: rate('0.02') }));
  expect(fills).toBe(0);
  const denied = entries?.rules.find(({ code }) => code === 'orderShare')?.denied ?? 0;
  expect(denied).toBeGreaterThan(2);
  expect(denied).toBe(entries?.asked);
  expect(example).toMatch(/^BUY .*more than 0\.02 of the equity, 20$/);
  expect([from, to]).toEqual([startTime, startTime + length * 60_000]);
});

test('a version of code that nobody released is held to its part of the allocation', async () => {
  const { entries } = await replayHere({
    ...given({ newVersionShare: rate('0.1') }),
    newVersions: new Map([['trend', { code: 'abc', allocation: units('1000') }]]),
  });
  expect(entries?.rules.map(({ code }) => code)).toEqual(['newVersion']);
});

test('limits that allow everything deny nothing, in a thread as here; those about depth are left out', async () => {
  const here = await replayHere(given({ maxDepthAgeMs: 3_000, maxSlippage: rate('0.01') }));
  expect(here.entries?.rules ?? []).toEqual([]);
  expect(here.fills).toBeGreaterThan(4);
  expect(await replayLimits(given({}))).toEqual({ replayed: here });
});

test('what cannot be replayed is a text, not an exception', async () => {
  expect(await replayLimits({ ...given({}), file: join(dir, 'none.yaml') })).toMatchObject({
    fault: expect.stringContaining('none.yaml'),
  });
});
