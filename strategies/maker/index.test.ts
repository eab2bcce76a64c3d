import { NEVER, Subject } from 'rxjs';
import type { Depth, Signal } from 'sluice';
import { describe, expect, test } from 'vitest';
import { readParams } from '../../src/strategy/params.ts';
import { btc } from '../../test/kit/builders.ts';
import maker from './index.ts';

const params = { offset: 0.01, refresh: 0.001, quantity: 1, most: 2 };

/** Its quotes after each depth with these best prices, for this position. */
function signals(
  books: readonly (readonly [bid: number, ask: number] | undefined)[],
  held = 0,
  entryPrice = Number.NaN,
): Signal[] {
  const depth = new Subject<Depth>();
  const said: Signal[] = [];
  const signals = maker.signals({
    params: readParams(maker.params, params).values,
    symbol: btc.symbol,
    interval: '1min',
    instrument: btc,
    klines: NEVER,
    klinesOf: () => NEVER,
    trades: NEVER,
    depth,
    ticker: NEVER,
    gaps: NEVER,
    fills: NEVER,
    holding: () => ({ quantity: held, entryPrice, equity: 1_000 }),
  });
  signals.subscribe((signal) => said.push(signal));
  for (const best of books) {
    const [bids, asks] = best === undefined ? [[], []] : [[[best[0], 1] as const], [[best[1], 1] as const]];
    depth.next({ symbol: btc.symbol, time: 0, seenAt: 0, bids, asks });
  }
  return said;
}

const shown = (signal: Signal | undefined): unknown =>
  signal?.kind === 'quotes' && signal.quotes.map(({ side, price, quantity }) => `${side} ${quantity} at ${price}`);

describe('the maker', () => {
  test('buys below the middle while it holds nothing', () => {
    expect(signals([[99, 101]]).map(shown)).toEqual([['BUY 1 at 99']]);
  });

  test('sells above the middle what it holds, and never below what it cost', () => {
    expect(signals([[99, 101]], 0.998, 90).map(shown)).toEqual([['BUY 1 at 99', 'SELL 0.998 at 101']]);
    expect(shown(signals([[99, 101]], 0.998, 200)[0])).toContain('SELL 0.998 at 202');
  });

  test('stops buying when it holds enough', () => {
    expect(signals([[99, 101]], 1.5, 100).map(shown)).toEqual([['SELL 1 at 101']]);
  });

  test('follows the middle only when it has moved far enough', () => {
    expect(
      signals([
        [99, 101],
        [99.05, 101.05],
        [99.2, 101.2],
      ]).length,
    ).toBe(2);
  });

  test('waits while the book has only one side', () => {
    expect(signals([undefined])).toEqual([]);
  });
});
