import type { Holding, Quote, Side } from 'sluice';
import { holding } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { readParams } from '../../src/strategy/params.ts';
import { kline } from '../../test/kit/builders.ts';
import grid from './index.ts';

type Given = Partial<Holding> & { readonly range?: number; readonly params?: Readonly<Record<string, number>> };

/** Quotes at a close of `close`, with lots of 1 and a distance of 1 % between lines unless the test says otherwise. */
function quotesAt(close: number, { range = 0, params = {}, ...held }: Given = {}): readonly Quote[] {
  const { values } = readParams(grid.params, { quantity: 1, maxPosition: 5, minSpacing: 0.01, ...params });
  const signal = grid.decide({ range }, { kline: kline(close), holding: holding(held), params: values });
  if (signal?.kind !== 'quotes') throw new Error('a grid quotes');
  return signal.quotes;
}
const prices = (quotes: readonly Quote[], side: Side): number[] =>
  quotes.filter((quote) => quote.side === side).map(({ price }) => price);
const line = (price: number): number => Math.log(price) / 0.01;

describe('grid', () => {
  test('rests three buys below the market and sells nothing while it holds nothing', () => {
    const quotes = quotesAt(100);
    expect(prices(quotes, 'BUY').map(line).map(Math.round)).toEqual([460, 458, 456]);
    expect(Math.max(...prices(quotes, 'BUY'))).toBeLessThan(100);
    expect(prices(quotes, 'SELL')).toEqual([]);
  });

  test('leaves its orders where they are while the market moves between two lines', () => {
    expect(quotesAt(100.6)).toEqual(quotesAt(100));
    expect(quotesAt(100, { range: 1.2 })).toEqual(quotesAt(100, { range: 0.4 }));
  });

  test('sells what it bought one line above, and buys again two lines below', () => {
    const quotes = quotesAt(98.9, { quantity: 0.998, entryPrice: 99.68 });
    expect(line(99.68)).toBeCloseTo(460.2, 1);
    expect(prices(quotes, 'SELL').map(line).map(Math.round)).toEqual([461]);
    expect(prices(quotes, 'BUY').map(line).map(Math.round)[0]).toBe(458);
    expect(quotes.find(({ side }) => side === 'SELL')?.quantity).toBe(0.998);
  });

  test('does not buy twice on the same line when the market swings around it', () => {
    const quotes = quotesAt(99.6, { quantity: 0.998, entryPrice: 99.68 });
    expect(line(Math.max(...prices(quotes, 'BUY')))).toBeCloseTo(458);
  });

  test('does not buy back on the line where it has just sold', () => {
    const sold = Math.exp(4.61);
    expect(Math.max(...prices(quotesAt(sold * 1.001), 'BUY'))).toBeLessThan(sold * 0.995);
  });

  test('sells everything in as many orders as it bought, fees or not', () => {
    const sells = quotesAt(95, { quantity: 2.994, entryPrice: 98 }).filter(({ side }) => side === 'SELL');
    expect(sells.map(({ quantity }) => quantity.toFixed(5))).toEqual(['0.99800', '0.99800', '0.99800']);
    expect(Math.min(...prices(sells, 'SELL'))).toBeGreaterThan(98);
  });

  test('never offers below what it paid, however far the market has fallen', () => {
    for (const close of [97, 80, 40, 10]) {
      const sells = prices(quotesAt(close, { quantity: 1.996, entryPrice: 98.2 }), 'SELL');
      expect(Math.min(...sells)).toBeGreaterThan(98.2);
    }
  });

  test('stops buying at `maxPosition`', () => {
    expect(prices(quotesAt(100, { quantity: 3.992, entryPrice: 110 }), 'BUY')).toHaveLength(1);
    expect(prices(quotesAt(100, { quantity: 4.99, entryPrice: 110 }), 'BUY')).toHaveLength(0);
  });

  test('doubles the distance between its lines when the market is wild', () => {
    const [first = 0, second = 0] = prices(quotesAt(100, { range: 8 }), 'BUY');
    expect(Math.log(first / second)).toBeCloseTo(0.08);
  });

  test('refuses a limit below one order', () => {
    const { values } = readParams(grid.params, { quantity: 1, maxPosition: 0.5 });
    expect(grid.check?.(values)).toBe('maxPosition (0.5) must be at least quantity (1), or it never buys');
  });
});
