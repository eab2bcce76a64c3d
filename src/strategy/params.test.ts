import { describe, expect, test } from 'vitest';
import { choice, decimal, flag, integer, readParams } from './params.ts';

const params = {
  fast: integer(10, { min: 2, max: 500 }, 'fast average'),
  width: decimal(0.5, { min: 0, max: 1 }, 'width'),
  side: choice('long', ['long', 'both'], 'sides'),
  loud: flag(false, 'say more'),
};
const problemsOf = (given: Record<string, unknown>): string[] =>
  readParams(params, given).problems.map(({ name, problem }) => `${name} ${problem}`);

describe('parameters', () => {
  test('that are not given have their defaults', () => {
    expect(readParams(params, {})).toEqual({
      values: { fast: 10, width: 0.5, side: 'long', loud: false },
      problems: [],
    });
  });

  test('that are given replace them', () => {
    expect(readParams(params, { fast: 2, width: 1, side: 'both', loud: true }).values).toEqual({
      fast: 2,
      width: 1,
      side: 'both',
      loud: true,
    });
  });

  test.each([
    [{ fast: 1 }, 'fast must lie between 2 and 500, not 1'],
    [{ fast: 501 }, 'fast must lie between 2 and 500, not 501'],
    [{ fast: 2.5 }, 'fast must be a whole number, not 2.5'],
    [{ fast: '10' }, 'fast must be a number, not "10"'],
    [{ width: Number.NaN }, 'width must be a number, not null'],
    [{ side: 'short' }, 'side must be one of long, both, not "short"'],
    [{ loud: 1 }, 'loud must be true or false, not 1'],
    [{ slow: 3 }, 'slow is not a parameter (there are: fast, width, side, loud)'],
    [{ toString: 3 }, 'toString is not a parameter (there are: fast, width, side, loud)'],
  ])('%j is refused', (given, problem) => {
    expect(problemsOf(given)).toEqual([problem]);
  });

  test('are all judged at once', () => {
    expect(problemsOf({ fast: 0, side: 'x', nope: 1 }).length).toBe(3);
  });
});
