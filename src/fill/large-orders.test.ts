import { describe, expect, test } from 'vitest';
import { at, endTexts, engine, fillTexts, kline, order, stopAt } from '../../test/kit/fill-builders.ts';
import { rateOf } from '../domain/money.ts';
import { impactOf, type Liquidity } from './impact.ts';
import { rulesets } from './rules.ts';
import { TradeFills } from './trade-fills.ts';

/** Half a spread aside, so that impact is all there is. */
const rules = { ...rulesets.sluice, halfSpread: rulesets.plain.halfSpread, slippage: rulesets.plain.slippage };
/** 10 is 0.1 % of a day, which moves the price by 4 % × √0.001, that is 12.6491 bp. */
const usual: Liquidity = { volume: 10_000, deviation: 0.04 };
const onKlines = (liquidity: Liquidity = usual) => engine({ rules, liquidity: () => liquidity });
const steady = (volume = 1_000) => kline(100, 101, 99, 100, volume);

describe('on klines', () => {
  test('I1: a MARKET order of a thousandth of a day moves its price, one of a lot less does not', () => {
    const fills = onKlines();
    fills.submit(order({ id: 'a', lots: '10' }));
    fills.submit(order({ id: 'b', lots: '9.9999' }));
    fills.submit(order({ id: 'c', side: 'SELL', lots: '10' }));
    const step = fills.open(steady());
    expect(fillTexts(step)).toEqual([
      '10 @ 100.13 taker, fee 0.02 X',
      '9.9999 @ 100 taker, fee 0.0199998 X',
      '10 @ 99.87 taker, fee 1.9974 Z',
    ]);
    expect(step.fills.map(({ evidence }) => evidence)).toEqual([
      { rule: 'kline-open', dayShare: 0.001, unmoved: '100' },
      { rule: 'kline-open' },
      { rule: 'kline-open', dayShare: 0.001, unmoved: '100' },
    ]);
  });

  test('an amount buys the less for it', () => {
    const fills = onKlines();
    fills.submit(order({ amount: '4000' }));
    // 40 of a day: 4 % × √0.004 is 25.2982 bp.
    expect(fillTexts(fills.open(steady()))).toEqual(['39.8962 @ 100.26 taker, fee 0.0797924 X']);
  });

  test('a LIMIT that crosses pays for its size, but never more than its limit', () => {
    const fills = onKlines();
    fills.submit(order({ id: 'a', lots: '10', price: '102' }));
    fills.submit(order({ id: 'b', lots: '10', price: '100.05' }));
    expect(fillTexts(fills.open(steady()))).toEqual(['10 @ 100.13 taker, fee 0.02 X', '10 @ 100.05 taker, fee 0.02 X']);
  });

  test('a stop pays for its size, too; what rests does not', () => {
    const fills = onKlines();
    fills.submit(order({ id: 'rests', lots: '20', price: '99.5' }));
    const row = steady();
    fills.open(row);
    const [hit] = fills.triggers(row, [stopAt('100')]);
    if (hit === undefined) throw new Error('the stop was not hit');
    const stopped = fills.fillStop(row, order({ id: 'stop', side: 'SELL', lots: '10' }), hit);
    expect(fillTexts(stopped)).toEqual(['10 @ 99.87 taker, fee 1.9974 Z']);
    expect(fillTexts(fills.rest(row))).toEqual(['20 @ 99.5 maker, fee 0.02 X']);
  });

  test('where too few days are known it fills as if it were small, and says so', () => {
    const fills = onKlines({ volume: 500, deviation: undefined });
    fills.submit(order({ lots: '100' }));
    const step = fills.open(steady());
    expect(fillTexts(step)).toEqual(['100 @ 100 taker, fee 0.2 X']);
    expect(step.fills[0]?.evidence).toEqual({ rule: 'kline-open', dayShare: 0.2 });
  });

  test('where nobody says what usually trades, nothing is large', () => {
    const fills = engine({ rules });
    fills.submit(order({ lots: '100' }));
    expect(fills.open(steady()).fills[0]?.evidence).toEqual({ rule: 'kline-open' });
  });

  test('a purchase that its own impact makes too expensive is canceled', () => {
    const fills = engine({ rules, liquidity: () => usual, canPay: (_, price) => price <= 10_000n });
    fills.submit(order({ id: 'a', lots: '9' }));
    fills.submit(order({ id: 'b', lots: '10' }));
    expect(endTexts(fills.open(steady()))).toEqual(['a filled', 'b canceled']);
  });
});

describe('on trades and books', () => {
  const onTape = () => new TradeFills({ instrument: at, rules, liquidity: () => usual });
  const print = (fills: TradeFills, time: number) =>
    fills.print({ symbol: 'XYZ', side: 'BUY', price: 100, quantity: 1, time, seenAt: time });

  test('a MARKET order moves the price of the print that it fills by, as does a LIMIT that crosses the last one', () => {
    const fills = onTape();
    fills.submit(order({ lots: '10' }), 0);
    expect(fillTexts(print(fills, 1))).toEqual(['10 @ 100.13 taker, fee 0.02 X']);
    expect(fillTexts(fills.submit(order({ lots: '10', price: '100.05' }), 2))).toEqual([
      '10 @ 100.05 taker, fee 0.02 X',
    ]);
  });

  test('a book that is walked has its price already', () => {
    const fills = onTape();
    fills.book({ symbol: 'XYZ', bids: [[99, 1]], asks: [[100, 50]], time: 0, seenAt: 0 });
    const step = fills.submit(order({ lots: '10' }), 1);
    expect(fillTexts(step)).toEqual(['10 @ 100 taker, fee 0.02 X']);
    expect(step.fills[0]?.evidence).toEqual({ rule: 'depth-walk', eventSeq: 1, participation: 0.2 });
  });
});

test('without volume a share of the volume counts as the most that there is', () => {
  const model = { kind: 'volumeShare', impact: 0.1, maxShare: 0.025 } as const;
  const moved = (klineVolume: number) => impactOf(model, 1, { liquidity: undefined, klineVolume });
  expect(moved(100)).toBe(rateOf(0.1 * 0.01 ** 2));
  expect([moved(10), moved(0)]).toEqual(Array(2).fill(rateOf(0.1 * 0.025 ** 2)));
});
