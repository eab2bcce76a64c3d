import { describe, expect, test } from 'vitest';
import { at, endTexts, fillText, fillTexts, order } from '../../test/kit/fill-builders.ts';
import type { Side, Trade } from '../domain/market.ts';
import { lots } from '../domain/money.ts';
import { rulesets } from './rules.ts';
import { TradeFills, type TradeFillsOptions } from './trade-fills.ts';

const engine = (options: Partial<TradeFillsOptions> = {}): TradeFills =>
  new TradeFills({ instrument: at, rules: rulesets.sluice, ...options });
const print = (side: Side, price: number, quantity: number, time = 0): Trade => ({
  symbol: 'XYZ',
  time,
  price,
  quantity,
  side,
  seenAt: time,
});

describe('MARKET orders on trades', () => {
  test('T1: fill at the worse of the last print before arrival and the first after, plus slippage', () => {
    const fills = engine();
    fills.print(print('BUY', 100.02, 1, 10));
    expect(fills.submit(order(), 20).fills).toEqual([]);
    expect(fillTexts(fills.print(print('BUY', 100.05, 1, 30)))).toEqual(['1 @ 100.08 taker, fee 0.002 X']);
    expect(fills.idle).toBe(true);
  });

  test('the print before counts when it was the worse one', () => {
    const fills = engine();
    fills.print(print('BUY', 100.05, 1));
    fills.submit(order(), 0);
    expect(fillTexts(fills.print(print('BUY', 99, 1)))).toEqual(['1 @ 100.08 taker, fee 0.002 X']);
  });

  test('prints of the other side do not fill them; a SELL mirrors a BUY', () => {
    const fills = engine();
    fills.submit(order({ side: 'SELL' }), 0);
    expect(fills.print(print('BUY', 101, 1)).fills).toEqual([]);
    expect(fillTexts(fills.print(print('SELL', 100, 1)))).toEqual(['1 @ 99.98 taker, fee 0.19996 Z']);
  });

  test('one that waited longer than five seconds for its print says so', () => {
    const rule = (waitMs: number): string | undefined => {
      const fills = engine();
      fills.submit(order(), 0);
      return fills.print(print('BUY', 100, 1, waitMs)).fills[0]?.evidence.rule;
    };
    expect([rule(5000), rule(5001)]).toEqual(['trade-next', 'trade-next-stale']);
  });

  test('one that has filled in part takes only the rest', () => {
    const fills = engine();
    fills.submit(order({ side: 'SELL' }), 0, lots('0.4', at));
    expect(fillTexts(fills.print(print('SELL', 100, 1)))).toEqual(['0.6 @ 99.98 taker, fee 0.119976 Z']);
  });

  test('an amount buys whole lots; one that buys none, or cannot be paid, is canceled', () => {
    const fills = engine({ canPay: () => false });
    fills.submit(order({ id: 'a', amount: '250' }), 0);
    fills.submit(order({ id: 'b', amount: '0.01' }), 0);
    fills.submit(order({ id: 'c' }), 0);
    const step = fills.print(print('BUY', 100, 1));
    expect(fillTexts(step)).toEqual(['2.4995 @ 100.02 taker, fee 0.004999 X']);
    expect(endTexts(step)).toEqual(['a filled', 'b canceled', 'c canceled']);
  });
});

describe('LIMIT orders on trades', () => {
  test('T2: only takers of the other side who go through the price fill, up to their size', () => {
    const fills = engine();
    fills.submit(order({ price: '100', lots: '3' }), 0);
    const prints = [print('SELL', 100, 5), print('SELL', 99.99, 1.2), print('BUY', 99.98, 9), print('SELL', 99.97, 4)];
    expect(prints.map((one) => fills.print(one).fills.map(fillText))).toEqual([
      [],
      ['1.2 @ 100 maker, fee 0.0012 X'],
      [],
      ['1.8 @ 100 maker, fee 0.0018 X'],
    ]);
    expect(fills.idle).toBe(true);
  });

  test('our own orders share a print in the order in which they came', () => {
    const fills = engine();
    fills.submit(order({ id: 'a', side: 'SELL', price: '100', lots: '1' }), 0);
    fills.submit(order({ id: 'b', side: 'SELL', price: '99', lots: '3' }), 0);
    const step = fills.print(print('BUY', 101, 2));
    expect(step.fills.map((fill) => `${fill.order.clientOrderId} ${fill.quantity}`)).toEqual(['a 10000', 'b 10000']);
    expect(endTexts(step)).toEqual(['a filled']);
  });

  test('one that crosses what takers paid last takes at that price plus slippage, unless that was long ago', () => {
    const taken = (agoMs: number): string[] => {
      const fills = engine();
      fills.print(print('BUY', 100, 1, 0));
      return fillTexts(fills.submit(order({ price: '100.02' }), agoMs));
    };
    expect(taken(5000)).toEqual(['1 @ 100.02 taker, fee 0.002 X']);
    expect(taken(5001)).toEqual([]);
  });

  test('what an earlier run has filled does not fill again', () => {
    const fills = engine();
    fills.submit(order({ price: '100', lots: '3' }), 0, lots('2', at));
    expect(fillTexts(fills.print(print('SELL', 99, 9)))).toEqual(['1 @ 100 maker, fee 0.001 X']);
  });

  test('a canceled one never fills', () => {
    const fills = engine();
    fills.submit(order({ price: '100' }), 0);
    expect(endTexts(fills.cancel('a'))).toEqual(['a canceled']);
    expect(fills.print(print('SELL', 90, 9)).fills).toEqual([]);
    expect(fills.cancel('a').ends).toEqual([]);
  });
});
