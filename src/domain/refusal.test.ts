import { expect, test } from 'vitest';
import { didYouMean, Refusal } from './refusal.ts';

test('a near name is suggested, a far one is not', () => {
  expect(didYouMean('sma-corss', ['grid', 'sma-cross'])).toBe(' (did you mean "sma-cross"?)');
  expect(didYouMean('GRID', ['grid', 'sma-cross'])).toBe(' (did you mean "grid"?)');
  expect(didYouMean('momentum', ['grid', 'sma-cross'])).toBe('');
  expect(didYouMean('x', [])).toBe('');
});

test('a refusal is bad usage unless it says otherwise', () => {
  expect(new Refusal('no').exitCode).toBe(2);
  expect(new Refusal('no', 3).exitCode).toBe(3);
});
