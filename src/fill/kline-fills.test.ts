import { describe, expect, test } from 'vitest';
import { at, endTexts, engine, fillText, fillTexts, kline, order, run, stopAt } from '../../test/kit/fill-builders.ts';
import { priceText } from '../domain/money.ts';
import { rulesets } from './rules.ts';

const flatKline = (price: number, volume = 100) => kline(price, price, price, price, volume);

describe('MARKET orders', () => {
  test('what the kline cannot bear is canceled, for all orders together', () => {
    const fills = engine();
    fills.submit(order({ id: 'a', lots: '3' }));
    fills.submit(order({ id: 'b', side: 'SELL', lots: '3' }));
    fills.submit(order({ id: 'c', amount: '1000' }));
    const step = fills.open(flatKline(100, 5));
    expect(fillTexts(step)).toEqual(['3 @ 100.05 taker, fee 0.006 X', '2 @ 99.95 taker, fee 0.3998 Z']);
    expect(endTexts(step)).toEqual(['a filled', 'b canceled', 'c canceled']);
    expect(fills.idle).toBe(true);
  });

  test('a kline without volume cancels them', () => {
    const fills = engine();
    fills.submit(order());
    expect(endTexts(fills.open(flatKline(100, 0)))).toEqual(['a canceled']);
  });

  test('with worseOfOpenAndClose they fill at the worse of open and close', () => {
    const fills = engine({ rules: { ...rulesets.plain, worseOfOpenAndClose: true } });
    fills.submit(order({ id: 'a' }));
    fills.submit(order({ id: 'b', side: 'SELL' }));
    const step = fills.open(kline(100, 102, 99, 101, 10));
    expect(step.fills.map((fill) => priceText(fill.price, at))).toEqual(['101', '100']);
  });

  test('latency of whole klines shifts orders and their cancels alike', () => {
    const fills = engine({ rules: { ...rulesets.sluice, entryLatencyMs: 60_000 } });
    fills.submit(order({ id: 'a' }));
    fills.submit(order({ id: 'b', price: '50' }));
    expect(run(fills, flatKline(100))).toEqual([]);
    expect(run(fills, flatKline(101)).map(fillText)).toEqual(['1 @ 101.06 taker, fee 0.002 X']);
    expect(fills.cancel('b')).toEqual({ fills: [], ends: [] });
    expect(run(fills, flatKline(49)).map(fillText)).toEqual(['1 @ 50 maker, fee 0.001 X']);
    fills.submit(order({ id: 'c', price: '40' }));
    fills.cancel('c');
    run(fills, flatKline(39));
    expect(endTexts(fills.open(flatKline(39)))).toEqual(['c canceled']);
  });

  test('what is cancelled inside a kline, as a target whose stop was hit, does not fill in it whatever the latency', () => {
    const fills = engine({ rules: { ...rulesets.sluice, entryLatencyMs: 60_000 } });
    fills.submit(order({ id: 'target', side: 'SELL', price: '110' }));
    run(fills, flatKline(100));
    const row = kline(100, 120, 80, 100, 100);
    fills.open(row);
    expect(endTexts(fills.cancel('target'))).toEqual(['target canceled']);
    expect(fillTexts(fills.rest(row))).toEqual([]);
  });

  test('a stop of what was entered inside a kline that opened beyond it leaves no earlier than it entered', () => {
    const fills = engine();
    fills.submit(order({ price: '100' }));
    run(fills, flatKline(110));
    const row = flatKline(80);
    fills.open(row);
    const [entry] = fills.rest(row).fills;
    const [hit] = fills.triggers(row, [stopAt('90')]);
    if (entry === undefined || hit === undefined) throw new Error('nothing was entered, or its stop not hit');
    const [exit] = fills.fillStop(row, order({ id: 'stop', side: 'SELL' }), hit).fills;
    expect(hit.evidence.rule).toBe('kline-stop-gap');
    expect([entry.time, exit?.time]).toEqual(Array(2).fill(row.openTime + 59_999));
  });

  test('a cancel that is on its way comes no sooner where it is asked for again inside a kline', () => {
    const fills = engine({ rules: { ...rulesets.sluice, entryLatencyMs: 60_000 } });
    fills.submit(order({ id: 'a', price: '40' }));
    fills.cancel('a');
    fills.open(flatKline(100));
    expect(fills.cancel('a')).toEqual({ fills: [], ends: [] });
    fills.pause();
    expect(endTexts(fills.open(flatKline(100)))).toEqual(['a canceled']);
  });

  test('an order whose cost cannot be paid at the open is canceled unfilled', () => {
    const asked: string[] = [];
    const fills = engine({
      rules: rulesets.plain,
      canPay: (_, price, quantity) => {
        asked.push(`${quantity} @ ${price}`);
        return false;
      },
    });
    fills.submit(order());
    fills.submit(order({ id: 'b', side: 'SELL' }));
    expect(endTexts(fills.open(flatKline(100)))).toEqual(['a canceled', 'b filled']);
    expect(asked).toEqual(['10000 @ 10000']);
  });
});

describe('LIMIT orders', () => {
  test('our own orders share the tenth of the volume in the order in which they came', () => {
    const fills = engine();
    fills.submit(order({ id: 'a', price: '99', lots: '1' }));
    fills.submit(order({ id: 'b', price: '99.5', lots: '5' }));
    expect(run(fills, kline(100, 100, 98, 99, 30)).map(fillText)).toEqual([
      '1 @ 99 maker, fee 0.001 X',
      '2 @ 99.5 maker, fee 0.002 X',
    ]);
  });

  test('one that takes and finds too little volume rests from the next kline on', () => {
    const fills = engine();
    fills.submit(order({ price: '102', lots: '8' }));
    expect(run(fills, kline(101, 101, 90, 101, 5)).map(fillText)).toEqual(['5 @ 101.06 taker, fee 0.01 X']);
    expect(run(fills, kline(101, 101, 100, 101, 50)).map(fillText)).toEqual(['3 @ 102 maker, fee 0.003 X']);
  });

  test('a SELL mirrors a BUY', () => {
    const fills = engine();
    fills.submit(order({ side: 'SELL', price: '100.50' }));
    expect(run(fills, kline(100, 100.5, 99, 100, 50))).toEqual([]);
    expect(run(fills, kline(103, 104, 99, 100, 50)).map(fillText)).toEqual(['1 @ 100.5 maker, fee 0.1005 Z']);
    fills.submit(order({ side: 'SELL', price: '99' }));
    expect(fillTexts(fills.open(flatKline(100)))).toEqual(['1 @ 99.95 taker, fee 0.1999 Z']);
  });

  test('an order submitted inside a kline waits for the next open', () => {
    const fills = engine();
    const row = kline(100, 105, 95, 100, 50);
    fills.open(row);
    fills.submit(order({ price: '99' }));
    expect(fills.rest(row)).toEqual({ fills: [], ends: [] });
    expect(run(fills, kline(100, 105, 95, 100, 50))).toHaveLength(1);
  });

  test('a canceled order never fills, and cancelling an unknown one does nothing', () => {
    const fills = engine();
    fills.submit(order({ price: '99' }));
    expect(endTexts(fills.cancel('a'))).toEqual(['a canceled']);
    expect(fills.cancel('a')).toEqual({ fills: [], ends: [] });
    expect(run(fills, kline(100, 105, 95, 100, 50))).toEqual([]);
  });

  test('a maker fill is dated at the last millisecond of its kline, a taker fill at its open', () => {
    const fills = engine();
    fills.submit(order({ id: 'a' }));
    fills.submit(order({ id: 'b', price: '99' }));
    const times = run(fills, kline(100, 105, 95, 100, 50, 600_000)).map((fill) => fill.time);
    expect(times).toEqual([600_000, 659_999]);
  });
});

describe('stops', () => {
  const price = (row: ReturnType<typeof kline>, stop: ReturnType<typeof stopAt>) =>
    engine()
      .triggers(row, [stop])
      .map((hit) => priceText(hit.price, at));

  test('a BUY stop mirrors a SELL stop', () => {
    expect(price(kline(100, 106, 99, 101, 50), stopAt('105', 'BUY'))).toEqual(['105.56']);
    expect(price(kline(110, 111, 109, 110, 50), stopAt('105', 'BUY'))).toEqual(['110.06']);
    expect(price(kline(100, 104.99, 99, 101, 50), stopAt('105', 'BUY'))).toEqual([]);
  });

  test('a touch sets it off', () => {
    expect(price(kline(100, 101, 95, 96, 50), stopAt('95'))).toEqual(['94.95']);
    expect(price(kline(100, 101, 95.01, 96, 50), stopAt('95'))).toEqual([]);
  });

  test('the fill is rounded once, against us, although the base price may fall between ticks', () => {
    // 95 - (95 - 94.99) / 2 = 94.995; less 5 bp = 94.9475025
    expect(price(kline(100, 101, 94.99, 96, 50), stopAt('95'))).toEqual(['94.94']);
  });

  test('an open beyond the stop is not ambiguous: the stop came first for certain', () => {
    const fills = engine();
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, flatKline(100));
    const [sold] = run(fills, kline(90, 104, 89, 90, 50), [stopAt('95')]);
    expect(sold?.evidence).toEqual({ rule: 'kline-stop-gap' });
    expect(fills.ambiguousKlines).toBe(0);
  });

  test('a kline without volume that reaches stop and target leaves nothing in doubt: neither fills', () => {
    const fills = engine();
    fills.submit(order({ id: 'target', side: 'SELL', price: '103' }));
    run(fills, flatKline(100));
    const row = kline(100, 104, 96, 101, 0);
    fills.open(row);
    expect(fills.triggers(row, [stopAt('97')])).toMatchObject([{ evidence: { rule: 'kline-stop' } }]);
    expect(run(fills, kline(100, 104, 96, 101, 0), [stopAt('97')])).toEqual([]);
    expect(fills.ambiguousKlines).toBe(0);
  });

  test('a stop sells what the volume left by other takers can bear', () => {
    const fills = engine();
    fills.submit(order({ lots: '3' }));
    const row = kline(100, 100, 94, 95, 5);
    const sold = run(fills, row, [stopAt('95')], '4').map(fillText);
    expect(sold).toEqual(['3 @ 100.05 taker, fee 0.006 X', '2 @ 94.45 taker, fee 0.3778 Z']);
  });
});

test('under plain, orders fill whole at the open, at a touch and at the stop, whatever the volume', () => {
  const fills = engine({ rules: rulesets.plain });
  fills.submit(order({ id: 'a', lots: '500' }));
  fills.submit(order({ id: 'b', price: '99', lots: '7' }));
  const row = kline(100, 100, 99, 99.5, 0);
  expect(run(fills, row, [stopAt('99')], '500').map(fillText)).toEqual([
    '500 @ 100 taker, fee 1 X',
    '500 @ 99 taker, fee 99 Z',
    '7 @ 99 maker, fee 0.007 X',
  ]);
});

test.each([
  ['MARKET', {}, 'kline-open', 'kline-open-late', rulesets.sluice],
  ['LIMIT', { price: '200' }, 'kline-cross', 'kline-cross-late', rulesets.sluice],
  ['MARKET', {}, 'kline-close', 'kline-close-late', { ...rulesets.vectorbt, entryLatencyMs: 60_000 }],
] as const)('a %s order that waited for more than one missing kline says so', (_, text, onTime, late, rules) => {
  const ruleAfter = (missing: number): string | undefined => {
    const fills = engine({ rules });
    fills.submit({ ...order(text), createdAt: 60_000 });
    const isAtClose = rules.marketAt === 'close';
    if (isAtClose) fills.decided(kline(100, 100, 100, 100, 50, 0));
    const after = kline(100, 100, 100, 100, 50, (1 + missing) * 60_000);
    return (isAtClose ? fills.decided(after) : fills.open(after)).fills[0]?.evidence.rule;
  };
  expect([0, 1, 2, 500_000].map(ruleAfter)).toEqual([onTime, onTime, late, late]);
});

test.each([
  [0, [0]],
  [1, [1]],
  [2, [2]],
  [3, [3]],
] as const)(
  'an order of %i klines on its way arrives so many closes later, though each is come to twice',
  (delay, at) => {
    const fills = engine({ rules: { ...rulesets.vectorbt, entryLatencyMs: delay * 60_000 } });
    fills.submit(order({}));
    const closes = [0, 1, 2, 3, 4].map((row) => kline(100, 100, 100, 100, 50, row * 60_000));
    const filled = closes.flatMap((close, row) =>
      [close, close].flatMap((one) => fills.decided(one).fills.map(() => row)),
    );
    expect(filled).toEqual(at);
    fills.submit(order({ id: 'b', price: '1' }));
    for (const row of [5, 6, 7, 8]) fills.decided(kline(100, 100, 100, 100, 50, row * 60_000));
    const ended = fills.cancel('b').ends.length > 0 ? [0] : [];
    for (const row of [9, 10, 11, 12, 13]) {
      const one = kline(100, 100, 100, 100, 50, row * 60_000);
      for (const close of [one, one]) if (fills.decided(close).ends.length > 0) ended.push(row - 9);
    }
    expect(ended).toEqual(at);
  },
);
