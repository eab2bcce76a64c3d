/**
 * Two strategies on one symbol, which share the volume of each kline, the money at the exchange and the limit of the position: by columns, by
 * streams and by the slow reference the same rows.
 * `TWO=500 FUZZ_SEED=7 npx vitest run test/backtest/two-strategies-reference.test.ts --testTimeout 600000` draws more, and others.
 */
import { expect, test } from 'vitest';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { fc } from '../kit/properties.ts';
import { type Drawn, drawn } from './measured-cases.ts';
import { twoAnswers } from './two-strategies.ts';

const numRuns = Number(process.env['TWO'] ?? 12);

test.for(rulesetNames)('the same rows: %s', async (rules) => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(drawn, fc.constantFrom(undefined, '900'), async (of, maxPosition) => {
      const { expected, found, byStreams } = await twoAnswers(of, rules, maxPosition);
      expect(found).toEqual(expected);
      expect(byStreams).toEqual(expected);
      for (const rows of expected) fills += rows.fills.length;
    }),
    { numRuns },
  );
  expect(fills).toBeGreaterThan(20 * numRuns);
});

const common = { closeAtEnd: false, delayKlines: 0, pace: 1, changes: 0.25, cash: '700' } as const;
// Each of these differed once.
test.each<readonly [string, Drawn, string | undefined]>([
  [
    'of two stops in one kline the nearest takes first of its volume',
    {
      ...common,
      ...{ seed: 26, account: 'spot', interval: '1min', missing: 1, isOdd: true },
      ...{ precision: [4, '0.001'], changes: 0.1, cash: '100000' },
    },
    undefined,
  ],
  [
    'of two exits by time that of the first strategy takes first of the volume',
    {
      ...common,
      ...{ seed: 1_176_727_524, account: 'short', interval: '1min', pace: 4, missing: 0, isOdd: false },
      ...{ precision: [4, '0.001'], cash: '100000', closeAtEnd: true },
    },
    undefined,
  ],
  [
    'an entry that expires makes room for the one of another strategy at the same close',
    { ...common, seed: 2, account: 'spot', interval: '1min', missing: 0, isOdd: true, precision: [4, '0.001'] },
    '900',
  ],
])('%s', async (_, of, maxPosition) => {
  const { expected, found, byStreams } = await twoAnswers(of, 'sluice', maxPosition);
  expect(found).toEqual(expected);
  expect(byStreams).toEqual(expected);
});
