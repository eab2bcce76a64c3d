/** Files of local times over a change of the clocks, and two klines of one time elsewhere. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Interval } from '../../domain/interval.ts';
import { loadSeries } from '../catalogue/load.ts';
import { readManifest } from '../catalogue/manifest.ts';
import { storedKlines } from '../catalogue/run-data.ts';
import type { Repair } from '../check/finding.ts';
import { offsetAt } from '../time-zones.ts';
import { importFile } from './import.ts';

const hour = 3_600_000;
const lengths = { '60min': hour, '30min': hour / 2, '1min': hour / 60 } as const;

/** Rows of 12 hours around a moment (UTC ms), with the times that clocks show there. */
function localRows(interval: keyof typeof lengths, middle: number, zone = 'Europe/Berlin'): string[] {
  return Array.from({ length: (12 * hour) / lengths[interval] }, (_, row) => {
    const time = middle - 6 * hour + row * lengths[interval];
    const shown = new Date(time + offsetAt(zone, time)).toISOString().slice(0, 19).replace('T', ' ');
    return `${shown},100,102,99,${100 + (row % 7) / 10},${1 + (row % 5)}`;
  });
}

function place(interval: Interval) {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-clocks-'));
  return {
    take(rows: readonly string[], more: { zone?: string; repair?: ReadonlySet<Repair> } = {}) {
      writeFileSync(join(dir, 'x.csv'), `time,open,high,low,close,volume\n${rows.join('\n')}\n`);
      const key = { symbol: 'BTCUSDT', interval, source: 'x', dir: join(dir, 'data') };
      const asked = { endStamps: false, repair: new Set<Repair>(), replace: false, now: Date.UTC(2026, 5, 1) };
      return importFile(join(dir, 'x.csv'), { ...key, ...asked, ...more });
    },
    stored: () => storedKlines(join(dir, 'data'), { symbol: 'BTCUSDT', interval, pricePrecision: 2 }),
  };
}

const [spring, autumn] = [Date.UTC(2024, 2, 31, 1), Date.UTC(2024, 9, 27, 1)];

test.for<[keyof typeof lengths, 'oldest' | 'newest', number]>([
  ['60min', 'oldest', 1],
  ['60min', 'newest', 1],
  ['30min', 'oldest', 2],
  ['1min', 'oldest', 60],
  ['1min', 'newest', 60],
])('the hour that clocks show twice is both hours of %s klines, the %s first', async ([interval, first, moved]) => {
  const here = place(interval);
  const rows = localRows(interval, autumn);
  const { findings } = await here.take(first === 'oldest' ? rows : rows.toReversed(), { zone: 'Europe/Berlin' });
  const { columns, gaps } = await here.stored();
  expect([columns.openTime[0], columns.openTime.length, gaps]).toEqual([autumn - 6 * hour, rows.length, []]);
  expect([...columns.close].slice(0, 9)).toEqual(rows.slice(0, 9).map((row) => Number(row.split(',')[4])));
  const { what } = findings.find((one) => one.what.includes('twice')) ?? {};
  expect(what).toBe(`${moved} ${moved === 1 ? 'row' : 'rows'} in hours that occur twice in Europe/Berlin`);
});

/** Trades `everyMs` around a moment (UTC ms), with the times that clocks of Berlin show there. */
const localTrades = (middle: number, everyMs: number): string =>
  Array.from({ length: Math.ceil((6 * hour) / everyMs) }, (_, row) => {
    const time = middle - 3 * hour + row * everyMs;
    const shown = new Date(time + offsetAt('Europe/Berlin', time)).toISOString().slice(0, 23).replace('T', ' ');
    return `${shown},${100 + (row % 7) / 10},1,${row % 2 === 0 ? 'buy' : 'sell'}\n`;
  }).join('');

test.for([1_000, 7_321, 25 * 60_000])('trades of both hours, one every %s ms, are as they were', async (everyMs) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-clocks-'));
  const path = join(dir, 'trades.csv');
  writeFileSync(path, `time,price,qty,side\n${localTrades(autumn, everyMs)}`);
  const given = { symbol: 'BTCUSDT', dir, endStamps: false, repair: new Set<Repair>(), replace: false };
  const { findings } = await importFile(path, { ...given, zone: 'Europe/Berlin', now: Date.UTC(2026, 5, 1) });
  expect(findings.map(({ what }) => what)).toEqual([expect.stringMatching(/^[\d,]+ rows? in hours that .*$/)]);
  const key = { kind: 'trades', symbol: 'BTCUSDT' } as const;
  const manifest = readManifest(dir, key);
  const [times] = manifest === undefined ? [] : (await loadSeries(dir, manifest)).columns;
  expect([...(times ?? [])]).toEqual(Array.from(times ?? [], (_, row) => autumn - 3 * hour + row * everyMs));
});

test('without a place, trades of an hour that clocks show twice are refused with the way forward, sorted or not', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-clocks-'));
  writeFileSync(join(dir, 'trades.csv'), `time,price,qty,side\n${localTrades(autumn, 10_000)}`);
  const given = { symbol: 'BTCUSDT', dir, endStamps: false, replace: false, now: Date.UTC(2026, 5, 1) };
  for (const repair of [new Set<Repair>(), new Set<Repair>(['sort'])])
    await expect(importFile(join(dir, 'trades.csv'), { ...given, repair })).rejects.toThrow(
      /times go back by an hour 1 time, as clocks in Europe\/Berlin do in autumn: .*--zone Europe\/Berlin/,
    );
});

test('trades of the second hour that are out of order are sorted within it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-clocks-'));
  const rows = localTrades(autumn, 60_000).trimEnd().split('\n');
  const swapped = rows.with(200, rows[201] ?? '').with(201, rows[200] ?? '');
  writeFileSync(join(dir, 'trades.csv'), `time,price,qty,side\n${swapped.join('\n')}\n`);
  const given = { symbol: 'BTCUSDT', dir, endStamps: false, replace: false, now: Date.UTC(2026, 5, 1) };
  const repair = new Set<Repair>(['sort']);
  const result = await importFile(join(dir, 'trades.csv'), { ...given, zone: 'Europe/Berlin', repair });
  expect(result.repaired).toEqual([{ repair: 'sort', rows: 1, first: { time: autumn + 21 * 60_000 } }]);
});

test('rows of one of the two hours alone are taken for the first, with a warning', async () => {
  const rows = localRows('1min', autumn);
  const { findings } = await place('1min').take([...rows.slice(0, 300), ...rows.slice(360)], { zone: 'Europe/Berlin' });
  expect(findings.find(({ check }) => check === 'zone')).toMatchObject({
    what: expect.stringMatching(/^rows of 1 hour .*, and the order of the rows does not distinguish them$/),
    refused: false,
    places: [{ time: autumn - hour }],
  });
});

test('rows in that hour that are repeated, or in disorder, are not taken for the second', async () => {
  const hours = localRows('60min', autumn);
  const at = hours.findIndex((row, index) => row.slice(0, 19) === hours[index + 1]?.slice(0, 19));
  const repeated = hours.with(at + 1, hours[at] ?? '');
  await expect(place('60min').take(repeated, { zone: 'Europe/Berlin' })).rejects.toThrow(/1 row of the same time/);
  const minutes = localRows('1min', autumn);
  const swapped = minutes.with(305, minutes[306] ?? '').with(306, minutes[305] ?? '');
  await expect(place('1min').take(swapped, { zone: 'Europe/Berlin' })).rejects.toThrow(/1 row earlier/);
});

test('without a place, hours that clocks show twice are refused with the way forward', async () => {
  await expect(place('60min').take(localRows('60min', autumn))).rejects.toThrow(
    /1 row of the same time as the row before, with other values \(line 8, .*in Europe\/Berlin this hour occurs twice in autumn: .*--zone Europe\/Berlin\), or export them in UTC/,
  );
});

test('a gap where clocks leave out an hour is reported, also by a run, and a file of a place has none', async () => {
  const here = place('60min');
  const { findings } = await here.take(localRows('60min', spring));
  expect(findings.map(({ check }) => check)).toEqual(['assumed', 'gaps', 'zone']);
  expect(findings.at(-1)?.what).toMatch(/^1 gap is an hour that clocks in Europe\/Berlin skip in spring: .*local/);
  expect((await here.stored()).warnings.join()).toMatch(/skip in spring: these look like local times/);
  const american = await place('30min').take(localRows('30min', Date.UTC(2024, 2, 10, 7), 'America/New_York'));
  expect(american.findings.at(-1)?.advice).toMatch(/--zone America\/New_York/);
  const zoned = await place('60min').take(localRows('60min', spring), { zone: 'Europe/Berlin' });
  expect(zoned.findings).toEqual([]);
});

test('a gap of an hour elsewhere, or of more, is no local time', async () => {
  const rows = localRows('60min', Date.UTC(2024, 5, 1));
  const { findings } = await place('60min').take(rows.toSpliced(5, 1));
  expect(findings.map(({ check }) => check)).toEqual(['assumed', 'gaps']);
  const longer = await place('60min').take(localRows('60min', spring).toSpliced(6, 1));
  expect(longer.findings.map(({ check }) => check)).toEqual(['assumed', 'gaps']);
});

test('two different klines of one time: no repair is named, since none chooses between them', async () => {
  const rows = localRows('60min', Date.UTC(2024, 5, 1));
  const twice = rows.toSpliced(5, 0, (rows[5] ?? '').replace(',102,', ',103,'));
  const expected =
    /1 row of the same time as the row before, with other values \((line 8, )?2024-06-01T01:00:00Z: high 102, in the row before it 103\): nothing shows which one is correct; remove the wrong line from the file; no repair chooses/;
  await expect(place('60min').take(twice)).rejects.toThrow(expected);
  await expect(place('60min').take(twice, { repair: new Set<Repair>(['duplicates']) })).rejects.toThrow(expected);
});

test.for(['60min', '1min'] as const)(
  '%s klines at times that the clocks of a place never show are not of there',
  async (interval) => {
    const expected =
      /rows of 1 hour that clocks in Europe\/Berlin skip in spring \(2024-03-31T01:00:00Z\): they are not local times of that zone; leave out --zone/;
    const utc = localRows(interval, spring + hour, 'UTC');
    await expect(place(interval).take(utc, { zone: 'Europe/Berlin' })).rejects.toThrow(expected);
    await expect(place(interval).take(utc.toReversed(), { zone: 'Europe/Berlin' })).rejects.toThrow(expected);
  },
);
