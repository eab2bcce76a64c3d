/** Series that are made of others and kept, when these change. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Interval } from '../../domain/interval.ts';
import { type ImportResult, importFile } from '../import/import.ts';
import type { SeriesKey } from './kinds.ts';
import { type StoredKlines, storedKlines } from './klines.ts';
import { staleText } from './made.ts';
import { listSeries, type Manifest, readManifest } from './manifest.ts';
import { removeSeries, storeResampled } from './store.ts';

const start = Date.UTC(2024, 0, 1);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
const key: SeriesKey = { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' };

const klines = (which: readonly number[], stepMs: number): string =>
  `time_ms,open,high,low,close,volume\n${which.map((at) => `${start + at * stepMs},100,101,99,100.${at % 7},1\n`).join('')}`;

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-made-'));
  const dir = join(folder, 'data');
  const take = (name: string, text: string): Promise<ImportResult> => {
    writeFileSync(join(folder, name), text);
    const given = { dir, symbol: 'BTCUSDT', endStamps: false, repair: new Set<never>(), replace: false, now: 5 };
    return importFile(join(folder, name), given);
  };
  const series = (of: SeriesKey): Manifest => {
    const found = readManifest(dir, of);
    if (found === undefined) throw new Error('there is no series');
    return found;
  };
  return {
    dir,
    series,
    minutes: (...minutes: readonly number[]) => take('BTCUSDT_1m.csv', klines(minutes, 60_000)),
    hours: (...hours: readonly number[]) => take('BTCUSDT_1h.csv', klines(hours, 3_600_000)),
    trades: (...minutes: readonly number[]) =>
      take(
        'BTCUSDT_trades.csv',
        `time_ms,price,qty,side\n${minutes.map((at) => `${start + at * 60_000},100.${at % 7},1,${at % 3 === 0 ? 'buy' : 'sell'}\n`).join('')}`,
      ),
    make: (from: SeriesKey, interval: Interval) => storeResampled(dir, series(from), { interval, zone: 'UTC', now: 0 }),
    run: (interval: Interval): Promise<StoredKlines> =>
      storedKlines(dir, { symbol: 'BTCUSDT', interval, pricePrecision: 2 }),
    stale: (): readonly (string | undefined)[] => listSeries(dir).map((one) => staleText(listSeries(dir), one)),
  };
}

test('a kept series whose source got rows is not used: a run makes it anew, and says so', async () => {
  const here = place();
  await here.minutes(...range(0, 130), ...range(160, 300));
  await here.make(key, '60min');
  expect(here.stale()).toEqual([undefined, undefined]);
  expect([...(await here.run('60min')).columns.volume]).toEqual([60, 60, 30, 60, 60]);
  const again = 'sluice data resample BTCUSDT --interval 1min --into 60min';
  expect((await here.minutes(...range(130, 160))).stale).toEqual([
    `klines BTCUSDT 60min is stale: klines BTCUSDT 1min changed since it was made: resample again (${again})`,
  ]);
  const found = await here.run('60min');
  expect([...found.columns.volume]).toEqual([60, 60, 60, 60, 60]);
  expect(found.warnings).toEqual([
    `BTCUSDT: the klines of 60min that are kept are not used, since klines BTCUSDT 1min changed after they were made of it (${again} makes them anew)`,
    'BTCUSDT: 60min made from 1min',
  ]);
  await here.make(key, '60min');
  expect(here.stale()).toEqual([undefined, undefined]);
  const kept = await here.run('60min');
  expect([[...kept.columns.volume], kept.warnings]).toEqual([[60, 60, 60, 60, 60], []]);
});

test('what was made of a made series is stale with it, and nothing is made of a stale one', async () => {
  const here = place();
  const hour: SeriesKey = { ...key, interval: '60min' };
  await here.minutes(...range(0, 1_500), ...range(1_501, 4_321));
  await here.make(key, '60min');
  await here.make(hour, '1day');
  await here.minutes(1_500);
  expect(here.stale().map((text) => text?.slice(0, 31))).toEqual([
    undefined,
    'stale: klines BTCUSDT 1min chan',
    'stale: klines BTCUSDT 1min chan',
  ]);
  expect([...(await here.run('1day')).columns.volume]).toEqual([1_440, 1_440, 1_440]);
  await expect(here.make(hour, '1day')).rejects.toThrow(
    /klines BTCUSDT 60min is stale: .*\(sluice data resample BTCUSDT --interval 1min --into 60min\)/,
  );
  await here.make(key, '60min');
  expect(here.stale()[2]).toContain('stale: klines BTCUSDT 60min changed');
  await here.make(hour, '1day');
  expect(here.stale()).toEqual([undefined, undefined, undefined]);
});

test('a made series that was imported into is used, and called stale in part', async () => {
  const here = place();
  await here.minutes(...range(0, 120));
  await here.make(key, '60min');
  await here.hours(2, 3);
  expect([here.stale(), (await here.run('60min')).warnings]).toEqual([[undefined, undefined], []]);
  await here.minutes(...range(120, 180));
  const words =
    'stale in part: klines BTCUSDT 1min changed since some of it was made: remove it (sluice data remove BTCUSDT --interval 60min --yes), and import it or make it anew';
  expect(here.stale()).toEqual([undefined, words]);
  const found = await here.run('60min');
  expect([[...found.columns.volume], found.warnings]).toEqual([[60, 60, 1, 1], [`BTCUSDT 60min: ${words}`]]);
});

test('minutes of trades that changed are made anew of them', async () => {
  const here = place();
  await here.trades(...range(0, 200));
  await here.make({ kind: 'trades', symbol: 'BTCUSDT' }, '1min');
  expect((await here.trades(...range(200, 400))).stale).toEqual([
    expect.stringContaining('(sluice data resample BTCUSDT --kind trades --into 1min)'),
  ]);
  const found = await here.run('60min');
  expect([...found.columns.volume]).toEqual([60, 60, 60, 60, 60, 60]);
  expect(found.warnings.at(-1)).toBe('BTCUSDT: 60min made from trades');
});

test('a made series without its source is all there is, and is used', async () => {
  const here = place();
  await here.minutes(...range(0, 120));
  await here.make(key, '60min');
  removeSeries(here.dir, here.series(key));
  expect(here.stale()).toEqual([undefined]);
  expect((await here.run('60min')).warnings).toEqual([]);
});

test('klines that a hole of their source cuts into are counted, and a run on them says so', async () => {
  const here = place();
  await here.minutes(...range(0, 70), ...range(80, 90), ...range(95, 130), ...range(310, 360));
  const { imports } = await here.make(key, '60min');
  expect(imports[0]?.findings).toMatchObject([
    {
      check: 'partial',
      count: 3,
      what: '3 klines of 60min are made of fewer rows than they should be',
      places: [{ time: start + 3_600_000 }, { time: start + 7_200_000 }, { time: start + 18_000_000 }],
    },
  ]);
  expect((await here.run('60min')).warnings).toContainEqual(
    expect.stringMatching(/^BTCUSDT 60min: 3 klines of 60min are made of fewer rows .*: klines BTCUSDT 1min has holes/),
  );
});
