import { describe, expect, it } from 'vitest';
import { denialText, grouped, roundedMoney } from './words.ts';

describe('a denial in words', () => {
  it('says what was judged and by which numbers', () => {
    const facts = { value: '12400.512345678901234567', maxOrderValue: '10000' };
    expect(denialText({ code: 'orderValue', facts })).toBe('The order is worth 12,400.51234567; the limit is 10,000.');
    expect(denialText({ code: 'staleData', facts: { ageMs: 8_400, maxDataAgeMs: 5_000 } })).toBe(
      'The last price is 8.4 s old; the limit is 5 s.',
    );
    // As the limit is configured, however fast the exchange's clock runs.
    expect(denialText({ code: 'staleData', facts: { ageMs: 1_218_981, maxDataAgeMs: 600_000 } }, 60)).toBe(
      'The last price is 20.316 s old; the limit is 10 s.',
    );
    expect(denialText({ code: 'staleData', facts: { ageMs: 'never seen', maxDataAgeMs: 5_000 } })).toBe(
      'No price has been seen yet.',
    );
    expect(denialText({ code: 'minimum', facts: { value: '4.98', minNotional: '5' } })).toBe(
      "At its limit price the order is worth 4.98; the exchange's minimum is 5.",
    );
  });

  it('says since when and by whom trading is killed', () => {
    const facts = { since: Date.UTC(2020, 2, 12, 11, 20), by: 'dailyLoss', reason: 'lost 5,100 since midnight UTC' };
    expect(denialText({ code: 'killed', facts })).toBe(
      'Trading was killed at 2020-03-12 11:20:00 UTC by dailyLoss: lost 5,100 since midnight UTC.',
    );
  });

  it('names as the least order only what the symbol has', () => {
    const said = (minQuantity: string, minNotional: string): string =>
      denialText({ code: 'belowMinimum', facts: { quantity: '0.001', value: '3', minQuantity, minNotional } });
    expect(said('0', '5')).toBe(
      '0.001 worth 3 is below the minimum order: the exchange takes no order worth less than 5. Sluice orders it when it is large enough.',
    );
    expect(said('0.01', '0')).toContain('the exchange takes no order below 0.01. Sluice');
    expect(said('0.01', '5')).toContain('the exchange takes no order below 0.01 or worth less than 5. Sluice');
    expect(said('0', '0')).toContain('it is less than one step of the quantity. Sluice');
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

  it('is an amount rounded to the cent, half a cent away from zero, however large', () => {
    expect(roundedMoney('79908.7188165')).toBe('79,908.72');
    expect(roundedMoney('9245.045')).toBe('9,245.05');
    expect(roundedMoney('-9245.045')).toBe('-9,245.05');
    expect(roundedMoney('999.995')).toBe('1,000.00');
    expect(roundedMoney('90071992547409930.984999999999999999')).toBe('90,071,992,547,409,930.98');
    expect(roundedMoney('0.5')).toBe('0.50');
    expect(roundedMoney('-0.004')).toBe('0.00');
    expect(roundedMoney('100000')).toBe('100,000');
  });
});
