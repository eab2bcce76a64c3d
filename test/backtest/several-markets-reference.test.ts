/** Strategies of several markets give the rows of the slow reference, kind by kind and under each ruleset. */
import { expect, test } from 'vitest';
import { fc } from '../kit/properties.ts';
import { type GeneratedCase, generatedCase, kinds, kindsOfTwo } from '../reference/generated-several.ts';
import {
  byProduct,
  byProductTogether,
  bySlowReference,
  bySlowReferenceTogether,
  twoCases,
} from './several-agreement.ts';

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

const together = async (given: GeneratedCase, rules: (typeof rulesets)[number]) => {
  const cases = twoCases(given);
  return { expected: bySlowReferenceTogether(cases, rules), found: await byProductTogether(cases, rules) };
};

// A stop that was armed within a larger kline, beyond its open: each differed once.
test.each([
  ['plain', 150],
  ['sluice', 104],
] as const)('two strategies, every exit of a leg of a larger interval, under %s, seed %i', async (rules, seed) => {
  const { expected, found } = await together(
    generatedCase(kindsOfTwo['every exit of a leg of a larger interval'], seed),
    rules,
  );
  expect(found).toEqual(expected);
});

test.for(Object.entries(kindsOfTwo))('two strategies on the same markets: %s', async ([, kind]) => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(seeds, fc.constantFrom(...rulesets), async (seed, rules) => {
      const { expected, found } = await together(generatedCase(kind, seed), rules);
      expect(found).toEqual(expected);
      for (const { markets } of expected) for (const rows of Object.values(markets)) fills += rows.fills.length;
    }),
    { numRuns: Number(process.env['TWO'] ?? 5) },
  );
  expect(fills).toBeGreaterThan(40);
});
