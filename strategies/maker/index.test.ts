import { NEVER, Subject } from 'rxjs';
import type { Depth, Signal } from 'sluice';
import { holding } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { readParams } from '../../src/strategy/params.ts';
import { btc } from '../../test/kit/builders.ts';
import maker from './index.ts';

const params = { offset: 0.01, risk: 0, refresh: 0.001, quantity: 1, maxPosition: 2 };
type Given = Partial<typeof params & { readonly horizon: number; readonly patient: boolean }>;

/** Its quotes after each depth with these best prices, for this position. */
function signals(
  books: readonly (readonly [bid: number, ask: number] | undefined)[],
  held = 0,
  entryPrice = Number.NaN,
  given: Given = {},
): Signal[] {
  const depth = new Subject<Depth>();
  const said: Signal[] = [];
  const signals = maker.signals({
    params: readParams(maker.params, { ...params, ...given }).values,
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
    holding: () => holding({ quantity: held, entryPrice, equity: 1_000 }),
  });
  signals.subscribe((signal) => said.push(signal));
  for (const [second, best] of books.entries()) {
    const [bids, asks] = best === undefined ? [[], []] : [[[best[0], 1] as const], [[best[1], 1] as const]];
    depth.next({ symbol: btc.symbol, time: second * 1_000, seenAt: second * 1_000, bids, asks });
  }
  return said;
}

const shown = (signal: Signal | undefined): unknown =>
  signal?.kind === 'quotes' && signal.quotes.map(({ side, price, quantity }) => `${side} ${quantity} at ${price}`);

describe('the maker', () => {
  test('buys below the middle while it holds nothing', () => {
    expect(signals([[99, 101]]).map(shown)).toEqual([['BUY 1 at 99']]);
  });

  test('sells above the middle what it holds, and never below its cost when it is patient', () => {
    expect(signals([[99, 101]], 0.998, 90).map(shown)).toEqual([['BUY 1 at 99', 'SELL 0.998 at 101']]);
    expect(shown(signals([[99, 101]], 0.998, 200)[0])).toContain('SELL 0.998 at 101');
    expect(shown(signals([[99, 101]], 0.998, 200, { patient: true })[0])).toContain('SELL 0.998 at 202');
  });

  test('stops buying when it holds enough', () => {
    expect(signals([[99, 101]], 1.5, 100).map(shown)).toEqual([['SELL 1 at 101']]);
  });

  test('has the reservation price and the spread of equations (29) and (30)', () => {
    const given = { risk: 50, horizon: 10, refresh: 0, maxPosition: 9 };
    const [bid = '', ask = ''] = shown(
      signals(
        [
          [99, 101],
          [100, 102],
        ] as const,
        3,
        100,
        given,
      ).at(-1),
    ) as readonly string[];
    const variance = Math.log(101 / 100) ** 2;
    const reservation = 101 - 101 * 3 * 50 * variance;
    const half = (101 * (50 * variance + (2 / 50) * Math.log(1 + 50 * 0.01))) / 2;
    const priceOf = (text: string): number => Number(text.split(' at ')[1]);
    expect([priceOf(bid), priceOf(ask)]).toEqual([
      expect.closeTo(reservation - half),
      expect.closeTo(reservation + half),
    ]);
  });

  test('forgets moves that are older than its horizon', () => {
    const given = { risk: 50, horizon: 1, refresh: 0 };
    const calm = Array.from({ length: 60 }, () => [100, 102] as const);
    expect(shown(signals([[99, 101], ...calm], 1, 100, given).at(-1))).toEqual(
      shown(signals([[100, 102]], 1, 100, given).at(-1)),
    );
  });

  test('never sells at the best bid, however much it holds', () => {
    const given = { risk: 1_000_000, refresh: 0 };
    expect(
      shown(
        signals(
          [
            [99, 101],
            [100, 102],
          ] as const,
          2,
          100,
          given,
        ).at(-1),
      ),
    ).toEqual(['SELL 1 at 100.01']);
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
