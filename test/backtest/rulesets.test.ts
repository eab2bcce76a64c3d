/** The rules of other libraries: both drivers and the slow reference give the same decisions, orders and fills, row by row. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadKlines } from '../../src/data/klines.ts';
import { Decimal } from '../../src/domain/money.ts';
import { rulesets as rulesetsOfProduct } from '../../src/fill/rules.ts';
import { type RulesetName, rulesetNames } from '../../src/fill/ruleset-names.ts';
import smaCross from '../../strategies/sma-cross/index.ts';
import { fc } from '../kit/properties.ts';
import { runNow } from '../kit/run-now.ts';
import { generated, shared } from '../reference/generated.ts';
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
  rowsOfEach,
  runStreams,
  scripted,
  xz,
} from './agreement.ts';

const others = rulesetNames.filter((name) => name !== 'sluice');

/** Two hundred generated minutes and wants; shares are of so little cash that all-in ones meet its end. */
function caseOf(seed: number, rules: RulesetName, base = 'X'): [Case, readonly Signal[]] {
  const { klines, signals: quantities } = generated(seed, 200);
  const signals = shared(quantities);
  const given = caseOfXz({
    symbol: `${base}Z`,
    instrument: { ...xz, base },
    columns: columnsOf(klines),
    rules,
    cash: '3000',
    strategy: scripted(signals),
  });
  return [given, signals];
}

const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const purposes = ({ orders }: Rows): readonly unknown[] =>
  orders.filter(({ state }) => state === 'filled').map(({ purpose }) => purpose);

const recorded = loadKlines({
  path: fileURLToPath(new URL('../../backtests/data/ETHUSDT-15m-2025-10_2026-03.csv.gz', import.meta.url)),
  symbol: 'ETHUSDT',
  interval: '15min',
  pricePrecision: 2,
}).columns;

const onEth = (rules: RulesetName, params: Case['params']): Case => ({
  symbol: 'ETHUSDT',
  interval: '15min',
  instrument: { ...xz, base: 'ETH', quote: 'USDT', minQuantity: '0.0001', minNotional: '5' },
  columns: cut(recorded, 0, 9_000),
  rules,
  fees: { maker: '0.001', taker: '0.001' },
  cash: '100000',
  strategy: smaCross,
  params: { fast: 10, slow: 50, quantity: 0, share: 0, stop: 0, ...params },
});

describe.for(others)('by the rules of %s', (rules) => {
  test('generated klines and signals, quantities and shares, give the same rows thrice', async () => {
    const filled = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [given, signals] = caseOf(seed, rules);
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
        expect(byColumns(given)).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
        for (const purpose of purposes(expected)) filled.add(purpose);
      }),
      { numRuns: 30 },
    );
    expect(filled).toEqual(new Set(['enter', 'exit', 'quote', 'stop', 'takeProfit']));
  });

  test('two symbols, of which klines close at one moment, give each the rows that it has alone', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, seeds, async (seedX, seedY) => {
        const cases = [caseOf(seedX, rules, 'X'), caseOf(seedY, rules, 'Y')] as const;
        // Money that one of them leaves must not pay for the other.
        const rich = cases.map(([given]): Case => ({ ...given, cash: '1000000' })) as [Case, Case];
        const alone = cases.map(([, signals], index) =>
          byReference(rich[index] as Case, { kind: 'script', signal: (row) => signals[row] }),
        );
        const both = joined(inputOf(rich[0]), inputOf(rich[1]));
        const [all, ...each] = rowsOfEach(runNow(both), ['%', 'xz', 'yz']);
        expect(rowsOfEach(await runStreams(both), ['%', 'xz', 'yz'])).toEqual([all, ...each]);
        // All of the money of one may lack its fee, which the other then pays.
        if (alone.some(({ orders }) => orders.some(({ state }) => state === 'canceled'))) return;
        const rows = ({ decisions, orders, fills }: Rows) => ({ decisions, orders, fills });
        expect(each.map(rows)).toEqual(alone.map(rows));
        expect(all?.equity).toBe(Decimal.sum(...alone.map(({ equity }) => equity)).toFixed());
      }),
      { numRuns: 15 },
    );
  });

  test.for([
    ['one coin', { quantity: 1 }, { quantity: '1' }],
    ['nine tenths of the equity', { share: 0.9 }, { share: '0.9' }],
    ['all of the equity', { share: 1 }, { share: '1' }],
  ] as const)('sma-cross with %s on recorded klines gives the same rows thrice', async ([, params, size]) => {
    const given = onEth(rules, params);
    const expected = byReference(given, { kind: 'sma-cross', fast: 10, slow: 50, size });
    expect(expected.fills.length).toBeGreaterThan('share' in size && size.share === '1' ? 10 : 200);
    expect(byColumns(given)).toEqual(expected);
    expect(await byStream(given)).toEqual(expected);
  });

  test('a trailing stop gives the same rows by columns and by streams', async () => {
    const given = onEth(rules, { share: 0.9, stop: 0.01 });
    const rows = byColumns(given);
    expect(rows.orders).toContainEqual(expect.objectContaining({ purpose: 'stop', state: 'filled' }));
    expect(await byStream(given)).toEqual(rows);
  });
});

/** Minutes that open at 0, 1, 2…: open, high, low, close. */
const minutes = (...rows: readonly (readonly [number, number, number, number])[]) =>
  columnsOf(rows.map(([open, high, low, close], row) => ({ time: row * 60_000, open, high, low, close, volume: 100 })));

/** What is bought and sold by each ruleset after the first kline has said this. */
const traded = (
  signal: Signal,
  columns: Case['columns'],
  changed: Case['fills'] = {},
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    others.map((rules) => {
      const signals = Array.from(columns.openTime, () => signal);
      const given = { ...caseOf(1, rules)[0], columns, strategy: scripted(signals), cash: '1000', fills: changed };
      const rows = byColumns(given);
      expect(rows).toEqual(byReference(given, { kind: 'script', signal: () => signal }));
      const fills = rows.fills as readonly (Rows['fills'][number] &
        Readonly<Record<'side' | 'price' | 'quantity', string>>)[];
      return [rules, fills.map(({ side, price, quantity }) => `${side} ${quantity} @ ${price}`).join(', ')];
    }),
  );

test('an entry at market, and a kline that reaches its stop and its target', () => {
  const columns = minutes([100, 100, 100, 100], [101, 112, 94, 100], [96, 111, 96, 108], [108, 108, 108, 108]);
  expect(traded({ quantity: '1', stop: '95', takeProfit: '110' }, columns)).toEqual({
    plain: 'BUY 1 @ 101, SELL 1 @ 95',
    'backtesting.py': 'BUY 1 @ 101, SELL 1 @ 95',
    backtrader: 'BUY 1 @ 101, SELL 1 @ 110',
    vectorbt: 'BUY 1 @ 100, SELL 1 @ 95',
  });
});

test('a target in the kline of its entry', () => {
  const columns = minutes([100, 100, 100, 100], [101, 112, 99, 105], [105, 106, 104, 105], [105, 105, 105, 105]);
  expect(traded({ quantity: '1', stop: '95', takeProfit: '110' }, columns)).toEqual({
    plain: 'BUY 1 @ 101',
    'backtesting.py': 'BUY 1 @ 101, SELL 1 @ 110',
    backtrader: 'BUY 1 @ 101',
    vectorbt: 'BUY 1 @ 100, SELL 1 @ 110',
  });
});

test('an entry by a resting LIMIT, and a stop in the same kline', () => {
  const columns = minutes([100, 100, 100, 100], [100, 101, 99, 100], [100, 100, 93, 99], [99, 99, 98, 99]);
  const stopped = 'BUY 1 @ 97, SELL 1 @ 95';
  expect(traded({ quantity: '1', limit: '97', stop: '95' }, columns)).toEqual({
    plain: stopped,
    'backtesting.py': 'BUY 1 @ 97',
    backtrader: 'BUY 1 @ 97',
    vectorbt: stopped,
  });
});

test('an open that has passed a resting target', () => {
  const quiet = [101, 102, 100, 101] as const;
  const columns = minutes([100, 100, 100, 100], quiet, quiet, [115, 116, 114, 115]);
  expect(traded({ quantity: '1', takeProfit: '110' }, columns)).toEqual({
    plain: 'BUY 1 @ 101, SELL 1 @ 110',
    'backtesting.py': 'BUY 1 @ 101, SELL 1 @ 115',
    backtrader: 'BUY 1 @ 101, SELL 1 @ 115',
    vectorbt: 'BUY 1 @ 100, SELL 1 @ 115',
  });
});

test('an open that has passed the target as it arrives, and a low that reaches the stop', () => {
  const columns = minutes([100, 100, 100, 100], [101, 102, 100, 101], [115, 130, 94, 115], [115, 115, 115, 115]);
  expect(traded({ quantity: '1', stop: '95', takeProfit: '110' }, columns)).toEqual({
    plain: 'BUY 1 @ 101, SELL 1 @ 115',
    'backtesting.py': 'BUY 1 @ 101, SELL 1 @ 95',
    backtrader: 'BUY 1 @ 101, SELL 1 @ 95',
    vectorbt: 'BUY 1 @ 100, SELL 1 @ 95',
  });
});

test('an open beyond the target is first on a chosen path; without one the stop is', () => {
  const quiet = [101, 102, 100, 101] as const;
  const columns = minutes([100, 100, 100, 100], quiet, quiet, [115, 130, 94, 115]);
  const signal = { quantity: '1', stop: '95', takeProfit: '110' };
  expect(traded(signal, columns)['backtesting.py']).toBe('BUY 1 @ 101, SELL 1 @ 95');
  expect(traded(signal, columns, { path: 'nearest' })['backtesting.py']).toBe('BUY 1 @ 101, SELL 1 @ 115');
});

describe('what is held at the end', () => {
  const columns = minutes([100, 100, 100, 100], [101, 102, 100, 101], [101, 106, 100, 105]);
  const wanted = { quantity: '1' } as const;
  const ended = (rules: RulesetName, closeAtEnd: boolean): Case => ({
    ...caseOf(1, rules)[0],
    ...{ columns, strategy: scripted([wanted, wanted, wanted]), cash: '1000', closeAtEnd },
  });
  const sold = async (given: Case): Promise<readonly [string, string]> => {
    const rows = byColumns(given);
    expect(rows).toEqual(byReference(given, { kind: 'script', signal: () => wanted }));
    expect(await byStream(given)).toEqual(rows);
    const fills = rows.fills as readonly (Rows['fills'][number] & Readonly<Record<'side' | 'price' | 'fee', string>>)[];
    return [fills.map(({ side, price, fee }) => `${side} @ ${price}, fee ${fee}`).join('; '), rows.equity];
  };

  test('stays open and counts at the last close, by every ruleset, unless told otherwise', async () => {
    expect(rulesetNames.map((name) => rulesetsOfProduct[name].closeAtEnd)).toEqual(rulesetNames.map(() => false));
    expect(await sold(ended('plain', false))).toEqual(['BUY @ 101, fee 0.202', '1003.798']);
  });

  test('is sold there whole, with the fee of a taker', async () => {
    expect(await sold(ended('plain', true))).toEqual(['BUY @ 101, fee 0.202; SELL @ 105, fee 0.21', '1003.588']);
    expect(await sold(ended('vectorbt', true))).toEqual(['BUY @ 100, fee 0.2; SELL @ 105, fee 0.21', '1004.59']);
    // 105 less half a spread of 5 bp; the dust that the fee left stays.
    expect((await sold(ended('sluice', true)))[0]).toMatch(/; SELL @ 104.94, fee 0.2\d+$/);
  });

  test.for(rulesetNames)('ends generated markets by the rules of %s with the same rows thrice', async (rules) => {
    let ends = 0;
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const [open, signals] = caseOf(seed, rules);
        const given = { ...open, closeAtEnd: true };
        const expected = byReference(given, { kind: 'script', signal: (row) => signals[row] });
        expect(byColumns(given)).toEqual(expected);
        expect(await byStream(given)).toEqual(expected);
        expect(expected.orders.filter(({ state }) => state === 'open')).toEqual([]);
        if (expected.fills.length > byColumns(open).fills.length) ends++;
      }),
      { numRuns: 20 },
    );
    expect(ends).toBeGreaterThan(3);
  });
});

test('half of the equity, at an open above the close', () => {
  const columns = minutes([100, 100, 100, 100], [110, 110, 110, 110]);
  expect(traded({ share: '0.5' }, columns)).toEqual({
    plain: 'BUY 5 @ 110',
    'backtesting.py': 'BUY 4.5363 @ 110',
    backtrader: 'BUY 5 @ 110',
    vectorbt: 'BUY 4.99 @ 100',
  });
});

test('of two strategies that buy at one open, and whose account pays for one of them, one buys', async () => {
  const columns = minutes([100, 100, 100, 100], [110, 110, 110, 110], [110, 110, 110, 110]);
  const one = inputOf(
    caseOfXz({ columns, rules: 'plain', cash: '1000', strategy: scripted([1, 2, 3].map(() => ({ quantity: '9.9' }))) }),
  );
  const both = joined(one, one, ['a', 'b']);
  for (const run of [runNow(both), await runStreams(both)]) {
    const fills = rowsOfEach(run, ['a', 'b']).map((rows) => rows.fills.length);
    expect(fills).toEqual([1, 0]);
  }
});
