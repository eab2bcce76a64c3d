import { expect, test } from 'vitest';
import { instrument } from '../domain/instrument.ts';
import { lots, units } from '../domain/money.ts';
import { noPosition } from '../domain/position.ts';
import { isDust } from './format.ts';

const shape = { symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 2, quantityPrecision: 5 };

const held = (base: string) => ({ ...noPosition, base: units(base), cost: units('7') });

test.each([
  ['0', false],
  ['0.000009999999999999', true],
  ['0.00001', false],
  ['-0.000009', true],
  ['1', false],
])('%s of a symbol without a least quantity: dust is less than a lot', (base, expected) => {
  expect(isDust(held(base), instrument(shape))).toBe(expected);
});

test.each([
  ['0.00009999', '0', true],
  ['0.0001', '0', false],
  ['-0.0001', '7', false],
  ['-0.0001', '8', true],
])('%s, which cost 7, of a symbol whose orders begin at 0.0001 and at a worth of %s', (base, least, expected) => {
  const minima = { minQuantity: lots('0.0001', shape), minNotional: units(least) };
  expect(isDust(held(base), instrument({ ...shape, ...minima }))).toBe(expected);
});
