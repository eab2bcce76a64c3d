import { describe, expect, test } from 'vitest';
import {
  at,
  endTexts,
  engine,
  fillText,
  fillTexts,
  goldenFees,
  kline,
  order,
  run,
  stopAt,
} from '../../test/kit/fill-builders.ts';
import { baseUnits, minus, notional, priceText, ticks, unitsText } from '../domain/money.ts';
import { couldBeBetterBy, couldBeWorseBy } from './ambiguity.ts';
import { feeOf } from './fees.ts';
import { firstOf } from './kline-path.ts';
import { rulesets } from './rules.ts';

describe('the golden fills on klines', () => {
  test('K1: a MARKET BUY for an amount fills at the next open, half a spread up, in whole lots', () => {
    const fills = engine();
    fills.submit(order({ amount: '1000' }));
    const step = fills.open(kline(101, 102, 100.5, 101.5, 50));
    const [fill] = step.fills;
    if (fill === undefined) throw new Error('no fill');
    expect(fillText(fill)).toBe('9.8951 @ 101.06 taker, fee 0.0197902 X');
    expect(unitsText(notional(fill.price, fill.quantity, at))).toBe('999.998806');
    const net = minus(baseUnits(fill.quantity, at), feeOf(fill, goldenFees, 'received', at).fee);
    expect(unitsText(net)).toBe('9.8753098');
    expect(endTexts(step)).toEqual(['a filled']);
  });

  test('K2: a touch does not fill a resting BUY', () => {
    const fills = engine();
    fills.submit(order({ price: '99.50', lots: '2' }));
    expect(run(fills, kline(100, 100.5, 99.5, 100, 50))).toEqual([]);
    expect(fills.idle).toBe(false);
  });

  test('K3: a tick beyond fills up to a tenth of the volume, the rest carries over', () => {
    const fills = engine();
    fills.submit(order({ price: '99.50', lots: '2' }));
    const first = run(fills, kline(100, 100.5, 99.49, 100, 12));
    const second = run(fills, kline(100, 100, 99.4, 99.9, 100));
    expect(first.map(fillText)).toEqual(['1.2 @ 99.5 maker, fee 0.0012 X']);
    expect(second.map(fillText)).toEqual(['0.8 @ 99.5 maker, fee 0.0008 X']);
    expect(fills.idle).toBe(true);
  });

  test('K4: price gaps through a resting BUY: it fills at its own price, not at the open', () => {
    const fills = engine();
    fills.submit(order({ price: '99.50', lots: '2' }));
    run(fills, kline(100, 100.5, 99.8, 100, 100));
    expect(run(fills, kline(98, 98.6, 97.5, 98.2, 100)).map(fillText)).toEqual(['2 @ 99.5 maker, fee 0.002 X']);
  });

  test('K5: a LIMIT that crosses the open takes at the open, half a spread up', () => {
    const fills = engine();
    fills.submit(order({ price: '102' }));
    expect(fillTexts(fills.open(kline(101, 102, 100, 101, 50)))).toEqual(['1 @ 101.06 taker, fee 0.002 X']);
  });

  test('a LIMIT that shall not take and crosses the open rests there, and fills at its own price', () => {
    const fills = engine();
    fills.submit({ ...order({ price: '102', lots: '2' }), postOnly: true });
    const row = kline(101, 102, 100, 101, 10);
    expect(fills.open(row).fills).toEqual([]);
    // A tenth of the volume, and the maker's fee: 1 × 0.001.
    expect(fillTexts(fills.rest(row))).toEqual(['1 @ 102 maker, fee 0.001 X']);
    fills.pause();
    expect(run(fills, kline(103, 104, 102, 103, 50)).map(fillText)).toEqual([]);
    expect(run(fills, kline(103, 104, 101.99, 103, 50)).map(fillText)).toEqual(['1 @ 102 maker, fee 0.001 X']);
  });

  test('K6: a stop fills half-way to the low, half a spread down', () => {
    const sold = run(engine(), kline(96, 96.5, 94, 95.5, 50), [stopAt('95')]);
    expect(sold.map(fillText)).toEqual(['1 @ 94.45 taker, fee 0.1889 Z']);
  });

  test('K7: an open beyond the stop fills at the open, half a spread down', () => {
    const sold = run(engine(), kline(90, 91, 89, 90, 50), [stopAt('95')]);
    expect(sold.map(fillText)).toEqual(['1 @ 89.95 taker, fee 0.1799 Z']);
  });

  test('K8: stop and target in one kline: the stop comes first, the kline counts as ambiguous, the band reaches the target', () => {
    const fills = engine();
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, kline(100, 100.5, 99.5, 100, 50), [stopAt('97')]);
    const [sold, ...others] = run(fills, kline(100, 104, 96, 101, 50), [stopAt('97')]);
    if (sold === undefined) throw new Error('no fill');
    expect(others).toEqual([]);
    expect(priceText(sold.price, at)).toBe('96.45');
    expect(sold.evidence.ambiguous).toBe(true);
    expect(priceText(sold.bestPrice ?? sold.price, at)).toBe('103');
    expect(fills.ambiguousKlines).toBe(1);
    // 103.00 - 96.45, and a maker's fee of 0.103 in place of a taker's 0.1929.
    expect(unitsText(couldBeBetterBy(sold, goldenFees, at))).toBe('6.6399');
  });

  test('K9: finer klines decide what the coarse one left open', () => {
    const fills = engine();
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, kline(100, 100.5, 99.5, 100, 50), [stopAt('97')]);
    const sold = run(fills, kline(100, 104, 99.9, 103.5, 10), [stopAt('97')]);
    expect(sold.map(fillText)).toEqual(['1 @ 103 maker, fee 0.103 Z']);
    expect(fills.ambiguousKlines).toBe(0);
  });

  test('K9 within K8: sub-klines of an ambiguous kline say that the target came first', () => {
    const subs = [kline(100, 104, 99.9, 103.5, 10, 0), kline(103.5, 103.5, 96, 101, 40, 1)];
    const fills = engine({ finer: () => subs });
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, kline(100, 100.5, 99.5, 100, 50), [stopAt('97')]);
    const row = kline(100, 104, 96, 101, 50);
    fills.open(row);
    expect(fills.triggers(row, [stopAt('97')])).toEqual([]);
    expect(fillTexts(fills.rest(row))).toEqual(['1 @ 103 maker, fee 0.103 Z']);
    expect(fills.ambiguousKlines).toBe(0);
  });

  test('sub-klines of which the first reaches the stop say at what price, and leave nothing ambiguous', () => {
    const fills = engine({ finer: () => [kline(100, 100, 96.8, 97, 10, 0), kline(97, 104, 96, 101, 40, 1)] });
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, kline(100, 100.5, 99.5, 100, 50), [stopAt('97')]);
    // Half-way from 97 to 96.80, half a spread down; the whole kline would give 96.45.
    expect(run(fills, kline(100, 104, 96, 101, 50), [stopAt('97')]).map(fillText)).toEqual([
      '1 @ 96.85 taker, fee 0.1937 Z',
    ]);
    expect(fills.ambiguousKlines).toBe(0);
  });

  test.for([
    ['pessimistic', 'stop'],
    ['OHLC', 'target'],
    ['OLHC', 'stop'],
    // 4 up and 4 down: nobody knows.
    ['nearest', 'stop'],
  ] as const)('K8 along the path %s: the %s comes first', ([path, first]) => {
    const fills = engine({ rules: { ...rulesets.sluice, path } });
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, kline(100, 100.5, 99.5, 100, 50), [stopAt('97')]);
    const row = kline(100, 104, 96, 101, 50);
    fills.open(row);
    expect(fills.triggers(row, [stopAt('97')]).length).toBe(first === 'stop' ? 1 : 0);
  });

  test('the nearest extreme comes first', () => {
    const of = (high: number, low: number): string[] =>
      (['SELL', 'BUY'] as const).map((side) =>
        firstOf('nearest', { open: 100, high, low }, side, side === 'SELL' ? 101 : 99),
      );
    expect([of(101, 98), of(102, 99)]).toEqual([
      ['assumedTarget', 'stop'],
      ['stop', 'assumedTarget'],
    ]);
    // 0.02 up and 0.02 down, which are not the same as floating numbers.
    expect(firstOf('nearest', { open: 98.71, high: 98.73, low: 98.69 }, 'SELL', 98.72)).toBe('stop');
  });

  test('K8 by a chosen path: the target fills, and the kline stays ambiguous with the stop as the worse end', () => {
    const fills = engine({ rules: { ...rulesets.sluice, path: 'OHLC' } });
    fills.submit(order({ side: 'SELL', price: '103' }));
    fills.open(kline(100, 101, 99.5, 100, 50));
    fills.pause();
    const here = kline(100, 104, 96, 101, 50, 1);
    fills.open(here);
    expect(fills.triggers(here, [stopAt('97')])).toEqual([]);
    const [sold] = fills.rest(here).fills;
    if (sold === undefined) throw new Error('nothing was sold');
    expect(priceText(sold.price, at)).toBe('103');
    expect(priceText(sold.worstPrice ?? sold.price, at)).toBe('96.45');
    expect(sold.evidence).toEqual({ rule: 'kline-rest-path', ambiguous: true });
    expect(fills.ambiguousKlines).toBe(1);
    expect(unitsText(couldBeWorseBy(sold, goldenFees, at))).toBe('6.6399');
    expect(unitsText(couldBeBetterBy(sold, goldenFees, at))).toBe('0');
  });

  test('K10: what was entered inside a kline may be stopped there but not take its profit', () => {
    const fills = engine();
    const row = kline(100, 101, 98.5, 99.8, 50);
    fills.submit(order({ price: '99' }));
    fills.open(row);
    expect(fillTexts(fills.rest(row))).toEqual(['1 @ 99 maker, fee 0.001 X']);
    fills.submit(order({ id: 'target', side: 'SELL', price: '100.50' }));
    expect(fills.triggers(row, [stopAt('97.50')])).toEqual([]);
    expect(fills.triggers(row, [stopAt('98.60')]).map((hit) => priceText(hit.price, at))).toEqual(['98.5']);
    expect(fills.idle).toBe(false);
  });

  test.each([
    ['at market, at the open', {}, 'open'],
    ['by a limit inside', { price: '99' }, 'rest'],
  ])(
    'K10: a stop in the kline that entered %s is in doubt where the take-profit lies in it, too',
    (_, given, phase) => {
      const fills = engine();
      const row = kline(100, 101, 97, 99.8, 50);
      fills.submit(order(given));
      expect(fills.open(row).fills).toHaveLength(phase === 'open' ? 1 : 0);
      if (phase === 'rest') expect(fills.rest(row).fills).toHaveLength(1);
      const [hit] = fills.triggers(row, [{ ...stopAt('97.50'), soon: ticks('100.50', at) }]);
      expect(hit?.evidence).toEqual({ rule: 'kline-stop', ambiguous: true });
      expect(hit?.bestPrice).toBe(ticks('100.50', at));
      const [beyond] = fills.triggers(row, [{ ...stopAt('97.50'), soon: ticks('101.00', at) }]);
      expect(beyond?.evidence).toEqual({ rule: 'kline-stop' });
    },
  );

  test('K11: two take-profits that one kline reaches share its volume, the nearer one first', () => {
    const fills = engine();
    fills.submit(order({ id: 'near', side: 'SELL', price: '101', lots: '3' }));
    fills.submit(order({ id: 'far', side: 'SELL', price: '102', lots: '3' }));
    const first = run(fills, kline(100, 103, 99.5, 100, 50));
    const second = run(fills, kline(100, 103, 99.5, 100, 50));
    expect(first.map(fillText)).toEqual(['3 @ 101 maker, fee 0.303 Z', '2 @ 102 maker, fee 0.204 Z']);
    expect(second.map(fillText)).toEqual(['1 @ 102 maker, fee 0.102 Z']);
    expect(fills.idle).toBe(true);
  });
});
