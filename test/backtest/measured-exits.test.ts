/**
 * Exits that are measured from the entry, in quote, in klines or by the time of day, and pauses after them: row by row by columns, by
 * streams and by the slow reference, alone and together.
 * `MEASURED=500 FUZZ_SEED=7 npx vitest run test/backtest/measured-exits.test.ts --testTimeout 600000` draws more, and others.
 */
import { describe, expect, test } from 'vitest';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { fc } from '../kit/properties.ts';
import type { Target } from '../reference/types.ts';
import { byColumns, byReference, byStream, type Case, type Rows } from './agreement.ts';
import { drawn, measuredCase } from './measured-cases.ts';

const numRuns = Number(process.env['MEASURED'] ?? 8);

async function agree(only: readonly (keyof Target)[] | undefined, rules: Case['rules']): Promise<Rows['orders']> {
  const orders: Rows['orders'][number][] = [];
  await fc.assert(
    fc.asyncProperty(drawn, async (of) => {
      const { given, signal } = measuredCase(of, rules, only);
      const expected = byReference(given, { kind: 'script', signal });
      if (given.margin === undefined) expect(byColumns(given)).toEqual(expected);
      expect(await byStream(given)).toEqual(expected);
      orders.push(...expected.orders);
    }),
    { numRuns },
  );
  return orders;
}

describe.for(rulesetNames)('by columns, by streams and by the reference the same rows come of: %s', (rules) => {
  test.for([
    ['stops from the entry', ['stop', 'takeProfit']],
    ['trailing stops in quote', ['trailing', 'limit']],
    ['stops at the entry', ['breakEven', 'stop', 'limit']],
    ['times', ['exitAfterMs', 'exitAfterKlines', 'exitAt']],
    ['entries that expire', ['limit', 'expiresAfterMs', 'expiresAfterKlines', 'takeProfit', 'stop']],
    ['limits that shall not take', ['limit', 'postOnly', 'expiresAfterMs', 'stop']],
    ['pauses', ['stop', 'takeProfit', 'exitAfterKlines', 'reenterAfterMs', 'reenterAfterKlines']],
    ['all together', undefined],
  ] as const)('%s', async ([, only]) => {
    const orders = await agree(only, rules);
    const left = orders.filter(({ purpose, state }) => purpose === 'stop' && state === 'filled');
    expect(left.length).toBeGreaterThan(numRuns);
  });
});
