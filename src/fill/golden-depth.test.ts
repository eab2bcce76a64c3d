import { describe, expect, test } from 'vitest';
import { at, endTexts, fillTexts, goldenFees, order } from '../../test/kit/fill-builders.ts';
import { instrument } from '../domain/instrument.ts';
import type { Depth, Level, Side, Trade } from '../domain/market.ts';
import {
  baseUnits,
  Decimal,
  feeOn,
  minus,
  notional,
  noUnits,
  plus,
  priceText,
  ticks,
  units,
  unitsText,
  worsened,
} from '../domain/money.ts';
import { impactOf } from './impact.ts';
import { frontAfter } from './queue.ts';
import { type Rules, rulesets } from './rules.ts';
import { TradeFills } from './trade-fills.ts';

let now = 0;
const engine = (rules: Partial<Rules> = {}): TradeFills =>
  new TradeFills({ instrument: at, rules: { ...rulesets.sluice, ...rules } });
const book = (asks: readonly Level[], bids: readonly Level[] = [], time = ++now): Depth => ({
  symbol: 'XYZ',
  time,
  bids,
  asks,
  seenAt: time,
});
const print = (side: Side, price: number, quantity: number, time = ++now): Trade => ({
  symbol: 'XYZ',
  time,
  price,
  quantity,
  side,
  seenAt: time,
});
const threeAsks: readonly Level[] = [
  [100, 1],
  [100.1, 2],
  [100.2, 5],
];

describe('the golden fills on trades and depth', () => {
  test('D1, D2: a MARKET BUY walks the levels, and what it took stays taken until the level changes', () => {
    const fills = engine();
    fills.book(book(threeAsks));
    const step = fills.submit(order({ amount: '350' }), now);
    expect(fillTexts(step)).toEqual([
      '1 @ 100 taker, fee 0.002 X',
      '2 @ 100.1 taker, fee 0.004 X',
      '0.497 @ 100.2 taker, fee 0.000994 X',
    ]);
    const spent = step.fills.reduce((sum, { price, quantity }) => plus(sum, notional(price, quantity, at)), noUnits);
    const bought = step.fills.reduce((sum, { quantity }) => plus(sum, baseUnits(quantity, at)), noUnits);
    expect([spent, bought, feeOn(bought, goldenFees.taker)].map(unitsText)).toEqual(['349.9994', '3.497', '0.006994']);
    expect(unitsText(minus(units('350'), spent))).toBe('0.0006');
    expect(new Decimal(unitsText(spent)).div(unitsText(bought)).toFixed(6)).toBe('100.085616');
    expect(endTexts(step)).toEqual(['a filled']);
    fills.book(
      book([
        [100, 1],
        [100.1, 3],
      ]),
    );
    expect(fillTexts(fills.submit(order({ amount: '100.10' }), now))).toEqual(['1 @ 100.1 taker, fee 0.002 X']);
  });

  const queued = (rules: Partial<Rules> = {}): TradeFills => {
    const fills = engine(rules);
    fills.book(book([], [[100, 100]]));
    fills.submit(order({ price: '100', lots: '50' }), now);
    return fills;
  };
  const sold = (fills: TradeFills, ...sizes: readonly number[]): string[][] =>
    sizes.map((size) => fillTexts(fills.print(print('SELL', 100, size))));

  test('D3: of prints at its price only what goes beyond the queue fills', () => {
    const fills = queued();
    const steps = sold(fills, 80, 30, 50);
    expect(steps).toEqual([[], ['10 @ 100 maker, fee 0.01 X'], ['40 @ 100 maker, fee 0.04 X']]);
    expect(fills.idle).toBe(true);
  });

  test('D4: a level that displays less than the queue shortens it', () => {
    const fills = queued();
    fills.book(book([], [[100, 60]]));
    const step = fills.print(print('SELL', 100, 70));
    expect(fillTexts(step)).toEqual(['10 @ 100 maker, fee 0.01 X']);
    expect(step.fills[0]?.evidence).toMatchObject({ rule: 'depth-queue', queueAhead: 60 });
  });

  test('D5: the power model of hftbacktest moves the queue by its chance', () => {
    const change = { front: 60, before: 200, now: 150, printed: 0 };
    expect(frontAfter({ kind: 'power', n: 1 }, change)).toBe(45);
    expect(frontAfter({ kind: 'power', n: 3 }, change)).toBeCloseTo(56.351351, 6);
  });

  test('D6: what the book cannot fill goes at its last level made worse', () => {
    const fills = engine();
    fills.book(
      book(
        [],
        [
          [99.9, 1],
          [99.8, 1],
        ],
      ),
    );
    const step = fills.submit(order({ side: 'SELL', lots: '3' }), now);
    expect(step.fills.map((fill) => `${priceText(fill.price, at)} ${fill.evidence.rule}`)).toEqual([
      '99.9 depth-walk',
      '99.8 depth-walk',
      '99.3 depth-beyond-book',
    ]);
  });

  test('D7: a LIMIT takes what is within its price and rests with what is left', () => {
    const fills = engine();
    fills.book(book(threeAsks));
    const step = fills.submit(order({ price: '100.10', lots: '5' }), now);
    expect(fillTexts(step)).toEqual(['1 @ 100 taker, fee 0.002 X', '2 @ 100.1 taker, fee 0.004 X']);
    expect([step.ends, fills.idle]).toEqual([[], false]);
    // Nobody displays a bid there: it is the first in its queue.
    expect(fillTexts(fills.print(print('SELL', 100.1, 3)))).toEqual(['2 @ 100.1 maker, fee 0.002 X']);
  });

  test('D8: a stop seen 100 ms and acted upon 250 ms later sells into the book of that moment', () => {
    const fills = engine();
    fills.book(book([], [[94.8, 3]], 0));
    fills.print(print('SELL', 94.9, 1, 0));
    fills.book(book([], [[94.7, 2]], 200));
    expect(fillTexts(fills.submit(order({ side: 'SELL' }), 250))).toEqual(['1 @ 94.7 taker, fee 0.1894 Z']);
  });

  test('I1: the square root of its share of a day moves the price', () => {
    const fraction = impactOf({ kind: 'squareRoot', y: 1, from: 0.001 }, 10, {
      liquidity: { volume: 10_000, deviation: 0.04 },
      klineVolume: 0,
    });
    // 12.6491 basis points.
    expect(fraction).toBe(126491n);
    expect(priceText(worsened('BUY', ticks('100', at), fraction), at)).toBe('100.13');
  });

  test("Z1: zipline's share of the volume moves the price", () => {
    const fraction = impactOf({ kind: 'volumeShare', impact: 0.1, maxShare: 0.025 }, 5, {
      liquidity: undefined,
      klineVolume: 200,
    });
    const fine = instrument({ symbol: 'A', base: 'A', quote: 'B', pricePrecision: 7, quantityPrecision: 0 });
    expect(priceText(worsened('BUY', ticks('3', fine), fraction), fine)).toBe('3.0001875');
  });
});

describe('the book beyond the golden fills', () => {
  test('an order beyond the displayed levels waits for nobody knows how many, until its level is displayed', () => {
    const fills = engine();
    fills.book(book([], [[100, 1]]));
    fills.submit(order({ price: '99' }), now);
    expect(fills.print(print('SELL', 99, 50)).fills).toEqual([]);
    fills.book(
      book(
        [],
        [
          [100, 1],
          [99, 3],
        ],
      ),
    );
    expect(fillTexts(fills.print(print('SELL', 99, 3.5)))).toEqual(['0.5 @ 99 maker, fee 0.0005 X']);
  });

  test('a print through its price leaves nobody before an order', () => {
    const fills = engine();
    fills.book(book([], [[100, 10]]));
    fills.submit(order({ price: '100', lots: '5' }), now);
    expect(fillTexts(fills.print(print('SELL', 99.99, 1)))).toEqual(['1 @ 100 maker, fee 0.001 X']);
    expect(fillTexts(fills.print(print('SELL', 100, 2)))).toEqual(['2 @ 100 maker, fee 0.002 X']);
  });

  test('a book that is too old says nothing: a MARKET order waits for a print', () => {
    const fills = engine();
    fills.book(book(threeAsks, [], 0));
    expect(fills.submit(order(), 3001).fills).toEqual([]);
    expect(fills.print(print('BUY', 100, 1, 3002)).fills[0]?.evidence.rule).toBe('trade-next');
  });

  test('the other side at its price fills a resting order as far as it displays, and not twice', () => {
    const fills = engine();
    fills.book(book([[101, 1]], [[99, 1]]));
    fills.submit(order({ price: '100', lots: '2' }), now);
    const step = fills.book(book([[100, 1.5]], [[99, 1]]));
    expect(fillTexts(step)).toEqual(['1.5 @ 100 maker, fee 0.0015 X']);
    expect(step.fills[0]?.evidence.rule).toBe('depth-crossed');
    expect(fills.book(book([[100, 1.5]], [[99, 1]])).fills).toEqual([]);
  });

  test('inside a hole of the trades nothing fills; what waited goes on with the first event after it', () => {
    const fills = engine();
    fills.book(book(threeAsks, [], 0));
    fills.gap(10_000);
    expect(fills.submit(order(), 1).fills).toEqual([]);
    expect(fills.book(book(threeAsks, [], 9_999)).fills).toEqual([]);
    expect(fillTexts(fills.book(book(threeAsks, [], 10_000)))).toEqual(['1 @ 100 taker, fee 0.002 X']);
  });

  test('a touch fills by chance where a rule says so, the same way each time and whatever else rests', () => {
    const touched = (others: number): string[] => {
      const fills = engine({ touchChance: 0.5 });
      for (let other = 0; other < others; other++)
        fills.submit(order({ id: `other${other}`, price: '99', lots: '9' }), 0);
      for (let id = 0; id < 40; id++) fills.submit(order({ id: `x${id}`, price: '100' }), 0);
      return fills.print(print('SELL', 100, 1_000, 1)).fills.map((fill) => fill.order.clientOrderId);
    };
    expect(touched(3)).toEqual(touched(0));
    expect(touched(0).length).toBeGreaterThan(8);
    expect(touched(0).length).toBeLessThan(32);
  });

  test('cancels before and behind: prints count once although the level falls by them, too', () => {
    const fills = engine({ queue: { kind: 'power', n: 1 } });
    fills.book(book([], [[100, 100]]));
    fills.submit(order({ price: '100' }), now);
    fills.print(print('SELL', 100, 30));
    // 70 left by prints alone: nobody canceled.
    fills.book(book([], [[100, 70]]));
    expect(fills.print(print('SELL', 100, 70.5)).fills[0]?.evidence.queueAhead).toBe(70);
  });
});
