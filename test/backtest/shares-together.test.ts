/** Markets of one strategy whose shares are together more than it has: the verdict says so, once. */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/engines.ts';
import { sharesTogether } from '../../src/backtest/result/shares-together.ts';
import { summarise } from '../../src/backtest/result/summary.ts';
import { backtestSchema } from '../../src/config/schema.ts';
import type { Size } from '../../src/domain/order.ts';
import type { TargetOptions } from '../../src/domain/target-options.ts';
import { defineStrategy, flat, hold, type Signal } from '../../src/index.ts';
import { klines, minute, severalInput } from '../kit/several-markets.ts';

const binding = 'markets: { near: { symbol: AAAUSD }, far: { symbol: BBBUSD } }';
const series = { AAAUSD: klines(Array(12).fill(10)), BBBUSD: klines(Array(12).fill(5)) };
const config = backtestSchema.parse({
  cash: '10000',
  strategies: [{ id: 'one', use: 'given', symbol: 'AAAUSD', interval: '1min' }],
  risk: { maxOrderValue: '1000', maxPosition: '1000' },
});

/** Holds both from the second minute on. */
const both = (far: Size, options: TargetOptions = {}) =>
  defineStrategy({
    name: 'both',
    about: 'Holds two markets',
    params: {},
    markets: { near: 'traded', far: 'traded' },
    indicators: () => ({}),
    decide: (_, { time }) =>
      time < 2 * minute
        ? { near: flat('not yet'), far: flat('not yet') }
        : { near: hold({ share: 0.6 }, 'both'), far: hold(far, 'both', options) },
  });

async function reasons(strategy: Parameters<typeof severalInput>[0]): Promise<readonly string[]> {
  const input = await severalInput(strategy, binding, series);
  const { summary } = summarise({ input, warnings: [], dataHashes: {} }, await runBacktest(input), config);
  return summary.verdict.reasons;
}

test('is told in the verdict, with the legs, the sum and what to do', async () => {
  const told = (await reasons(both({ share: 0.6 }))).filter((reason) => reason.includes('together'));
  expect(told).toEqual([
    'one targets shares of 0.6 of near and 0.6 of far, 1.2 together; 1 is all its equity: make them smaller, or say clip: true to buy what is left',
  ]);
});

test.each([
  ['that come to all', { share: 0.4 }, {}],
  ['of which one is reduced to what is left', { share: 0.6 }, { clip: true }],
] as const)('nothing is told of shares %s', async (_, far, options) => {
  expect((await reasons(both(far, options))).join()).not.toContain('together');
});

test('what is left when the other is entered does not count', async () => {
  const leg = (at: number, role: string, signal: Signal) => ({ strategy: 'one', role, at, signal });
  const { hosted } = await severalInput(both({ share: 0.6 }), binding, series);
  const swapped = [
    leg(1, 'near', hold({ share: 0.9 }, 'near')),
    leg(1, 'far', flat('near')),
    leg(2, 'far', hold({ share: 0.9 }, 'far')),
    leg(2, 'near', flat('far')),
  ];
  expect(sharesTogether({ hosted }, swapped)).toEqual([]);
  expect(sharesTogether({ hosted }, swapped.slice(0, 3))).toHaveLength(1);
});
