/** Series that are made of others and kept, when these change. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Interval } from '../../domain/interval.ts';
import { type ImportResult, importFile } from '../import/import.ts';
import { audit } from './audit.ts';
import { staleText } from './derived-series.ts';
import { ledgerOf } from './gap-ledger.ts';
import { type SeriesKey, seriesName } from './kinds.ts';
import { listSeries, type Manifest, readManifest } from './manifest.ts';
import { type StoredKlines, storedKlines } from './run-data.ts';
import { removeSeries, storeResampled } from './store.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const start = Date.UTC(2024, 0, 1);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
const key: SeriesKey = { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' };

const klines = (which: readonly number[], stepMs: number): string =>
  `time_ms,open,high,low,close,volume\n${which.map((at) => `${start + at * stepMs},100,101,99,100.${at % 7},1\n`).join('')}`;

/** Of klines that a run makes. */
const hint = ': orders fill by these; to fill by 1min klines, set dataIntervals: { BTCUSDT: 1min }';

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-made-'));
  const dir = join(folder, 'data');
  const take = (name: string, text: string): Promise<ImportResult> => {
    writeFileSync(join(folder, name), text);
    const given = { dir, symbol: 'BTCUSDT', endStamps: false, repair: new Set<never>(), replace: false, now };
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
    days: (...days: readonly number[]) => take('BTCUSDT_1d.csv', klines(days, 86_400_000)),
    trades: (...minutes: readonly number[]) =>
      take(
        'BTCUSDT_trades.csv',
        `time_ms,price,qty,side\n${minutes.map((at) => `${start + at * 60_000},100.${at % 7},1,${at % 3 === 0 ? 'buy' : 'sell'}\n`).join('')}`,
      ),
    make: (from: SeriesKey, interval: Interval, zone = 'UTC') =>
      storeResampled(dir, series(from), { interval, zone, now }),
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
    `klines BTCUSDT 60min is stale: klines BTCUSDT 1min has changed: resample again (${again})`,
  ]);
  const found = await here.run('60min');
  expect([...found.columns.volume]).toEqual([60, 60, 60, 60, 60]);
  expect(found.warnings).toEqual([
    `BTCUSDT: the stored klines of 60min are not used, because their source klines BTCUSDT 1min has changed (update them: ${again})`,
    `BTCUSDT: 60min made from 1min${hint}`,
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
    'stale: klines BTCUSDT 1min has ',
    'stale: klines BTCUSDT 1min has ',
  ]);
  expect([...(await here.run('1day')).columns.volume]).toEqual([1_440, 1_440, 1_440]);
  await expect(here.make(hour, '1day')).rejects.toThrow(
    /klines BTCUSDT 60min is stale: .*\(sluice data resample BTCUSDT --interval 1min --into 60min\)/,
  );
  await here.make(key, '60min');
  expect(here.stale()[2]).toContain('stale: klines BTCUSDT 60min has changed');
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
    'partly stale: klines BTCUSDT 1min has changed: remove the series (sluice data remove BTCUSDT --interval 60min --yes), then import or resample it again';
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

test('a stale series whose source is removed stays stale, and a run on it is in doubt', async () => {
  const here = place();
  const hour: SeriesKey = { ...key, interval: '60min' };
  await here.minutes(...range(0, 1_439), ...range(1_440, 2_880));
  await here.make(key, '60min');
  await here.make(hour, '1day');
  await here.minutes(1_439);
  expect(removeSeries(here.dir, key).map((one) => seriesName(one))).toEqual([
    'klines BTCUSDT 60min',
    'klines BTCUSDT 1day',
  ]);
  const words =
    'stale: klines BTCUSDT 1min has changed, and its source was removed: remove it (sluice data remove BTCUSDT --interval 60min --yes), then import it or its source';
  expect(here.stale()[0]).toBe(words);
  const { warnings, doubts } = await here.run('60min');
  expect([warnings, doubts]).toEqual([
    expect.arrayContaining([`BTCUSDT 60min: ${words}`]),
    [`BTCUSDT 60min: ${words}`],
  ]);
  // Made anew of the same minutes, it holds again; with another minute it is stale by what is stored.
  await here.minutes(...range(0, 2_880));
  expect(here.stale()[1]).toContain('stale: klines BTCUSDT 1min has changed: resample again');
  await here.make(key, '60min');
  expect(here.stale().slice(0, 2)).toEqual([undefined, undefined]);
  removeSeries(here.dir, key);
  expect(here.stale()[0]).toBeUndefined();
  removeSeries(here.dir, hour);
  expect(here.stale()).toEqual([expect.stringContaining('(sluice data remove BTCUSDT --interval 1day --yes)')]);
});

test('klines that a hole of their source cuts into are counted, and a run on them says so', async () => {
  const here = place();
  await here.minutes(...range(0, 70), ...range(80, 90), ...range(95, 130), ...range(310, 360));
  const { imports } = await here.make(key, '60min');
  expect(imports[0]?.findings).toMatchObject([
    {
      check: 'partial',
      count: 3,
      what: '3 klines of 60min are made from too few rows',
      effect:
        'klines BTCUSDT 1min has gaps there: volumes are too small, highs and lows may be missing; 1 of them begins inside one, and orders at the open get the first price after it, up to 10 min later',
      places: [{ time: start + 3_600_000 }, { time: start + 7_200_000 }, { time: start + 18_000_000 }],
    },
  ]);
  expect((await here.run('60min')).warnings).toContainEqual(
    expect.stringMatching(
      /^BTCUSDT 60min: 3 klines of 60min are made from too few rows.*: klines BTCUSDT 1min has gaps/,
    ),
  );
});

test('klines that a run makes of others with holes are counted, too', async () => {
  const here = place();
  await here.minutes(...range(0, 70), ...range(130, 180));
  expect((await here.run('60min')).warnings).toEqual([
    expect.stringMatching(/^BTCUSDT 1min: 1 gap, 60 klines missing, longest 60 min /),
    'BTCUSDT 60min: 2 klines of 60min are made from too few rows: klines BTCUSDT 1min has gaps there: volumes are too small, highs and lows may be missing; 1 of them begins inside one, and orders at the open get the first price after it, up to 10 min later',
    `BTCUSDT: 60min made from 1min${hint}`,
  ]);
});

test('days, weeks and months of a place are whole where its clocks change', async () => {
  const here = place();
  const hour: SeriesKey = { ...key, interval: '60min' };
  // From 1 January to 3 November, without ten hours of 2 July.
  await here.hours(...range(0, 4_400), ...range(4_410, 7_370));
  const seen = async (interval: Interval): Promise<unknown> => {
    const made = await here.make(hour, interval, 'Europe/Berlin');
    const { findings } = await audit(here.dir, made, now);
    // The fixture repeats its days.
    const found = findings.filter(({ check }) => check !== 'stuck');
    return [ledgerOf(made).length, found, made.imports[0]?.findings.map(({ count }) => count)];
  };
  for (const interval of ['1day', '1week', '1month'] as const) expect(await seen(interval)).toEqual([0, [], [1]]);
});

test('a hole in the days of a place is reported with its days', async () => {
  const here = place();
  const hour: SeriesKey = { ...key, interval: '60min' };
  await here.hours(...range(0, 7_100), ...range(7_250, 7_370));
  const made = await here.make(hour, '1day', 'Europe/Berlin');
  const [gap, ...others] = ledgerOf(made);
  expect([gap?.from, gap?.to, others]).toEqual([Date.UTC(2024, 9, 22, 22), Date.UTC(2024, 9, 28, 23), []]);
  const { findings } = await audit(here.dir, made, now);
  expect(findings.map(({ what }) => what)).toContain('1 gap, 6 klines missing, longest 6 days');
  expect(findings.map(({ check }) => check)).not.toContain('off-grid');
});

test('klines that lie across the edges of larger ones make none of these', async () => {
  const here = place();
  await here.hours(...range(0, 800));
  const hour: SeriesKey = { ...key, interval: '60min' };
  const day: SeriesKey = { ...key, interval: '1day' };
  await here.make(hour, '1day', 'Europe/Berlin');
  await expect(here.make(day, '1week')).rejects.toThrow(
    'klines BTCUSDT 1day has zone Europe/Berlin: 1week in zone UTC begins inside its klines (2024-01-07T23:00:00Z): choose a smaller source (--interval) or the same zone (--zone)',
  );
  expect((await here.make(day, '1week', 'Europe/Berlin')).months[0]?.from).toBe(Date.UTC(2024, 0, 7, 23));
});

test('days of UTC are not put among those of a place', async () => {
  const here = place();
  await here.hours(...range(0, 800));
  await here.make({ ...key, interval: '60min' }, '1day', 'Europe/Berlin');
  await expect(here.days(40)).rejects.toThrow(
    "klines BTCUSDT 1day has days of Europe/Berlin, but the file's times are UTC: remove it first (sluice data remove BTCUSDT --interval 1day --yes)",
  );
});

test('days of a place give way to those of another only when removed, and a run that finds nothing else says whose they are', async () => {
  const here = place();
  await here.hours(...range(0, 96));
  const hours: SeriesKey = { ...key, interval: '60min' };
  const days = await here.make(hours, '1day', 'Europe/Berlin');
  await expect(here.make(hours, '1day')).rejects.toThrow(
    'klines BTCUSDT 1day exists with zone Europe/Berlin and would be replaced by a series with zone UTC: remove it first (sluice data remove BTCUSDT --interval 1day --yes), or use --zone Europe/Berlin',
  );
  await here.make(hours, '1day', 'Europe/Berlin');
  removeSeries(here.dir, here.series(hours));
  await expect(here.run('1day')).rejects.toThrow(
    /it has 1day of Europe\/Berlin, from which 1day cannot be made; runs use UTC days, not those of another zone \(resample --zone\)/,
  );
  removeSeries(here.dir, days);
  await here.hours(...range(0, 96));
  await here.make(hours, '1day');
  await expect(here.make(hours, '1day', 'Europe/Berlin')).rejects.toThrow(/exists with zone UTC/);
});
