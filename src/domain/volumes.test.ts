import { expect, test } from 'vitest';
import { fc } from '../../test/kit/properties.ts';
import { Decimal } from './money.ts';
import { plusVolume } from './volumes.ts';

test.for<readonly [number, number, number]>([
  [0.1, 0.2, 0.3],
  [0.00000001, 9_999_999.00000001, 9_999_999.00000002],
  [123_456_789_012.5, 0.25, 123_456_789_012.75],
  [0, 0.1, 0.1],
  // Eighteen decimals, as tokens have.
  [0.000000000000000001, 0.000000000000000002, 0.000000000000000003],
  // What no decimal of fifteen digits is: as doubles add up.
  [1 / 3, 1 / 7, 1 / 3 + 1 / 7],
  [1e300, 1e300, 2e300],
  [Number.NaN, 1, Number.NaN],
])('%d and %d are %d', ([a, b, sum]) => {
  expect([plusVolume(a, b), plusVolume(b, a)]).toEqual([sum, sum]);
});

test('however many, and in whatever order, the sum has the digits that were written', () => {
  // Fifteen digits in all.
  const volume = fc.tuple(fc.nat(2_000_000_000), fc.integer({ min: 5, max: 8 }));
  fc.assert(
    fc.property(fc.array(volume, { minLength: 1, maxLength: 300 }), (drawn) => {
      const texts = drawn.map(([steps, decimals]) => new Decimal(`${steps}e-${decimals}`));
      const volumes = texts.map((text) => text.toNumber());
      const sum = Decimal.sum(...texts).toNumber();
      expect(volumes.reduce(plusVolume, 0)).toBe(sum);
      expect(volumes.toReversed().reduce(plusVolume, 0)).toBe(sum);
    }),
  );
});
