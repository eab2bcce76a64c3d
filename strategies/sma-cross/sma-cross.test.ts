import { describe, expect, test } from 'vitest';
import type { Want } from '../../src/domain/order.ts';
import { readParams } from '../../src/strategy/params.ts';
import { kline } from '../../src/testing/builders.ts';
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
