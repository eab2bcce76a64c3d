/** The fill engine on trades and books and its slow reference grant the same fills. */

import { expect, test } from 'vitest';
import { instrument } from '../../src/domain/instrument.ts';
import type { Level } from '../../src/domain/market.ts';
import { lots, priceText, quantityText, ticks, units } from '../../src/domain/money.ts';
import type { SimOrder, Step } from '../../src/fill/orders.ts';
import { rulesets } from '../../src/fill/rules.ts';
import { TradeFills, type TradeFillsOptions } from '../../src/fill/trade-fills.ts';
import { fc } from '../kit/properties.ts';
import { type Levels, type TapeEvent, type TapeFill, tapeReference } from '../reference/tape.ts';

const at = instrument({ symbol: 'XZ', base: 'X', quote: 'Z', pricePrecision: 2, quantityPrecision: 4 });
const rules = {
  tick: '0.01',
  lot: '0.0001',
  slippage: '0.0002',
  beyondDepth: '0.005',
  maxDepthAgeMs: 3_000,
  staleAfterMs: 5_000,
  usual: null,
};
/** Of a day in which orders of 3 and more are large. */
const usual = { volume: '3000', deviation: '0.04', from: '0.001' };

const price = (from: number, to: number) => fc.integer({ min: from, max: to }).map((cents) => (cents / 100).toFixed(2));
const size = fc.integer({ min: 1, max: 60_000 }).map((steps) => (steps / 10_000).toFixed(4));
const side = fc.constantFrom('BUY' as const, 'SELL' as const);
/** Levels away from `best`, a cent or a few apart; sizes from a few, so that they often stay as they were. */
const levels = (best: number, step: 1 | -1) =>
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('1', '2.5', '0.3')), { maxLength: 4 })
    .map((some): Levels => {
      let cents = best;
      return some.map(([far, displayed]) => {
        const level = [(cents / 100).toFixed(2), displayed] as const;
        cents += step * far;
        return level;
      });
    });
const event = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('trade' as const), side, price: price(9_999, 10_002), size }) },
  {
    weight: 3,
    arbitrary: fc
      .integer({ min: 9_999, max: 10_000 })
      .chain((bid) =>
        fc.record({ kind: fc.constant('book' as const), bids: levels(bid, -1), asks: levels(bid + 2, 1) }),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('order' as const), side, lots: size, price: price(9_999, 10_002) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('order' as const), side: fc.constant('SELL' as const), lots: size }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('order' as const),
      side: fc.constant('BUY' as const),
      amount: price(1_000, 90_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), of: fc.integer({ min: 0, max: 30 }) }) },
);

/** Events in the order of time, their distances such that books grow old now and then. */
const tape = fc.array(fc.tuple(event, fc.constantFrom(0, 1, 500, 2_000, 4_000)), { maxLength: 80 }).map((list) => {
  let [time, orders] = [0, 0];
  return list.map(([one, waits]): TapeEvent => {
    time += waits;
    if (one.kind === 'order') return { ...one, time, id: `o${orders++}` };
    return one.kind === 'cancel' ? { kind: 'cancel', time, id: `o${one.of}` } : { ...one, time };
  });
});

const numbers = (given: Levels): Level[] => given.map(([paid, displayed]) => [Number(paid), Number(displayed)]);

function byEngine(events: readonly TapeEvent[], liquidity?: TradeFillsOptions['liquidity']): readonly TapeFill[] {
  const fills = new TradeFills({
    instrument: at,
    rules: rulesets.sluice,
    ...(liquidity !== undefined && { liquidity }),
  });
  const steps = events.map((one): Step => {
    const { time } = one;
    const common = { symbol: 'XZ', time, seenAt: time };
    if (one.kind === 'trade')
      return fills.print({ ...common, side: one.side, price: Number(one.price), quantity: Number(one.size) });
    if (one.kind === 'book') return fills.book({ ...common, bids: numbers(one.bids), asks: numbers(one.asks) });
    if (one.kind === 'cancel') return fills.cancel(one.id);
    const order: SimOrder = {
      clientOrderId: one.id,
      strategy: 's',
      side: one.side,
      volume: one.amount === undefined ? { lots: lots(one.lots ?? '0', at) } : { amount: units(one.amount) },
      ...(one.price === undefined ? { type: 'MARKET' } : { type: 'LIMIT', price: ticks(one.price, at) }),
    };
    return fills.submit(order, time);
  });
  return steps.flatMap((step) =>
    step.fills.map((fill) => ({
      id: fill.order.clientOrderId,
      price: priceText(fill.price, at),
      quantity: quantityText(fill.quantity, at),
      maker: fill.maker,
    })),
  );
}

test('generated trades, books and orders fill alike', () => {
  let count = 0;
  fc.assert(
    fc.property(tape, (events) => {
      const expected = tapeReference(events, rules);
      count += expected.length;
      expect(byEngine(events)).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
  expect(count).toBeGreaterThan(1_000);
});

test('so they do where large orders move their price', () => {
  let count = 0;
  fc.assert(
    fc.property(tape, (events) => {
      const expected = tapeReference(events, { ...rules, usual });
      if (expected.some(({ price }, index) => price !== tapeReference(events, rules)[index]?.price)) count++;
      expect(byEngine(events, () => ({ volume: 3_000, deviation: 0.04 }))).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
  expect(count).toBeGreaterThan(40);
});
