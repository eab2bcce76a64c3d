import { expect, test } from 'vitest';
import { isPriceLike } from './price-like.ts';

const between = (low: number, high: number) => [
  { low, high: (low + high) / 2 },
  { low: (low + high) / 2, high },
];

test('what is about as high as the prices is drawn over them, though it trails a trend', () => {
  expect(isPriceLike([95, 100, 105], between(90, 110))).toBe(true);
  expect(isPriceLike([81, 82, 119], between(90, 110))).toBe(true);
  expect(isPriceLike([79, 122, 119], between(90, 110))).toBe(false);
});

test('an oscillator is drawn below, even where the prices have multiplied', () => {
  expect(isPriceLike([30, 50, 70], between(90, 110))).toBe(false);
  expect(isPriceLike([30, 50, 70], between(20_000, 100_000))).toBe(false);
  expect(isPriceLike([-40, 0, 12], between(1, 90))).toBe(false);
});

test('the majority decides, of the values that are numbers', () => {
  expect(isPriceLike([Number.NaN, Number.NaN, Number.NaN, 100], between(90, 110))).toBe(true);
  expect(isPriceLike([100, 5], between(90, 110))).toBe(false);
  expect(isPriceLike([Number.NaN], between(90, 110))).toBe(false);
});
