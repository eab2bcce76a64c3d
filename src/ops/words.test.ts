import { describe, expect, it } from 'vitest';
import { denialText, grouped } from './words.ts';

describe('a denial in words', () => {
  it('says what was judged and by which numbers', () => {
    const facts = { value: '12400.512345678901234567', maxOrderValue: '10000' };
    expect(denialText({ code: 'orderValue', facts })).toBe(
      'The order is worth 12,400.51234567, one order may be worth at most 10,000.',
    );
    expect(denialText({ code: 'staleData', facts: { ageMs: 8_400, maxDataAgeMs: 5_000 } })).toBe(
      'The last price is 8.4 s old, at most 5 s are allowed.',
    );
    expect(denialText({ code: 'staleData', facts: { ageMs: 'never seen', maxDataAgeMs: 5_000 } })).toBe(
      'No price has been seen yet.',
    );
  });

  it('says since when and by whom trading is killed', () => {
    const facts = { since: Date.UTC(2020, 2, 12, 11, 20), by: 'dailyLoss', reason: 'lost 5,100 since midnight UTC' };
    expect(denialText({ code: 'killed', facts })).toBe(
      'Trading is killed since 2020-03-12 11:20:00 UTC by dailyLoss: lost 5,100 since midnight UTC.',
    );
  });

  it('lists the facts of a rule that has no sentence', () => {
    expect(denialText({ code: 'maxOpenOrders', facts: { openOrders: 12, limit: 10 } })).toBe(
      'Denied by max open orders: open orders 12, limit 10.',
    );
  });
});

describe('a number for the eye', () => {
  it('has its thousands grouped and its decimals kept', () => {
    expect(grouped('-1234567.80')).toBe('-1,234,567.80');
    expect(grouped(999)).toBe('999');
    expect(grouped('XBTUSD')).toBe('XBTUSD');
  });
});
