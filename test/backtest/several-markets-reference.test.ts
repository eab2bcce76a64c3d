/** Strategies of several markets give the rows of the slow reference, kind by kind. */
import { expect, test } from 'vitest';
import { fc } from '../kit/properties.ts';
import { generatedCase, kinds } from '../reference/generated-several.ts';
import { byProduct, bySlowReference } from './several-agreement.ts';

const { 'exits of each leg': _, ...agreeing } = kinds;

test.for(Object.entries(agreeing))('%s, under sluice', async ([, kind]) => {
  let fills = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
      const given = generatedCase(kind, seed);
      const expected = bySlowReference(given, 'sluice');
      expect(await byProduct(given, 'sluice')).toEqual(expected);
      for (const rows of Object.values(expected.markets)) fills += rows.fills.length;
    }),
    { numRuns: 6 },
  );
  expect(fills).toBeGreaterThan(60);
});
