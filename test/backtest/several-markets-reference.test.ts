/** Strategies of several markets give the rows of the slow reference, kind by kind and under each ruleset. */
import { expect, test } from 'vitest';
import { fc } from '../kit/properties.ts';
import { generatedCase, kinds } from '../reference/generated-several.ts';
import { byProduct, bySlowReference } from './several-agreement.ts';

const seeds = fc.integer({ min: 1, max: 2 ** 31 });
const rulesets = ['sluice', 'plain', 'backtesting.py', 'backtrader', 'vectorbt'] as const;

test.for(Object.entries(kinds))('%s', async ([, kind]) => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(seeds, fc.constantFrom(...rulesets), async (seed, rules) => {
      const given = generatedCase(kind, seed);
      const expected = bySlowReference(given, rules);
      expect(await byProduct(given, rules)).toEqual(expected);
      for (const rows of Object.values(expected.markets)) fills += rows.fills.length;
    }),
    { numRuns: 5 },
  );
  expect(fills).toBeGreaterThan(40);
});

// Each of these differed once.
test.each([
  ['a leg alone is completed on margin', 'sluice', 8_354_545],
  ['on margin with exits of each leg', 'plain', 958_199],
  ['on margin with a larger interval', 'backtrader', 23_757],
  ['on margin with every exit of each leg', 'backtesting.py', 134_623],
] as const)('%s, under %s, seed %i', async (name, rules, seed) => {
  const given = generatedCase(kinds[name], seed);
  expect(await byProduct(given, rules)).toEqual(bySlowReference(given, rules));
});
