/** Money paid in and out of strategies of several markets: it goes into and out of the pool of all their markets. */
import { describe, expect, test } from 'vitest';
import { unitsText } from '../../src/domain/money.ts';
import { flat, hold, of } from '../../src/index.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import * as kit from '../kit/several-markets.ts';
import { minute, run } from '../kit/several-markets.ts';

// A configuration has no dates as old as those of the other tests' klines.
const start = Date.parse('2020-03-12');
const klines = (closes: readonly number[]) => {
  const columns = kit.klines(closes);
  return { ...columns, openTime: columns.openTime.map((time) => start + time) };
};
const fillsOf = (result: Awaited<ReturnType<typeof run>>) =>
  kit.fillsOf({ ...result, fills: result.fills.map((fill) => ({ ...fill, time: fill.time - start })) });

/** Holds half its equity in the first market, and from minute 4 on half in the second, too; it reads a third. */
const halves = defineStrategy({
  name: 'halves',
  about: 'Holds one market, later two',
  params: {},
  markets: { read: 'data', first: 'traded', second: 'traded' },
  indicators: () => ({ last: of('read', 'close') }),
  decide: (_, { time }) => ({
    first: hold({ share: 0.5 }, 'at once'),
    second: time < start + 4 * minute ? flat('not yet') : hold({ share: 0.5 }, 'later'),
  }),
});
const binding = 'markets: { read: { symbol: CCCUSD }, first: { symbol: AAAUSD }, second: { symbol: BBBUSD } }';
const series = {
  AAAUSD: klines([10, 10, 10, 10, 10, 12, 12, 12]),
  BBBUSD: klines([5, 5, 5, 5, 5, 5, 4, 4]),
  CCCUSD: klines([1, 1, 1, 1, 1, 1, 1, 1]),
};
const flow = (minutes: number, kind: 'deposit' | 'withdrawal', amount: string, more = '') =>
  `{ time: "2020-03-12T00:0${minutes}:00Z", currency: USD, kind: ${kind}, amount: "${amount}", reason: test${more} }`;

describe('a deposit between two decisions', () => {
  test('can be spent in any market of the strategy from the next decision on', async () => {
    const result = await run(halves, binding, series, `cashFlows: [${flow(3, 'deposit', '6000')}]\n`);
    // 5,000 of 10,000 at 10; then 8,000 of 16,000 at 5, of which 5,000 were there without the deposit.
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 5000000 at 1000', '4 BUY BBBUSD 16000000 at 500']);
    // 3,000 in cash, 500 at 12 and 1,600 at 4.
    expect(unitsText(result.finalEquity)).toBe('15400');
    expect(result.cashFlows).toMatchObject([{ at: start + 3 * minute, refused: undefined }]);
  });

  test('is shared evenly with other strategies, and goes whole to the strategy that it names', async () => {
    const other =
      ', { id: two, use: given, interval: 1min, markets: { read: { symbol: CCCUSD }, first: { symbol: BBBUSD }, second: { symbol: AAAUSD } }';
    const both = await run(halves, `${binding} }${other}`, series, `cashFlows: [${flow(3, 'deposit', '6000')}]\n`);
    // Each has 5,000 and 3,000 more: half of 8,000 at 10, and at 5.
    expect(fillsOf(both).slice(2)).toEqual(['4 BUY AAAUSD 4000000 at 1000', '4 BUY BBBUSD 8000000 at 500']);
    const named = `cashFlows: [${flow(3, 'deposit', '6000', ', strategy: two')}]\n`;
    // Half of 11,000 at 10, and of 5,000 at 5.
    expect(fillsOf(await run(halves, `${binding} }${other}`, series, named)).slice(2)).toEqual([
      '4 BUY AAAUSD 5500000 at 1000',
      '4 BUY BBBUSD 5000000 at 500',
    ]);
  });
});

test('a withdrawal takes what all markets of the strategy leave free, and no more', async () => {
  const flows = `cashFlows: [${flow(3, 'withdrawal', '5001')}, ${flow(3, 'withdrawal', '4000')}]\n`;
  const result = await run(halves, binding, series, flows);
  expect(result.cashFlows).toMatchObject([
    { refused: '5001 USD is more than one has free, 5000' },
    { refused: undefined },
  ]);
  // 3,000 of 6,000 would be bought, and 1,000 are left.
  expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 5000000 at 1000']);
  expect(result.refused).toMatchObject([{ code: 'allocation', symbol: 'BBBUSD' }]);
  // 500 at 12 and 1,000.
  expect(unitsText(result.finalEquity)).toBe('7000');
});

test('a profit made in one market can be withdrawn from another', async () => {
  const swap = defineStrategy({
    name: 'swap',
    about: 'Holds the second market for two minutes',
    params: {},
    markets: { first: 'traded', second: 'traded' },
    indicators: () => ({}),
    decide: (_, { time }) => ({
      first: flat('never'),
      second: time < start + 5 * minute ? hold({ quantity: 900 }, 'at first') : flat('over'),
    }),
  });
  const result = await run(
    swap,
    'markets: { first: { symbol: AAAUSD }, second: { symbol: BBBUSD } }',
    { AAAUSD: klines(Array.from({ length: 9 }, () => 10)), BBBUSD: klines([10, 10, 10, 20, 20, 20, 20, 20, 20]) },
    `cashFlows: [${flow(8, 'withdrawal', '18900')}]\n`,
  );
  // 900 bought at 10 and sold at 20: 19,000, of which 10,000 were allotted.
  expect(result.cashFlows).toMatchObject([{ refused: undefined }]);
  expect(unitsText(result.finalEquity)).toBe('100');
});
