/** Series of one market whose times do not fit each other are reported, at the import and at a check. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seededRng } from '../../clock/clock.ts';
import { type ImportOptions, type ImportResult, importFile } from '../import/import.ts';
import { audit } from './audit.ts';
import type { SeriesKey } from './kinds.ts';
import { readManifest } from './manifest.ts';
import { storedKlines } from './run-data.ts';

/** The time of the tests: behind all data. */
const now = Date.UTC(2026, 5, 1);

const start = Date.UTC(2024, 0, 10);
const minute = 60_000;
const rows = 3_000;
const draw = seededRng(5);
/** The market itself, minute by minute, and what two places make of it. */
let price = 100;
const market = Array.from({ length: rows }, () => (price *= 1 + (draw() - 0.5) / 500));
const header = 'time_ms,open,high,low,close,volume';
const klines = (lateMs = 0, noise = 0): string => {
  const lines = market.map((close, row) => {
    const shown = close * (1 + (draw() - 0.5) * noise);
    return [start + row * minute + lateMs, shown, shown, shown, shown, 1]
      .map((value) => (value > 1e6 ? value : value.toFixed(4)))
      .join(',');
  });
  return `${[header, ...lines].join('\n')}\n`;
};

function place() {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-compare-'));
  return {
    dir,
    take(symbol: string, source: string, content: string, options: Partial<ImportOptions> = {}): Promise<ImportResult> {
      writeFileSync(join(dir, 'x.csv'), content);
      const key = { kind: 'klines', symbol, interval: '1min' } as const;
      const given = {
        dir: join(dir, 'data'),
        ...key,
        source,
        endStamps: false,
        repair: new Set<never>(),
        replace: false,
        now,
      };
      return importFile(join(dir, 'x.csv'), { ...given, ...options });
    },
    async findings(symbol: string) {
      const key: SeriesKey = { kind: 'klines', symbol, interval: '1min' };
      const manifest = readManifest(join(dir, 'data'), key);
      return manifest === undefined ? [] : (await audit(join(dir, 'data'), manifest, now)).findings;
    },
  };
}
const slipIn = ({ findings }: Pick<ImportResult, 'findings'>) => findings.filter(({ check }) => check === 'slip');

describe('a series beside one of another place', () => {
  test.for<[string, number, RegExp]>([
    ['ends of klines', minute, /^shows each move 60 s later than klines BTCUSD 1min \(bitfinex\)/],
    ['the time of Tokyo', 9 * 60 * minute, /^shows each move 9 h later than klines BTCUSD 1min/],
    ['the time of New York', -5 * 60 * minute, /^shows each move 5 h earlier than klines BTCUSD 1min/],
  ])('that has %s is reported, with place, effect and what to do', async ([, lateMs, what]) => {
    const here = place();
    await here.take('BTCUSD', 'bitfinex', klines(0, 0.001));
    const result = await here.take('XBTUSD', 'bitmex', klines(lateMs, 0.001));
    const [slip] = slipIn(result);
    expect(slip).toMatchObject({
      refused: false,
      what: expect.stringMatching(what),
      effect: expect.stringContaining('may use prices too early'),
      advice: expect.stringContaining('--stamps close'),
      places: expect.arrayContaining([{ time: expect.any(Number) }]),
    });
    // Seen from the other side it is the other way round.
    expect(slipIn({ findings: await here.findings('BTCUSD') })[0]?.what).toMatch(
      lateMs > 0 ? /earlier than/ : /later than/,
    );
    // A run on it says so.
    const stored = await storedKlines(join(here.dir, 'data'), {
      symbol: 'XBTUSD',
      interval: '1min',
      pricePrecision: 4,
    });
    expect(stored.warnings.join()).toContain('than klines BTCUSD 1min');
  });

  test('and at the same times is left alone, and so is another market', async () => {
    const here = place();
    await here.take('BTCUSD', 'bitfinex', klines(0, 0.001));
    expect(slipIn(await here.take('BTCUSDT', 'binance', klines(0, 0.001)))).toEqual([]);
    expect(slipIn(await here.take('ETHUSD', 'bitmex', klines(minute)))).toEqual([]);
    expect(slipIn({ findings: await here.findings('BTCUSDT') })).toEqual([]);
  });

  test('that was stamped by ends and imported so is right', async () => {
    const here = place();
    await here.take('BTCUSD', 'bitfinex', klines());
    expect(slipIn(await here.take('XBTUSD', 'bitmex', klines(minute), { endStamps: true }))).toEqual([]);
  });

  test('is compared over larger klines, and with trades put together', async () => {
    const here = place();
    const trades = market.map((value, row) => `${start + row * minute + 59_000},${value.toFixed(4)},1,buy\n`).join('');
    await here.take('BTCUSDT', 'binance', `time_ms,price,qty,side\n${trades}`, { kind: 'trades' });
    expect(slipIn(await here.take('BTCUSD', 'bitfinex', klines(3 * 60 * minute)))).toMatchObject([
      { what: expect.stringMatching(/^shows each move 3 h later than trades BTCUSDT \(binance\)/) },
    ]);
    const quarters = klines(0)
      .split('\n')
      .filter((_, row) => row === 0 || row % 5 === 0);
    const five = quarters
      .map((line, row) => (row === 0 ? line : line.replace(/^\d+/, String(start + (row - 1) * 5 * minute))))
      .join('\n');
    expect(
      slipIn(await here.take('XBTUSD', 'bitmex', `${five}\n`, { interval: '5min' })).map(({ what }) => what),
    ).toEqual([expect.stringMatching(/^shows each move 3 h earlier than klines BTCUSD 1min/)]);
  });
});

test('rows that another market has as well are reported, at the import and whenever it is checked', async () => {
  const here = place();
  const content = klines();
  await here.take('BTCUSDT', 'a', content);
  const { findings } = await here.take('ETHUSDT', 'a', content);
  const expected = [
    {
      check: 'same-rows',
      what: '3,000 rows that also occur in klines BTCUSDT 1min',
      refused: false,
      places: [{ time: start }],
    },
  ];
  expect(findings).toMatchObject(expected);
  expect(await here.findings('ETHUSDT')).toMatchObject(expected);
  expect(await here.findings('BTCUSDT')).toMatchObject([{ what: '3,000 rows that also occur in klines ETHUSDT 1min' }]);
  expect((await here.take('SOLUSDT', 'a', klines(0, 0.001))).findings).toEqual([]);
});
