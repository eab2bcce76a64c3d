import { describe, expect, it } from 'vitest';
import { exact, money, signed, when } from './format.ts';

describe('money on the page', () => {
  it.each([
    ['79908.7188165', '79,908.72'],
    ['9245.045', '9,245.05'],
    ['-9245.045', '−9,245.05'],
    ['999.995', '1,000.00'],
    ['0.004999', '0.00'],
    ['-0.001', '0.00'],
    ['12', '12.00'],
    ['90071992547409930.975', '90,071,992,547,409,930.98'],
  ])('%s reads %s', (text, shown) => {
    expect(money(text)).toBe(shown);
  });

  it('is rounded to whole ones when no decimals are asked for', () => {
    expect([money('1499.5', 0), money('0.4', 0)]).toEqual(['1,500', '0']);
  });

  it('has a plus only in front of a gain that can be seen', () => {
    expect(['12.345', '-1', '0.001', '0'].map((text) => signed(text))).toEqual(['+12.35', '−1.00', '0.00', '0.00']);
  });

  it('keeps every decimal of a quantity', () => {
    expect(exact('-1234.000000000000000001')).toBe('−1,234.000000000000000001');
  });
});

describe('a moment on the page', () => {
  const now = Date.UTC(2020, 2, 13, 0, 5);
  it('has its day where that is another one', () => {
    expect([when(now - 60_000, now), when(now - 600_000, now)]).toEqual(['00:04:00', '12 Mar 23:55']);
  });
});
