/** Legs of a pair that are open alone, in backtests. */
import { describe, expect, test } from 'vitest';
import type { AlonePolicy } from '../../src/domain/order.ts';
import type { TargetOptions } from '../../src/domain/target-options.ts';
import { flat, hold } from '../../src/index.ts';
import { defineStrategy } from '../../src/strategy/contract.ts';
import { fillsOf, klines, minute, run } from '../kit/several-markets.ts';

const binding = 'markets: { near: { symbol: AAAUSD }, far: { symbol: BBBUSD } }';

const policy = (afterMs: number, action: AlonePolicy['action']): AlonePolicy => ({ afterMs, action });

/** Holds 10 of both until the minute `until`; `exits` are those of `far`. */
const pair = (alone: AlonePolicy | undefined, exits: TargetOptions = {}, until = Number.POSITIVE_INFINITY) =>
  defineStrategy({
    name: 'pair',
    about: 'Holds two markets at once',
    params: {},
    markets: { near: 'traded', far: 'traded' },
    ...(alone !== undefined && { legsAlone: alone }),
    indicators: () => ({}),
    decide: (_, { time }) =>
      time >= until * minute
        ? { near: flat('over'), far: flat('over') }
        : { near: hold({ quantity: 10 }, 'pair'), far: hold({ quantity: 10 }, 'pair', exits) },
  });

const still = {
  AAAUSD: klines(Array.from({ length: 12 }, () => 10)),
  BBBUSD: klines(Array.from({ length: 12 }, () => 5)),
};

describe('a leg that stays open alone', () => {
  test('stays so where the strategy has chosen nothing', async () => {
    const result = await run(pair(undefined, { limit: 4 }), binding, still);
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 100000 at 1000']);
    expect(result.legsAlone).toEqual([]);
  });

  test('is completed at market, and the time alone is measured from its first fill on', async () => {
    const result = await run(pair(policy(3 * minute, 'complete'), { limit: 4 }), binding, still);
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 100000 at 1000', '4 BUY BBBUSD 100000 at 500']);
    expect(result.legsAlone).toMatchObject([
      {
        strategy: 'one',
        since: null,
        open: ['AAAUSD'],
        missing: ['BBBUSD'],
        longestMs: 3 * minute,
        times: 0,
        largest: 0,
      },
    ]);
  });

  test('is left where its strategy unwinds, and both stay closed while it repeats itself', async () => {
    const result = await run(pair(policy(2 * minute + 1, 'unwind'), { limit: 4 }), binding, still);
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 100000 at 1000', '4 SELL AAAUSD 100000 at 1000']);
    expect(result.legsAlone).toMatchObject([
      { since: null, longestMs: 3 * minute, times: 1, beyondMs: minute - 1, largest: 100 },
    ]);
    const rows = result.journal().prepare("SELECT reason FROM orders WHERE purpose = 'stop'").all();
    expect(rows).toEqual([{ reason: 'unwound, AAAUSD open without BBBUSD for 120.001 s' }]);
  });

  test('is unwound with an order that a rule denies, whose leg does not enter later on its own', async () => {
    const limits = ', maxOrderShare: "0.0095"';
    // 10 of AAAUSD at 9.4 are 94, of BBBUSD at 9.6 they are 96; the limit is 95. Later BBBUSD would be cheap enough.
    const series = {
      AAAUSD: klines(Array.from({ length: 12 }, () => 9.4)),
      BBBUSD: klines([9.6, 9.6, 9.6, 9.6, 9.6, 9.6, 9, 9, 9, 9]),
    };
    const result = await run(pair(policy(2 * minute, 'unwind')), binding, series, '', limits);
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 100000 at 940', '3 SELL AAAUSD 100000 at 940']);
    expect(result.refused).toMatchObject([{ code: 'orderShare', symbol: 'BBBUSD' }]);
  });

  test.each(['complete', 'unwind'] as const)('is left after the other’s own stop, by %s, too', async (action) => {
    const series = { AAAUSD: still.AAAUSD, BBBUSD: klines([5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4]) };
    const result = await run(pair(policy(2 * minute, action), { stop: 4.5 }), binding, series);
    expect(fillsOf(result)).toEqual([
      '1 BUY AAAUSD 100000 at 1000',
      '1 BUY BBBUSD 100000 at 500',
      '4 SELL BBBUSD 100000 at 450',
      '6 SELL AAAUSD 100000 at 1000',
    ]);
  });

  test('is not alone once its decision is over', async () => {
    const result = await run(pair(policy(5 * minute, 'unwind'), { limit: 4 }, 3), binding, still);
    expect(fillsOf(result)).toEqual(['1 BUY AAAUSD 100000 at 1000', '3 SELL AAAUSD 100000 at 1000']);
    expect(result.legsAlone).toMatchObject([{ since: null, times: 0, longestMs: 2 * minute }]);
  });

  test('is refused by one message where its policy cannot be carried out', async () => {
    const wrong = (alone: unknown): Promise<unknown> => run(pair(alone as AlonePolicy), binding, still);
    await expect(wrong({ afterMs: 500 })).rejects.toThrow(
      'legsAlone is { afterMs: 500 }: it must be { afterMs: 60_000',
    );
    await expect(wrong(policy(Number.NaN, 'unwind'))).rejects.toThrow('legsAlone is');
    const single = defineStrategy({
      ...{ name: 'single', about: 'Trades one of two markets', params: {} },
      ...{ markets: { near: 'traded', far: 'data' }, legsAlone: policy(60_000, 'unwind') },
      indicators: () => ({}),
      decide: () => undefined,
    });
    await expect(run(single, binding, still)).rejects.toThrow('at least two traded markets');
  });

  test('that is alone at the end counts up to it', async () => {
    const result = await run(pair(policy(20 * minute, 'unwind'), { limit: 4 }), binding, still);
    expect(result.legsAlone).toMatchObject([{ since: minute, longestMs: 11 * minute, times: 0 }]);
  });
});
