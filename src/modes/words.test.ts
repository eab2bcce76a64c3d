import { expect, test } from 'vitest';
import { instrument } from '../domain/instrument.ts';
import { lots, units } from '../domain/money.ts';
import { isDust } from './words.ts';

const shape = { symbol: 'XBTUSD', base: 'XBT', quote: 'USD', pricePrecision: 2, quantityPrecision: 5 };

test.each([
  ['0', false],
  ['0.000009999999999999', true],
  ['0.00001', false],
  ['-0.000009', true],
  ['1', false],
])('%s of a symbol without a least quantity: dust is less than a lot', (base, expected) => {
  expect(isDust(units(base), instrument(shape))).toBe(expected);
});

test.each([
  ['0.00009999', true],
  ['0.0001', false],
])('%s of a symbol whose orders begin at 0.0001', (base, expected) => {
  expect(isDust(units(base), instrument({ ...shape, minQuantity: lots('0.0001', shape) }))).toBe(expected);
});
