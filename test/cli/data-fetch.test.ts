/** `sluice data fetch` against the built-in exchange: pages, both ways, killed and gone on with, and what it cannot give. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ledgerOf } from '../../src/data/catalogue/gap-ledger.ts';
import { loadSeries } from '../../src/data/catalogue/load.ts';
import { type Manifest, readManifest } from '../../src/data/catalogue/manifest.ts';
import { instrument } from '../../src/domain/instrument.ts';
import { type MinuteColumns, type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { desk, klineLines, launcher } from '../kit/command.ts';
import { until } from '../kit/until.ts';

const start = Date.UTC(2024, 0, 10, 12);
const minute = 60_000;
const past = 2_000;
/** Minutes that count upwards, with three missing in the midst of the past. */
const holeAt = 700;
function minutes(): MinuteColumns {
  const rows = Array.from({ length: past + 600 }, (_, index) => index).filter(
    (row) => row < holeAt || row >= holeAt + 3,
  );
  const column = (value: (index: number) => number): Float64Array => Float64Array.from(rows, value);
  return {
    openTime: column((index) => start + (index - past) * minute),
    open: column((index) => 1_000 + index / 4),
    high: column((index) => 1_001 + index / 4),
    low: column((index) => 999 + index / 4),
    close: column((index) => 1_000.25 + index / 4),
    volume: column((index) => (index % 7) + 0.5),
  };
}

const at = desk();
afterAll(() => at.remove());
let targets: string[] = [];
let exchange: Simulator;
beforeEach(async () => {
  targets = [];
  exchange = await startSimulator({
    users: [],
    instruments: [
      instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 }),
    ],
    markets: [{ kind: 'klines', symbol: 'BTCUSDT', klines: minutes(), startIndex: past - 3 }],
    log: (entry) => {
      if (entry.kind === 'request' && entry.target.includes('/klines')) targets.push(entry.target);
    },
  });
  // Past the seconds in which the last minute is not final yet.
  exchange.advance(30_000);
});
afterEach(() => exchange.close());

const args = (dir: string, ...more: readonly string[]): readonly string[] => [
  ...['data', 'fetch', 'BTCUSDT', '--url', exchange.restUrl, '--data', dir],
  ...more,
];
const iso = (row: number): string => new Date(start + (row - past) * minute).toISOString();
const stored = (dir: string, kind: 'klines' | 'trades' = 'klines'): Manifest => {
  const key =
    kind === 'klines' ? ({ kind, symbol: 'BTCUSDT', interval: '1min' } as const) : { kind, symbol: 'BTCUSDT' };
  const found = readManifest(join(at.dir, dir), key);
  if (found === undefined) throw new Error('nothing was stored');
  return found;
};
const endTimes = (): string[] =>
  targets.map((target) => new URLSearchParams(target.split('?')[1]).get('endTime') ?? '');

describe('klines', () => {
  test('come by pages, closed ones only, with their holes, and are not asked for twice', async () => {
    const first = await at.sluice(args('a', '--interval', '1m', '--from', iso(100)));
    expect(first.code, first.err).toBe(0);
    expect(first.out).toMatch(/^klines BTCUSDT 1min \(127\.0\.0\.1\): 1,897 rows, .*: 1,897 rows new/);
    const table = await loadSeries(join(at.dir, 'a'), stored('a'));
    expect(table.columns[0]?.at(0)).toBe(start + (100 - past) * minute);
    // The one that runs is not stored.
    expect(table.columns[0]?.at(-1)).toBe(start - minute);
    expect([...table.columns.map((column) => column[0])].slice(1)).toEqual([1_025, 1_026, 1_024, 1_025.25, 2.5]);
    expect(ledgerOf(stored('a'))).toMatchObject([
      { from: start + (holeAt - past) * minute, to: start + (holeAt + 3 - past) * minute },
    ]);
    const asked = targets.length;
    expect(asked).toBe(7);
    const again = await at.sluice(args('a', '--interval', '1m', '--from', iso(100), '--to', iso(past)));
    expect(again.out).toBe('klines BTCUSDT 1min: everything is stored already; the exchange was not queried\n');
    expect(targets).toHaveLength(asked);
    const more = await at.sluice(args('a', '--interval', '1m', '--from', iso(90), '--to', iso(past)));
    expect(more.out).toContain('10 rows new');
    expect(targets).toHaveLength(asked + 1);
    // What is taken away is asked for anew.
    await at.sluice(['data', 'remove', '--data', 'a', '--all', '--yes']);
    const anew = await at.sluice(args('a', '--interval', '1m', '--from', iso(past - 50), '--to', iso(past)));
    expect(anew.out).toContain('50 rows new');
  });

  test('a run that was killed is gone on with: no page is asked for twice, and none is missing', async () => {
    exchange.addFault({ match: { path: '/sapi/v1/klines', nth: 4 }, do: { hold: 'fourth', when: 'before' } });
    const held = exchange.held('fourth');
    const child = spawn(process.execPath, [launcher, ...args('b', '--interval', '1min', '--from', iso(0))], {
      cwd: at.dir,
      env: { PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') },
      stdio: 'ignore',
    });
    const ended = new Promise<unknown>((resolve) => child.once('close', (_, signal) => resolve(signal)));
    await held;
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    expect(readManifest(join(at.dir, 'b'), { kind: 'klines', symbol: 'BTCUSDT', interval: '1min' })).toBeUndefined();
    exchange.release('fourth');
    // The exchange is done with it only then.
    await until('the fourth request', () => targets.length === 4);
    const answered = endTimes().slice(0, 3);
    targets = [];
    const second = await at.sluice(args('b', '--interval', '1min', '--from', iso(0), '--to', iso(past)));
    expect(second.code, second.err).toBe(0);
    expect(endTimes().filter((time) => answered.includes(time))).toEqual([]);
    expect(new Set(endTimes()).size).toBe(targets.length);
    expect(stored('b').months.reduce((sum, { rows }) => sum + rows, 0)).toBe(past - 3);
    expect(ledgerOf(stored('b'))).toHaveLength(1);
  });

  test('go on over the socket where REST shows no past, and where that ends it is said', async () => {
    exchange.addFault({ match: { path: '/sapi/v1/klines' }, do: { status: 200, body: '[]' } });
    const { code, out, err } = await at.sluice(
      args('c', '--interval', '1min', '--from', '2024-01-01', '--to', iso(past), '--json'),
    );
    expect(code, err).toBe(0);
    const [imported, note] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(imported).toMatchObject({ rows: past - 3, source: '127.0.0.1' });
    expect(note).toEqual({
      series: 'klines BTCUSDT 1min',
      note: expect.stringMatching(
        /^the exchange has no klines of BTCUSDT 1min before 2024-01-09T02:40Z \(REST gives none; /,
      ),
    });
    expect(targets).toHaveLength(1);
  });

  test('that the exchange fails to give are asked for again, and then what is there is kept', async () => {
    exchange.addFault({ match: { path: '/sapi/v1/klines', nth: 2 }, do: { status: 503 } });
    const { code, out, err } = await at.sluice(args('d', '--interval', '1min', '--from', iso(past - 500)));
    expect(code, err).toBe(0);
    expect(err).toMatch(/retrying in 1 s/);
    expect(out).toContain('500 rows new');
  });
});

test('a market that jumped is stored as it was, and told of', async () => {
  await exchange.close();
  const klines = minutes();
  const jump = (column: ArrayLike<number>): Float64Array =>
    Float64Array.from(column, (price, row) => (row < past - 23 ? price : 5 * price));
  const { open, high, low, close } = klines;
  const jumped = { ...klines, open: jump(open), high: jump(high), low: jump(low), close: jump(close) };
  exchange = await startSimulator({
    users: [],
    instruments: [
      instrument({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 4 }),
    ],
    markets: [{ kind: 'klines', symbol: 'BTCUSDT', klines: jumped, startIndex: past - 3 }],
  });
  exchange.advance(30_000);
  const { code, out, err } = await at.sluice(args('j', '--interval', '1min', '--from', iso(past - 40)));
  expect(code, err).toBe(0);
  expect(out).toMatch(/40 rows new.*\n.*1 jump to more than 3 times/);
});

describe('trades', () => {
  test('are the newest that it shows, which is said; what lies between two fetches is a hole', async () => {
    const first = await at.sluice(args('t', '--kind', 'trades', '--from', '2024-01-01'));
    expect(first.code, first.err).toBe(0);
    expect(first.out).toMatch(/trades BTCUSDT .* rows? new/);
    expect(first.out).toMatch(/only its newest [\d,]+ trades?, from .* on\. To keep later ones, run sluice record/);
    const before = stored('t', 'trades');
    exchange.advance(90 * minute);
    await at.sluice(args('t', '--kind', 'trades'));
    const after = stored('t', 'trades');
    expect(after.months[0]?.rows).toBeGreaterThan(before.months[0]?.rows ?? 0);
    expect(after.holes).toHaveLength(1);
    expect(ledgerOf(after).some(({ channel }) => channel === 'trades')).toBe(true);
    expect((await at.sluice(['data', 'check', '--data', 't'])).out).toContain('gap');
  });
});

test.for<[string, readonly string[], RegExp]>([
  ['without an interval', ['--from', '2024-01-01'], /the interval is missing/],
  ['without a beginning', ['--interval', '1min'], /the start time is missing/],
  ['of the future', ['--interval', '1min', '--from', '2099-01-01'], /no kline of 1min is closed between/],
  ['of trades with an interval', ['--kind', 'trades', '--interval', '1min'], /trades have no interval/],
])('a fetch %s is refused', async ([, more, message]) => {
  const { code, err } = await at.sluice(args('x', ...more));
  expect(code).toBe(2);
  expect(err).toMatch(message);
});

test('a series of another source is not mixed with, unless it is said to be the same', async () => {
  at.write('BTCUSDT_1m.csv', `${klineLines(5).join('\n')}\n`);
  await at.sluice(['data', 'import', 'BTCUSDT_1m.csv', '--data', 's', '--source', 'binance']);
  const given = args('s', '--interval', '1min', '--from', iso(past - 10));
  const { code, err } = await at.sluice(given);
  expect(code).toBe(2);
  expect(err).toContain('klines BTCUSDT 1min has data from binance, and this is 127.0.0.1');
  expect(targets).toEqual([]);
  expect((await at.sluice([...given, '--source', 'binance'])).out).toContain('10 rows new');
});

test('a symbol that the exchange does not list is refused, before anything is asked about it', async () => {
  const { code, err } = await at.sluice(args('x', '--interval', '1min', '--from', '2024-01-01').with(2, 'NOPEUSDT'));
  expect(code).toBe(2);
  expect(err).toContain('lists no symbol NOPEUSDT');
  expect(targets).toEqual([]);
});
