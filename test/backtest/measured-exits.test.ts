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
import { type Drawn, drawn, measuredCase } from './measured-cases.ts';

const numRuns = Number(process.env['MEASURED'] ?? 8);

type Only = readonly (keyof Target)[];

async function agreeOn(of: Drawn, only: Only | undefined, rules: Case['rules']): Promise<Rows['orders']> {
  const { given, signal } = measuredCase(of, rules, only);
  const expected = byReference(given, { kind: 'script', signal });
  if (given.margin === undefined) expect(byColumns(given)).toEqual(expected);
  expect(await byStream(given)).toEqual(expected);
  return expected.orders;
}

async function agree(only: Only | undefined, rules: Case['rules']): Promise<Rows['orders']> {
  const orders: Rows['orders'][number][] = [];
  await fc.assert(
    fc.asyncProperty(drawn, async (of) => void orders.push(...(await agreeOn(of, only, rules)))),
    { numRuns },
  );
  return orders;
}

/** What entries that expire are drawn from. */
const expiring: Only = ['limit', 'expiresAfterMs', 'expiresAfterKlines', 'takeProfit', 'stop'];

describe.for(rulesetNames)('by columns, by streams and by the reference the same rows come of: %s', (rules) => {
  test.for([
    ['stops from the entry', ['stop', 'takeProfit']],
    ['trailing stops in quote', ['trailing', 'limit']],
    ['stops at the entry', ['breakEven', 'stop', 'limit']],
    ['times', ['exitAfterMs', 'exitAfterKlines', 'exitAt']],
    ['entries that expire', expiring],
    ['limits that shall not take', ['limit', 'postOnly', 'expiresAfterMs', 'stop']],
    ['pauses', ['stop', 'takeProfit', 'exitAfterKlines', 'reenterAfterMs', 'reenterAfterKlines']],
    ['all together', undefined],
  ] as const)('%s', async ([, only]) => {
    const orders = await agree(only, rules);
    const left = orders.filter(({ purpose, state }) => purpose === 'stop' && state === 'filled');
    expect(left.length).toBeGreaterThan(numRuns);
  });
});

test('a target with a stop that is reached orders none of the few lots that a better price makes orderable', async () => {
  const common = { account: 'short', interval: '1min', pace: 1, missing: 0, isOdd: false, closeAtEnd: false } as const;
  const of = {
    ...common,
    seed: 2147483643,
    changes: 0.1,
    precision: [4, '0.001'],
    cash: '700',
    delayKlines: 1,
  } as const;
  const orders = await agreeOn(of, expiring, 'sluice');
  expect(orders).toHaveLength(36);
});
