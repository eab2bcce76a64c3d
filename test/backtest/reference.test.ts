/** Column loop, live graph and the slow reference give the same decisions, orders and fills, row by row. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadKlines } from '../../src/data/klines.ts';
import { intervalMs } from '../../src/domain/interval.ts';
import { Decimal, rate } from '../../src/domain/money.ts';
import { defineStrategy, type Strategy } from '../../src/strategy/contract.ts';
import { hold } from '../../src/strategy/signals.ts';
import grid from '../../strategies/grid/index.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { fc } from '../kit/properties.ts';
import { runByKlines, runNow } from '../kit/run-now.ts';
import { drifting, generated, oftenShort, shared } from '../reference/generated.ts';
import type { Signal } from '../reference/types.ts';
import {
  byColumns,
  byReference,
  byStream,
  type Case,
  caseOfXz,
  columnsOf,
  cut,
  inputOf,
  joined,
  type Rows,
  rowsOf,
  rowsOfEach,
  runStreams,
  scripted,
  xz,
} from './agreement.ts';

interface Recording {
  readonly symbol: string;
  readonly interval: '1min' | '15min';
  readonly file: string;
  readonly instrument: Case['instrument'];
  /** Rows of the file that a test runs over: the most that keeps it quick. */
  readonly rows: readonly [number, number];
  readonly minFills: number;
}

const recordings: readonly Recording[] = [
  {
    symbol: 'XBTUSD',
    interval: '1min',
    file: 'XBTUSD-1m-2020-02_2020-04.csv.gz',
    instrument: shape('XBT', 'USD', 5, '0.0001', '1'),
    // Three weeks around the crash of 12 March 2020.
    rows: [46_000, 76_240],
    minFills: 700,
  },
  {
    symbol: 'BTCUSDT',
    interval: '15min',
    file: 'BTCUSDT-15m-2025-10_2026-03.csv.gz',
    instrument: shape('BTC', 'USDT', 5, '0.00001', '5'),
    rows: [0, 17_472],
    minFills: 400,
  },
  {
    symbol: 'ETHUSDT',
    interval: '15min',
    file: 'ETHUSDT-15m-2025-10_2026-03.csv.gz',
    instrument: shape('ETH', 'USDT', 4, '0.0001', '5'),
    rows: [0, 17_472],
    minFills: 400,
  },
];

function shape(
  base: string,
  quote: string,
  quantityPrecision: number,
  minQuantity: string,
  minNotional: string,
): Case['instrument'] {
  return { base, quote, pricePrecision: 2, quantityPrecision, minQuantity, minNotional };
}

function recordedCase(
  { symbol, interval, file, instrument, rows }: Recording,
  rules: 'plain' | 'sluice',
  strategy: Strategy,
  params: Case['params'],
): Case {
  const path = fileURLToPath(new URL(`../../backtests/data/${file}`, import.meta.url));
  const { columns } = loadKlines({ path, symbol, interval, pricePrecision: instrument.pricePrecision });
  return {
    symbol,
    interval,
    instrument,
    columns: cut(columns, ...rows),
    rules,
    fees: { maker: '0.001', taker: '0.001' },
    cash: '10000000',
    strategy,
    params,
  };
}

function generatedCase(
  seed: number,
  rules: 'plain' | 'sluice',
  base = 'X',
  interval: Case['interval'] = '1min',
  moves = 1,
): [Case, ReturnType<typeof generated>] {
  const lengthMs = intervalMs(interval, 0);
  const world = generated(seed, 200, moves);
  const klines = world.klines.map((kline, row) => ({ ...kline, time: row * lengthMs }));
  const given = caseOfXz({
    symbol: `${base}Z`,
    interval,
    instrument: { ...xz, base },
    columns: columnsOf(klines),
    rules,
    cash: '1000000',
    strategy: scripted(world.signals, lengthMs),
  });
  return [given, world];
}

/** Purchases after a purchase that had filled: what it bought should have been enough. */
const mended = ({ orders }: Rows): Rows['orders'] =>
  orders.filter(({ side }, index) => {
    const before = orders[index - 1];
    return side === 'BUY' && before?.side === 'BUY' && before.state === 'filled';
  });

describe.for(['plain', 'sluice'] as const)('under %s', (rules) => {
  test('generated klines and signals with stops, targets, limits and quotes give the same rows thrice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
        const [given, { signals }] = generatedCase(seed, rules);
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
        expect(byColumns(given)).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('so they do where stops, targets and limits move with each kline', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.constantFrom('as they are', 'as shares', 'short, too'),
        async (seed, kind) => {
          const [given, { klines, signals: plain }] = generatedCase(seed, rules, 'X', '1min', 0.2);
          const kinds = { 'as they are': plain, 'as shares': shared(plain), 'short, too': oftenShort(plain) };
          const signals = drifting(kinds[kind], klines);
          const drifts = { ...given, strategy: scripted(signals) };
          const expected = byReference(drifts, { kind: 'script', signal: (row) => signals[row] });
          expect(byColumns(drifts)).toEqual(expected);
          expect(await byStream(drifts)).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.for([
    ['exitAfterMs', 3_600_000, 600_000],
    ['trailing', 0.2, 0.02],
  ] as const)('%s that changed before a stop moves is recorded and acted on as it is', async ([key, first, then]) => {
    const klines = Array.from({ length: 100 }, (_, row) => {
      const price = row < 30 ? 100 + row / 100 : 97.3;
      return { time: row * 60_000, open: price, high: price, low: price, close: price, volume: 1_000 };
    });
    const strategy = defineStrategy({
      ...{ name: 'moving', about: 'A stop that moves, and a limit at last', params: {}, indicators: () => ({}) },
      decide: (_, { kline: { openTime } }) => {
        const row = openTime / 60_000;
        const exits = { stop: 80 + row / 100, [key]: row === 0 ? first : then };
        return hold({ quantity: 1 }, 'in', row < 90 ? exits : { limit: 50 });
      },
    });
    const given = caseOfXz({ columns: columnsOf(klines), rules, cash: '100000', strategy });
    const expected = await byStream(given);
    expect(expected.fills.length).toBeGreaterThan(1);
    expect(byColumns(given)).toEqual(expected);
    expect(rowsOf(runByKlines(inputOf(given)))).toEqual(expected);
  });

  test.for(['60min', '1day'] as const)(
    'so they do over days, where large orders move their price (%s)',
    async (length) => {
      const alone: unknown[] = [];
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
          const [given, { signals }] = generatedCase(seed, rules, 'X', length);
          const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
          expect(byColumns(given)).toEqual(expected);
          expect(await byStream(given)).toEqual(expected);
          const { impact } = runNow(inputOf(given));
          alone.push(...(impact === undefined || impact.orders === 0 ? [] : [impact]));
        }),
        { numRuns: 30 },
      );
      expect(alone.length > 10).toBe(rules === 'sluice');
    },
  );

  test('so they do where klines are missing, and say which orders filled late for it', async () => {
    const found = { late: 0, ofLimits: 0 };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), fc.integer({ min: 1, max: 5 }), async (seed, missing) => {
        const { klines, signals } = generated(seed, 200);
        const opensAt = (row: number): number => row + Math.floor(row / 3) * missing;
        const said = signals.reduce<Signal[]>((all, signal, row) => {
          all[opensAt(row)] = signal;
          return all;
        }, []);
        const given = caseOfXz({
          columns: columnsOf(klines.map((kline, row) => ({ ...kline, time: opensAt(row) * 60_000 }))),
          rules,
          cash: '1000000',
          strategy: scripted(said),
        });
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
        expect(byColumns(given)).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
        for (const { late, order } of expected.fills as readonly { late: boolean; order: number }[])
          if (late) {
            const of = expected.orders.find(({ number }) => number === order) as { type?: unknown; purpose?: unknown };
            // What leaves at a stop that a gap has passed was ordered at the open of its kline: it waited for that one, too.
            if (of.purpose !== 'stop') expect(missing).toBeGreaterThan(1);
            found.late++;
            if (of.type === 'LIMIT') found.ofLimits++;
          }
      }),
      { numRuns: 30 },
    );
    expect(found.late).toBeGreaterThan(100);
    expect(found.ofLimits).toBeGreaterThan(10);
  });

  test('what the limit of the position denies hides nothing else, and the rows are the same thrice', async () => {
    let sales = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.constantFrom('450', '900', '1500'),
        async (seed, maxPosition) => {
          const [wide, { signals }] = generatedCase(seed, rules);
          const given = { ...wide, maxPosition };
          const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
          expect(byColumns(given)).toEqual(expected);
          expect(await byStream(given)).toEqual(expected);
          sales += expected.orders.filter(({ side, purpose }) => side === 'SELL' && purpose === 'quote').length;
        },
      ),
      { numRuns: 60 },
    );
    expect(sales).toBeGreaterThan(100);
  });

  describe('two symbols, of which klines close at one moment', () => {
    const lengths = fc.constantFrom<Case['interval']>('1min', '5min', '60min');
    const seeds = fc.integer({ min: 1, max: 2 ** 31 });

    test('give each the rows that it has alone, and the same ones by columns and by streams', async () => {
      await fc.assert(
        fc.asyncProperty(seeds, seeds, lengths, lengths, async (seedX, seedY, lengthX, lengthY) => {
          const cases = [generatedCase(seedX, rules, 'X', lengthX), generatedCase(seedY, rules, 'Y', lengthY)] as const;
          const alone = cases.map(([given, { signals }]) =>
            byReference(given, { kind: 'script', signal: (row) => signals[row] }),
          );
          const both = joined(inputOf(cases[0][0]), inputOf(cases[1][0]));
          const [all, ...each] = rowsOfEach(runNow(both), ['%', 'xz', 'yz']);
          expect(rowsOfEach(await runStreams(both), ['%', 'xz', 'yz'])).toEqual([all, ...each]);
          const rows = ({ decisions, orders, fills }: Rows) => ({ decisions, orders, fills });
          expect(each.map(rows)).toEqual(alone.map(rows));
          expect(all?.equity).toBe(Decimal.sum(...alone.map(({ equity }) => equity)).toFixed());
          expect(all?.ambiguousKlines).toBe(alone.reduce((sum, { ambiguousKlines }) => sum + ambiguousKlines, 0));
        }),
        { numRuns: 40 },
      );
    });

    test('stop for a daily loss at the same kline by columns and by streams', async () => {
      let killed = 0;
      await fc.assert(
        fc.asyncProperty(seeds, seeds, lengths, lengths, async (seedX, seedY, lengthX, lengthY) => {
          const [[x], [y]] = [generatedCase(seedX, rules, 'X', lengthX), generatedCase(seedY, rules, 'Y', lengthY)];
          const both = joined(inputOf(x), inputOf(y));
          // Of both strategies' cash, 60.
          const tight = { ...both, limits: { ...both.limits, maxDailyLoss: rate('0.00003') } };
          const byColumns = runNow(tight);
          const byStream = await runStreams(tight);
          killed += byColumns.kills.length;
          expect(byStream.kills).toEqual(byColumns.kills);
          expect(rowsOf(byStream)).toEqual(rowsOf(byColumns));
        }),
        { numRuns: 40 },
      );
      expect(killed).toBeGreaterThan(10);
    });
  });

  test.for(recordings)('sma-cross on $symbol, $interval, gives the same rows thrice', async (recording) => {
    const params = { fast: 10, slow: 50, quantity: 1 };
    const given = recordedCase(recording, rules, smaCross, { ...params, share: 0, stop: 0 });
    const expected = byReference(given, { kind: 'sma-cross', ...params, size: { quantity: '1' } });
    expect(expected.fills.length).toBeGreaterThan(recording.minFills);
    expect(mended(expected)).toEqual([]);
    expect(byColumns(given)).toEqual(expected);
    expect(await byStream(given)).toEqual(expected);
  });

  test.for(recordings)(
    'a trailing stop on $symbol gives the same rows by columns and by streams',
    async (recording) => {
      const params = { fast: 20, slow: 120, quantity: 0, share: 0.9, stop: 0.01 };
      const given = recordedCase(recording, rules, smaCross, params);
      const rows = byColumns(given);
      expect(rows.orders).toContainEqual(expect.objectContaining({ purpose: 'stop', state: 'filled' }));
      expect(await byStream(given)).toEqual(rows);
    },
  );

  test.for(recordings)('the grid on $symbol gives the same rows by columns and by streams', async (recording) => {
    const params = { levels: 3, quantity: 0.5, maxPosition: 3, minSpacing: 0.001, spacing: 0.5, period: 20 };
    const given = recordedCase(recording, rules, grid, params);
    const rows = byColumns(given);
    expect(rows.fills.length).toBeGreaterThan(20);
    expect(await byStream(given)).toEqual(rows);
  });
});

test('two strategies on two symbols give the same rows by columns and by streams', async () => {
  const [btc, eth] = recordings
    .slice(1)
    .map((recording) =>
      recordedCase(recording, 'sluice', smaCross, { fast: 10, slow: 50, quantity: 0, share: 0.9, stop: 0.02 }),
    ) as [Case, Case];
  const both = joined(inputOf(btc), inputOf(eth));
  expect(rowsOf(await runStreams(both))).toEqual(rowsOf(runNow(both)));
});

describe('what a take-profit sold a part of', () => {
  const quiet = [100, 100, 100, 100, 1000] as const;
  // A tenth of a kline's volume fills: 4 of 10 at 105.
  const klines = [quiet, quiet, [100, 106, 100, 100, 40], ...Array.from({ length: 6 }, () => quiet)] as const;
  const columns = columnsOf(
    klines.map(([open, high, low, close, volume], row) => ({ time: row * 60_000, open, high, low, close, volume })),
  );
  const protectedSignal: Signal = { quantity: '10', stop: '90', takeProfit: '105' };
  const sell: Signal = { quotes: [{ side: 'SELL', price: '99', quantity: '5.9' }] };
  const flat: Signal = { quantity: '0' };

  /** Quantities bought, less what the fee makes of them: to the nearest unit. */
  const bought = async (then: Signal, again: Signal): Promise<readonly string[]> => {
    const signals = [protectedSignal, protectedSignal, protectedSignal, then, then, again, again, again, again];
    const given = { ...generatedCase(1, 'sluice')[0], columns, strategy: scripted(signals) };
    const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
    expect(byColumns(given)).toEqual(expected);
    expect(await byStream(given)).toEqual(expected);
    const fills = expected.fills as readonly (Rows['fills'][number] & Readonly<Record<'side' | 'quantity', string>>)[];
    return fills.map(({ side, quantity }) => `${side} ${new Decimal(quantity).toFixed(0)}`);
  };

  test.for([
    ['with its levels', protectedSignal],
    ['without levels', { quantity: '10' }],
  ] as const)('is bought whole by the same goal %s after a signal to be flat', async ([, again]) => {
    expect(await bought(flat, again)).toEqual(['BUY 10', 'SELL 4', 'SELL 6', 'BUY 10']);
  });

  test.for([
    ['with its levels', protectedSignal],
    ['without levels', { quantity: '10' }],
  ] as const)('is not bought back by the same goal %s after quotes, which are no goal', async ([, again]) => {
    expect(await bought(sell, again)).toEqual(['BUY 10', 'SELL 4', 'SELL 6', 'BUY 6']);
  });
});

// The numbers are the reference's: they must not move when all three move together.
test('sma-cross 10/50 under plain comes to known numbers', () => {
  const given = recordedCase(recordings[0] as Recording, 'plain', smaCross, {
    fast: 10,
    slow: 50,
    quantity: 1,
    share: 0,
    stop: 0,
  });
  const { fills, equity } = byColumns(given);
  expect([fills.length, equity]).toEqual([865, '9993514.3195']);
});
