/**
 * Every exit by the engine of recorded trades.
 * `TICKS=500 FUZZ_SEED=7 npx vitest run test/backtest/ticks-exits.test.ts --testTimeout 600000` draws more, and others.
 */
import { expect, test } from 'vitest';
import { fc } from '../kit/properties.ts';
import { drawn } from './measured-cases.ts';
import { overKlines, overTrades, type TwoWays } from './ticks-exits.ts';

const numRuns = Number(process.env['TICKS'] ?? 20);

test.for<readonly [string, fc.Arbitrary<() => Promise<TwoWays>>]>([
  ['fills over klines as in the slow reference', drawn.map((of) => () => overKlines(of))],
  [
    'leaves the same rows whether trades are passed over or not',
    fc.integer({ min: 1 }).map((seed) => () => overTrades(seed)),
  ],
])('%s', async ([, cases]) => {
  let left = 0;
  await fc.assert(
    fc.asyncProperty(cases, async (run) => {
      const { expected, found, orders } = await run();
      expect(found).toEqual(expected);
      left += orders.filter(({ purpose }) => purpose === 'stop' || purpose === 'takeProfit').length;
    }),
    { numRuns },
  );
  expect(left).toBeGreaterThan(numRuns);
});
