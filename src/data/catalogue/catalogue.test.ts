import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ImportOptions, type ImportResult, importFile } from '../import/import.ts';
import { audit } from './audit.ts';
import { ledgerOf } from './gap-ledger.ts';
import type { SeriesKey } from './kinds.ts';
import { loadSeries } from './load.ts';
import { takeLock } from './lock.ts';
import { folderOf, type Manifest, readAgain, readManifest } from './manifest.ts';
import { exportSeries, query } from './query.ts';
import { storedKlines } from './run-data.ts';
import { removeSeries, storeResampled } from './store.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const header = 'time_ms,open,high,low,close,volume';
const start = Date.UTC(2024, 0, 31, 23, 30);
const line = (minute: number, volume = minute + 1): string =>
  `${start + minute * 60_000},${100 + minute},${103 + minute},${99 + minute},${101 + minute}.5,${volume}`;
const csv = (...minutes: readonly number[]): string =>
  `${[header, ...minutes.map((minute) => line(minute))].join('\n')}\n`;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
const key: SeriesKey = { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' };

interface Place {
  readonly dir: string;
  take(content: string, options?: Partial<ImportOptions>, name?: string): Promise<ImportResult>;
  manifest(): Manifest;
  volumes(): Promise<number[]>;
}

function place(name = 'data'): Place {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-catalogue-'));
  const catalogue = join(dir, name);
  const manifest = (): Manifest => {
    const found = readManifest(catalogue, key);
    if (found === undefined) throw new Error('there is no series');
    return found;
  };
  return {
    dir: catalogue,
    manifest,
    take(content, options = {}, name = 'BTCUSDT_1m.csv') {
      writeFileSync(join(dir, name), content);
      const given = { dir: catalogue, endStamps: false, repair: new Set<never>(), replace: false, now };
      return importFile(join(dir, name), { ...given, ...options });
    },
    volumes: async () => [...((await loadSeries(catalogue, manifest())).columns[5] ?? [])],
  };
}

describe('a series', () => {
  test('of which no row is left is not stored', async () => {
    const here = place();
    const nothing = `${header}\n${start},0,0,0,0,1\n`;
    await expect(here.take(nothing, { repair: new Set(['impossible'] as const) })).rejects.toThrow(
      'no row is left after the repairs',
    );
    const unread = `${header}\n${start},1,1,1,1,none\n`;
    await expect(here.take(unread, { ...key, repair: new Set(['unreadable'] as const) })).rejects.toThrow(
      'no row is left',
    );
    expect(readManifest(here.dir, key)).toBeUndefined();
  });

  test('is read where its cache is gone and cannot be made', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    rmSync(join(here.dir, 'cache'), { recursive: true });
    // As of another user, or on a full disk.
    writeFileSync(join(here.dir, 'cache'), '');
    expect(await here.volumes()).toHaveLength(60);
  });

  test('is cut into months, and says where it comes from', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    const { months, imports, priceDecimals, source } = here.manifest();
    expect(months.map(({ month, rows }) => [month, rows])).toEqual([
      ['2024-01', 30],
      ['2024-02', 30],
    ]);
    expect(imports).toMatchObject([{ at: now, rows: 60, files: [{ name: 'BTCUSDT_1m.csv' }] }]);
    expect([priceDecimals, source]).toEqual([1, 'unknown']);
    expect(await here.volumes()).toEqual(range(1, 61));
  });

  test('grows by what is new, before, after and inside', async () => {
    const here = place();
    await here.take(csv(...range(20, 25)));
    expect(await here.take(csv(...range(10, 40).filter((minute) => minute !== 22)))).toMatchObject({
      added: 25,
      known: 4,
    });
    await here.take(csv(5));
    expect(await here.volumes()).toEqual([6, ...range(11, 41)]);
    expect(ledgerOf(here.manifest()).map(({ from, to }) => [(from - start) / 60_000, (to - start) / 60_000])).toEqual([
      [6, 10],
    ]);
  });

  test('reports holes between months', async () => {
    const here = place();
    await here.take(csv(0, 40));
    expect(ledgerOf(here.manifest())).toMatchObject([
      { from: start + 60_000, to: start + 40 * 60_000, channel: 'klines' },
    ]);
  });

  test('gives nothing up to rows that say something else, unless asked', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    const files = () => new Set(readdirSync(here.dir, { recursive: true, encoding: 'utf8' }));
    const before = files();
    const other = `${header}\n${line(40, 999)}\n`;
    await expect(here.take(other)).rejects.toThrow(
      /1 stored row \(the first of 2024-02-01T00:10:00.000Z\) would be replaced.*--replace/,
    );
    expect(files()).toEqual(before);
    expect(await here.take(other, { replace: true })).toMatchObject({ added: 0, replaced: 1 });
    expect((await here.volumes())[40]).toBe(999);
  });

  test('takes no rows of another source', async () => {
    const here = place();
    await here.take(csv(0, 1), { source: 'binance' });
    await expect(here.take(csv(2), {}, 'kraken_BTCUSDT_1m.csv')).rejects.toThrow(
      /comes from kraken, and klines BTCUSDT 1min has data from binance/,
    );
  });

  test('is as it was after a file with faults, all of which are reported', async () => {
    const here = place();
    const bad = `${csv(0, 1)}${line(2).replace('103', '1x')}\n${line(1)}\n5,6\n`;
    await expect(here.take(bad)).rejects.toThrow(
      /not imported, because of these faults in its 3 rows:\n {2}- 2 lines that cannot be read \(first line 4: .*\n {2}- 1 row of the same time/,
    );
    expect(readManifest(here.dir, key)).toBeUndefined();
    expect(readdirSync(here.dir, { recursive: true }).filter((name) => /parquet|columns/.test(String(name)))).toEqual(
      [],
    );
  });

  test('says which repairs were made', async () => {
    const here = place();
    const messy = `${header}\n${[2, 0, 1, 1, 3].map((minute) => line(minute)).join('\n')}\noops\n${line(9).replace('109', '-1')}\n`;
    const result = await here.take(messy, {
      repair: new Set(['sort', 'duplicates', 'unreadable', 'impossible'] as const),
    });
    expect(result.repaired).toMatchObject([
      { repair: 'unreadable', rows: 1, first: { line: 7 } },
      { repair: 'impossible', rows: 1 },
      { repair: 'sort', rows: 1 },
      { repair: 'duplicates', rows: 1 },
    ]);
    expect(await here.volumes()).toEqual([1, 2, 3, 4]);
    const { warnings } = await storedKlines(here.dir, { symbol: 'BTCUSDT', interval: '1min', pricePrecision: 2 });
    expect(warnings).toContain('BTCUSDT 1min: repaired (sort): 1 row');
  });
});

describe('what is stored', () => {
  test('is the same bytes after an export and an import of it', async () => {
    const [here, there] = [place(), place()];
    await here.take(csv(...range(0, 60)));
    const to = join(here.dir, 'out.parquet');
    expect(await exportSeries(here.dir, here.manifest(), to, {})).toBe(60);
    await importFile(to, {
      ...key,
      dir: there.dir,
      endStamps: false,
      repair: new Set(),
      replace: false,
      now,
      source: 'x',
    });
    expect(there.manifest().months).toEqual(here.manifest().months);
    await exportSeries(here.dir, here.manifest(), join(here.dir, 'out.csv'), {
      from: start + 60_000,
      to: start + 180_000,
    });
    expect(readFileSync(join(here.dir, 'out.csv'), 'utf8')).toMatch(
      /^time_ms,open,high,low,close,volume\n\d+,101.0,104.0,100.0,102.5,2.0\n\d+,.*\n$/,
    );
  });

  test('is read from Parquet when its columns are lost or damaged', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    const cache = join(here.dir, 'cache');
    const files = readdirSync(cache);
    rmSync(join(cache, files[0] ?? ''));
    truncateSync(join(cache, files[1] ?? ''), 100);
    expect(await here.volumes()).toEqual(range(1, 61));
    expect(readdirSync(cache).toSorted()).toEqual(files.toSorted());
    // A bit that a disk or memory turned, of a volume and not of the header.
    const path = join(cache, files[0] ?? '');
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 200) ^ 4, bytes.length - 200);
    writeFileSync(path, bytes);
    expect(await here.volumes()).toEqual(range(1, 61));
  });

  test('is known to be what was written, or not', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    expect((await audit(here.dir, here.manifest(), now)).damage).toEqual([]);
    const file = join(folderOf(here.dir, key), here.manifest().months[0]?.file ?? '');
    const bytes = readFileSync(file);
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect((await audit(here.dir, here.manifest(), now)).damage).toEqual([
      `${file} differs from its hash: restore it from a copy, or remove the series and import its rows again`,
    ]);
    truncateSync(file, 10);
    await expect(here.volumes()).rejects.toThrow(/has 10 bytes instead of \d+:/);
  });

  test('is not answered from, exported, resampled or cached once a file of it is damaged', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    const sql = "SELECT sum(volume) FROM Klines WHERE symbol = 'BTCUSDT'";
    await query(here.dir, sql);
    const file = join(folderOf(here.dir, key), here.manifest().months[0]?.file ?? '');
    const bytes = readFileSync(file);
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    const against =
      /differs from its hash: restore the file from a copy, or remove the series \(sluice data remove BTCUSDT/;
    const to = join(here.dir, 'out.csv');
    await expect(query(here.dir, sql)).rejects.toThrow(against);
    await expect(exportSeries(here.dir, here.manifest(), to, {})).rejects.toThrow(against);
    await expect(storeResampled(here.dir, here.manifest(), { interval: '15min', zone: 'UTC', now })).rejects.toThrow(
      against,
    );
    expect((await query(here.dir, 'SELECT count(*) AS n FROM trades')).rows).toEqual([['0']]);
    // The columns were made while the file was whole, and are used without it; they are not made anew of what is damaged.
    expect(await here.volumes()).toEqual(range(1, 61));
    rmSync(join(here.dir, 'cache'), { recursive: true });
    await expect(here.volumes()).rejects.toThrow(against);
    expect(existsSync(join(here.dir, 'cache'))).toBe(false);
    removeSeries(here.dir, here.manifest());
    await here.take(csv(...range(0, 60)));
    expect((await query(here.dir, sql)).rows).toEqual([[1830]]);
  });

  test('answers of a folder whose name would be a pattern', async () => {
    const here = place('[a]');
    await here.take(csv(...range(0, 60)));
    expect((await query(here.dir, 'SELECT count(*) FROM klines')).rows).toEqual([['60']]);
    expect(await exportSeries(here.dir, here.manifest(), join(here.dir, 'out.csv'), {})).toBe(60);
  });

  test('answers SELECT and nothing else', async () => {
    const here = place();
    await here.take(csv(...range(0, 60)));
    const sql = 'SELECT symbol, interval, count(*) AS n, max(close) AS top FROM klines GROUP BY ALL';
    expect(await query(here.dir, sql)).toEqual({
      columns: ['symbol', 'interval', 'n', 'top'],
      rows: [['BTCUSDT', '1min', '60', 160.5]],
      cut: false,
    });
    await expect(query(here.dir, 'DROP VIEW klines')).rejects.toThrow(/only SELECT is allowed/);
    await expect(query(here.dir, 'SELECT 1; SELECT 2')).rejects.toThrow(/one SELECT at a time/);
    await expect(query(here.dir, 'SELECT prize FROM klines')).rejects.toThrow(/query failed: .*prize/s);
    await expect(query(here.dir, "SELECT * FROM read_csv('/etc/passwd')")).rejects.toThrow(/query failed/);
    for (const kind of ['trades', 'depth'])
      expect((await query(here.dir, `SELECT * FROM ${kind} WHERE side = 'x' AND time > '2024-01-01'`)).rows).toEqual(
        [],
      );
    expect((await query(join(here.dir, 'none'), "SELECT * FROM klines WHERE interval = '1min'")).rows).toEqual([]);
  });
});

describe('klines for a run', () => {
  test('are made from smaller ones where only those are stored, and it is said', async () => {
    const here = place();
    await here.take(csv(...range(0, 95)));
    const found = await storedKlines(here.dir, { symbol: 'BTCUSDT', interval: '15min', pricePrecision: 2 });
    expect(found.columns.volume.length).toBe(6);
    expect(found.columns.volume[0]).toBe(range(1, 16).reduce((sum, volume) => sum + volume));
    expect(found.warnings).toEqual([
      'BTCUSDT: 15min made from 1min: orders fill by these; to fill by 1min klines, set dataIntervals: { BTCUSDT: 1min }',
    ]);
  });

  test('that are not stored are refused with what is', async () => {
    const here = place();
    const asked = { symbol: 'BTCUSDT', interval: '1min', pricePrecision: 2 } as const;
    await expect(storedKlines(here.dir, asked)).rejects.toThrow(
      /BTCUSDT 1min is not in the catalogue .*: it has no klines; import it/,
    );
    await here.take(csv(0, 1));
    await expect(storedKlines(here.dir, { ...asked, symbol: 'ETHUSDT' })).rejects.toThrow(/it holds BTCUSDT/);
    await expect(storedKlines(here.dir, { ...asked, pricePrecision: 0 })).rejects.toThrow(
      /up to 1 decimals, the instrument 0/,
    );
    await here
      .take(
        csv(0, 1).replaceAll(/^\d+/gm, (time) => String(Number(time) - 30 * 60_000)),
        { interval: '60min' },
      )
      .catch(() => {});
  });

  test('of a zone are kept for looking at, not for runs', async () => {
    const here = place();
    await here.take(csv(...range(0, 4_000)));
    const made = await storeResampled(here.dir, here.manifest(), { interval: '1day', zone: 'Europe/Berlin', now });
    expect(made).toMatchObject({
      zone: 'Europe/Berlin',
      imports: [{ layout: 'resampled from klines BTCUSDT 1min', files: [{ sha256: expect.any(String) }] }],
    });
    expect(made.months[0]?.from).toBe(Date.UTC(2024, 1, 1, 23));
    const { warnings } = await storedKlines(here.dir, { symbol: 'BTCUSDT', interval: '1day', pricePrecision: 2 });
    expect(warnings).toEqual([expect.stringMatching(/^BTCUSDT: 1day made from 1min: orders/)]);
    removeSeries(here.dir, made);
    expect(readManifest(here.dir, { ...key, interval: '1day' })).toBeUndefined();
  });
});

test('a catalogue that another process writes to is refused', async () => {
  const here = place();
  await here.take(csv(0, 1));
  const unlock = takeLock(join(here.dir, 'lock'), here.dir);
  await expect(here.take(csv(2))).rejects.toThrow(/is in use by process \d+/);
  unlock();
  // A process that is gone holds nothing, though another one has its number.
  writeFileSync(join(here.dir, 'lock'), String(process.ppid));
  expect((await here.take(csv(2))).added).toBe(1);
});

test('what an import replaced while it was read is read again, as it is now', async () => {
  const here = place();
  await here.take(csv(...range(0, 60)));
  const held = here.manifest();
  await here.take(csv(...range(60, 90)));
  await expect(loadSeries(here.dir, held)).rejects.toThrow(/is missing/);
  const turns: number[] = [];
  const read = async (): Promise<number> => {
    const manifest = here.manifest();
    if (turns.push(1) === 1) await here.take(csv(...range(90, 100)));
    return (await loadSeries(here.dir, manifest)).rows;
  };
  expect(await readAgain(here.dir, read)).toBe(100);
  expect(turns).toHaveLength(2);
  const hurt = async (): Promise<string> => {
    if (turns.push(1) > 3) return 'whole';
    await here.take(csv(100));
    return 'hurt';
  };
  expect(await readAgain(here.dir, hurt, (text) => text === 'hurt')).toBe('whole');
  // Where nothing changed it is damage.
  await expect(readAgain(here.dir, () => loadSeries(here.dir, held))).rejects.toThrow(/is missing/);
  expect(
    await readAgain(
      here.dir,
      async () => 'hurt',
      () => true,
    ),
  ).toBe('hurt');
});

test('rows are not put into a month whose file is gone, and it is said what helps', async () => {
  const here = place();
  await here.take(csv(0, 1));
  rmSync(join(here.dir, 'klines', 'BTCUSDT', '1min', here.manifest().months[0]?.file ?? ''));
  await expect(here.volumes()).rejects.toThrow(
    /\.parquet is missing: restore the file from a copy, or remove the series \(sluice data remove BTCUSDT --kind klines --interval 1min --yes\) and import its rows again$/,
  );
});
