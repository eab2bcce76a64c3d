/** Strategies of several markets on margin: all their markets are one account, and equal what is worked out by hand. */
import { describe, expect, test } from 'vitest';
import { unitsText } from '../../src/domain/money.ts';
import { flat, hold, quotes } from '../../src/index.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { fillsOf, klines, minute, run } from '../kit/several-markets.ts';

const rules = (rates = 'AAA: "0", BBB: "0", USD: "0"', hours = 1, maxLeverage = 4) =>
  `account: margin\nmargin: { maxLeverage: "${maxLeverage}", maintenanceRatio: "0.2", liquidationFee: "0.01", interest: { ${rates} }, interestEveryHours: ${hours} }\n`;
const binding = 'markets: { first: { symbol: AAAUSD }, second: { symbol: BBBUSD } }';

type Legs = readonly [first: ReturnType<typeof hold>, second: ReturnType<typeof hold>];
const of = (quantity: number, limit?: number) => hold({ quantity }, 'as written', limit === undefined ? {} : { limit });

/** Has these targets; others from a minute on. */
const holding = (legs: Legs, later: Readonly<Record<number, Legs>> = {}) =>
  defineStrategy({
    name: 'holding',
    about: 'Holds two markets as it is written down',
    params: {},
    markets: { first: 'traded', second: 'traded' },
    indicators: () => ({}),
    decide(_, { time }) {
      const [first, second] = Object.entries(later).findLast(([from]) => time >= Number(from) * minute)?.[1] ?? legs;
      return { first, second };
    },
  });

const flow = (first: readonly number[], second: readonly number[]) => ({
  AAAUSD: klines(first),
  BBBUSD: klines(second),
});
const same = (price: number, rows: number): readonly number[] => Array.from({ length: rows }, () => price);

/** The fills, what was charged, and the equity. */
async function ran(
  ...[strategy, series, more = rules(), bound = binding]: readonly [
    Parameters<typeof run>[0],
    Parameters<typeof run>[2],
    string?,
    string?,
  ]
) {
  const result = await run(strategy, bound, series, more);
  return {
    fills: fillsOf(result),
    charges: result.margin?.charges.map(
      ({ at, kind, symbol, amount }) => `${at / minute} ${kind} ${unitsText(amount)} ${symbol}`,
    ),
    equity: unitsText(result.finalEquity),
    liquidations: result.margin?.liquidations,
    result,
  };
}

describe('one leg long and one short', () => {
  // 10,000 in cash: what the short brings pays for the purchase.
  const hedged = holding([of(1500), of(-3000)]);
  const entered = ['1 BUY AAAUSD 15000000 at 1000', '1 SELL BBBUSD 30000000 at 500'];

  test('support each other: what both lose or win together is neither', async () => {
    const { fills, equity, charges } = await ran(hedged, flow([10, 10, 8, 5, 5], [5, 5, 4, 2.5, 2.5]));
    expect(fills).toEqual(entered);
    expect([equity, charges]).toEqual(['10000', []]);
  });

  test('are left together at the next open where the closes of both leave too little', async () => {
    const series = flow([10, 10, 9, 9, 9, 9], [5, 5, 5.9, 5.9, 5.9, 5.9]);
    // Each alone leaves enough: 10,000 + 1,500 × 9 − 3,000 × 5.9 = 5,800 is less than a fifth of 13,500 + 17,700.
    for (const backwards of [false, true]) {
      const entries = Object.entries(series);
      const ordered = Object.fromEntries(backwards ? entries.toReversed() : entries);
      const { fills, charges, equity, liquidations } = await ran(hedged, ordered);
      expect(fills.slice(2).toSorted()).toEqual(['3 BUY BBBUSD 30000000 at 590', '3 SELL AAAUSD 15000000 at 900']);
      expect(charges?.toSorted()).toEqual(['3 liquidation 135 AAAUSD', '3 liquidation 177 BBBUSD']);
      expect([equity, liquidations]).toEqual(['5488', 2]);
    }
  });

  test('are left one within the kline that ruins them and the other at the next open', async () => {
    const series = flow([10, 10, 10, 10, 10], [5, 5, 6.5, 6.5, 6.5]);
    // At 6.12, 10,000 + 15,000 − 18,360 = 6,640 is less than a fifth of 33,360.
    for (const backwards of [false, true]) {
      const entries = Object.entries(series);
      const ordered = Object.fromEntries(backwards ? entries.toReversed() : entries);
      const { fills, equity, liquidations } = await ran(hedged, ordered);
      expect(fills.slice(2)).toEqual(['3 BUY BBBUSD 30000000 at 612', '3 SELL AAAUSD 15000000 at 1000']);
      expect([equity, liquidations]).toEqual(['6306.4', 2]);
    }
    expect((await ran(hedged, flow(same(10, 5), [5, 5, 6.11, 6.11, 6.11]))).fills).toEqual(entered);
  });

  test('count a market whose kline has opened with its open, in which it may have gapped', async () => {
    const series = flow([10, 10, 10, 9.6, 9.6, 9.6], [5, 5, 5, 6, 6, 6]);
    series.BBBUSD.open.set([6], 3);
    series.BBBUSD.low.set([6], 3);
    // At 6 the short one leaves 10,000 + 1,500 × 9.66 − 18,000 = 6,490, less than a fifth of 32,490.
    const { fills } = await ran(hedged, series);
    expect(fills.slice(2)).toEqual(['4 SELL AAAUSD 15000000 at 966', '4 BUY BBBUSD 30000000 at 600']);
  });

  test('stay left until their targets change, each by its own', async () => {
    const again = holding([of(1500), of(-3000)], { 5: [of(1500), of(-1000)] });
    const { fills } = await ran(again, flow([10, 10, 10, 10, 10, 10, 10], [5, 5, 6.5, 6.5, 6.5, 6.5, 6.5]));
    expect(fills.slice(4)).toEqual(['5 SELL BBBUSD 10000000 at 650']);
  });
});

test('an entry that rests is cancelled with a liquidation, and not ordered again', async () => {
  // 25,000 are owed: at 8.92 a fifth of 31,220 is more than what is left.
  const resting = holding([of(3500), of(100, 4)]);
  const { fills, result } = await ran(resting, flow([10, 10, 8, 8, 8, 8], [5, 5, 5, 5, 3.5, 3.5]));
  expect(fills).toEqual(['1 BUY AAAUSD 35000000 at 1000', '3 SELL AAAUSD 35000000 at 892']);
  const db = result.journal();
  expect(db.prepare("SELECT symbol, state FROM orders WHERE type = 'LIMIT'").all()).toEqual([
    { symbol: 'BBBUSD', state: 'canceled' },
  ]);
  db.close();
});

test('what quotes bought is left with a liquidation in another market, and the quotes come back', async () => {
  const quoting = defineStrategy({
    name: 'quoting',
    about: 'Holds one market and quotes in another',
    params: {},
    markets: { first: 'traded', second: 'traded' },
    indicators: () => ({}),
    decide: () => ({
      first: of(3000),
      second: quotes([{ side: 'BUY', price: 4, quantity: 100 }], 'always'),
    }),
  });
  const series = flow([10, 10, 10, 10, 8, 8, 8], [5, 5, 3.9, 3.9, 3.9, 5, 5]);
  const { fills, liquidations, result } = await ran(quoting, series);
  expect(fills.slice(0, 4)).toEqual([
    '1 BUY AAAUSD 30000000 at 1000',
    '3 BUY BBBUSD 1000000 at 400',
    '3 BUY BBBUSD 1000000 at 390',
    '4 BUY BBBUSD 1000000 at 390',
  ]);
  // 21,180 are owed: at 8.43, 25,290 and 1,170 leave 5,280, less than a fifth of 26,460.
  expect(fills.slice(4)).toEqual(['5 SELL AAAUSD 30000000 at 843', '5 SELL BBBUSD 3000000 at 390']);
  expect(liquidations).toBe(2);
  const db = result.journal();
  expect(db.prepare('SELECT side, symbol, price, state FROM orders ORDER BY created_at').all().at(-1)).toEqual({
    side: 'BUY',
    symbol: 'BBBUSD',
    price: '4',
    state: 'open',
  });
  db.close();
});

describe('leverage', () => {
  test('counts both legs, long and short', async () => {
    const both = holding([of(2500), of(-4000)]);
    const { fills, result } = await ran(both, flow(same(10, 3), same(5, 3)));
    // 25,000 and 20,000 are more than four times 10,000.
    expect(fills).toEqual(['1 BUY AAAUSD 25000000 at 1000']);
    expect(result.refused).toMatchObject([{ code: 'leverage', symbol: 'BBBUSD' }]);
  });

  test('lets a leg enter at the open at which another leaves what it needs', async () => {
    const swap = holding([of(-4000), flat('not yet')], { 3: [flat('over'), of(8000)] });
    expect((await ran(swap, flow(same(10, 5), same(5, 5)))).fills).toEqual([
      '1 SELL AAAUSD 40000000 at 1000',
      '3 BUY AAAUSD 40000000 at 1000',
      '3 BUY BBBUSD 80000000 at 500',
    ]);
  });
});

describe('where nothing may be borrowed, a leg', () => {
  const alone = rules(undefined, undefined, 1);

  test('waits for one that is bought back, though the money is there', async () => {
    const swap = holding([of(-1000), flat('not yet')], { 3: [flat('over'), of(2000)] });
    const { fills, result } = await ran(swap, flow(same(10, 5), same(5, 5)), alone);
    expect(fills.slice(1)).toEqual(['3 BUY AAAUSD 10000000 at 1000', '3 BUY BBBUSD 20000000 at 500']);
    expect(result.refused).toEqual([]);
  });

  test('that turns round does not wait for one that rests, where both are within the leverage', async () => {
    const turn = holding([of(-400), of(400)], { 3: [of(-100, 9), of(-800)] });
    const { fills } = await ran(turn, flow(same(10, 5), same(5, 5)), alone);
    expect(fills.slice(2)).toEqual(['3 SELL BBBUSD 12000000 at 500']);
  });

  test('enters beside one that rests, where both are within the leverage', async () => {
    const swap = holding([of(-400), flat('not yet')], { 3: [of(-100, 9), of(1000)] });
    const { fills } = await ran(swap, flow(same(10, 5), same(5, 5)), alone);
    expect(fills.slice(1)).toEqual(['3 BUY BBBUSD 10000000 at 500']);
  });
});

describe('interest over days', () => {
  const rates = rules('AAA: "0", BBB: "0.002", USD: "0.001"', 24);
  const days = flow(same(10, 2 * 1440 + 5), same(5, 2 * 1440 + 5));

  test('is charged on the base that is owed, and on no quote that the short brought', async () => {
    const { charges, equity } = await ran(holding([of(1500), of(-1000)]), days, rates);
    // Nothing is left of 10,000 and 5,000; then the interest itself is owed.
    expect(charges).toEqual(['1440 interest 10 BBBUSD', '2880 interest 0.01 AAAUSD', '2880 interest 10 BBBUSD']);
    expect(equity).toBe('9979.99');
  });

  test('is charged once on what all markets owe in quote', async () => {
    const { charges, equity } = await ran(holding([of(1500), of(1000)]), days, rates);
    // 20,000 spent of 10,000.
    expect(charges).toEqual(['1440 interest 10 AAAUSD', '2880 interest 10.01 AAAUSD']);
    expect(equity).toBe('9979.99');
  });

  test('is charged at the close of the other market where one has ended', async () => {
    const ended = flow(same(10, 1000), same(5, 1440 + 5));
    const { charges } = await ran(holding([of(1500), of(1000)]), ended, rates);
    expect(charges).toEqual(['1440 interest 10 BBBUSD']);
  });
});

test('interest counts what a market borrows within the last kline before it is due, whatever another does', async () => {
  // The first market has nothing to do; the second buys for 20,000 within the kline that closes with the hour.
  const resting = holding([flat('nothing'), of(4000, 4.9)]);
  const second = [...same(5, 59), 4.8, ...same(4.8, 3)];
  const { charges } = await ran(resting, flow(same(10, 63), second), rules('AAA: "0", BBB: "0", USD: "0.001"'));
  expect(charges).toEqual(['60 interest 9.6 AAAUSD']);
});

test('deposits are refused on margin', async () => {
  const flows = 'cashFlows: [{ time: 2020-03-12, currency: USD, kind: deposit, amount: "5", reason: more }]\n';
  await expect(ran(holding([of(1), of(1)]), flow([1], [1]), `${rules()}${flows}`)).rejects.toThrow(
    'a margin account has no deposits or withdrawals',
  );
});
