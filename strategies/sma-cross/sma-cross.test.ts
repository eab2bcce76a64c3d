import type { Want } from 'sluice';
import { describe, expect, test } from 'vitest';
import { readParams } from '../../src/strategy/params.ts';
import { kline } from '../../test/kit/builders.ts';
import smaCross from './index.ts';

/** What it wants after each of these closes; undefined while an average is not warm. */
function wantsOver(closes: readonly number[], given: Readonly<Record<string, number>>): (Want | undefined)[] {
  const { values: params } = readParams(smaCross.params, given);
  const indicators = smaCross.indicators(params);
  const fast = indicators.fast.stream('1min');
  const slow = indicators.slow.stream('1min');
  const holding = { quantity: 0, entryPrice: Number.NaN, equity: 1_000 };
  return closes.map((close, minute) => {
    const at = kline(close, minute);
    const values = { fast: fast(at), slow: slow(at) };
    return Number.isNaN(values.slow) ? undefined : smaCross.decide(values, { kline: at, holding, params });
  });
}
const goals = (wants: readonly (Want | undefined)[]): unknown[] =>
  wants.map((want) => (want?.kind === 'target' ? want.goal : undefined));

describe('sma-cross', () => {
  test('waits for the slow average, then is long while the fast one stands above it', () => {
    const long = { quantity: 2 };
    const out = { quantity: 0 };
    expect(goals(wantsOver([1, 2, 3, 4, 1, 1, 1, 9], { fast: 1, slow: 3, quantity: 2 }))).toEqual([
      undefined,
      undefined,
      long,
      long,
      out,
      out,
      out,
      long,
    ]);
  });

  test('takes averages that differ by noise for equal', () => {
    const [, , want] = wantsOver([0.1, 0.2, 0.15], { fast: 1, slow: 3, quantity: 1 });
    expect(want).toMatchObject({ goal: { quantity: 0 }, reason: expect.stringContaining('not above') });
  });

  test('wants of a coin that costs a hundred-thousandth what it wants of a dear one', () => {
    const closes = [1231, 1233, 1234, 1230, 1229, 1229, 1229, 1229, 1231];
    const dear = goals(wantsOver(closes, { fast: 1, slow: 3, quantity: 2 }));
    const cheap = closes.map((close) => Number(`${close}e-8`));
    expect(goals(wantsOver(cheap, { fast: 1, slow: 3, quantity: 2 }))).toEqual(dear);
    expect(dear).toContainEqual({ quantity: 2 });
  });

  test('takes averages for equal that differ by the noise of prices a hundred times as high', () => {
    // A day of minutes at changing prices, then one price, at which nothing differs but what the sums remember.
    const closes = Array.from({ length: 1_440 }, (_, at) => (at < 1_380 ? 12.34 + ((at * 7) % 13) / 100 : 0.1));
    const wants = wantsOver(closes, { fast: 10, slow: 50, quantity: 2 });
    expect(goals(wants).slice(1_440 - 10)).toEqual(new Array(10).fill({ quantity: 0 }));
  });

  test('holds a share of equity when no quantity is given', () => {
    expect(goals(wantsOver([1, 2], { fast: 1, slow: 2, share: 0.5 }))).toEqual([undefined, { share: 0.5 }]);
  });

  test('carries a trailing stop only when one is asked for', () => {
    const [, bare] = wantsOver([1, 2], { fast: 1, slow: 2 });
    const [, guarded] = wantsOver([1, 2], { fast: 1, slow: 2, stop: 0.05 });
    expect(bare).not.toHaveProperty('trailing');
    expect(guarded).toHaveProperty('trailing', 0.05);
  });

  test('refuses a fast average that is not faster', () => {
    const { values } = readParams(smaCross.params, { fast: 50, slow: 50 });
    expect(smaCross.check?.(values)).toBe('fast (50) must be below slow (50)');
  });
});
