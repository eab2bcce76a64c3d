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
