/** Entries by a resting order that expire. */
import { describe, expect, test } from 'vitest';
import { btc, fill, portfolio, resting, startTime, target } from '../../test/kit/builders.ts';
import { noLots, priceText, quantityText, rate } from '../domain/money.ts';
import { mainRole, type Target } from '../domain/order.ts';
import { Planner } from './planner.ts';
import { Protection } from './protection.ts';
import type { KeptEntry } from './standing.ts';

const minute = 60_000;
const limited = { limit: 99, expiresAfterMs: 5 * minute } as const;

/** A strategy that says targets of so many BTC at minutes after the start; `kept` are the times that a restart would know. */
function bench() {
  const held = portfolio();
  const kept: number[] = [];
  const protection = new Protection(held, () => undefined);
  const options = {
    ...{ portfolio: held, protection, feeInBase: rate('0') },
    ...({ account: 'margin', marketBuyIn: 'lots' } as const),
    entryKept: (_: unknown, { expiresAt = startTime }: KeptEntry) => void kept.push((expiresAt - startTime) / minute),
    changed: () => {},
    unsent: () => {},
  };
  const planner = new Planner(options);
  const leg = (signal: Target, at: number) => ({
    ...{ strategy: 's', role: mainRole, symbol: btc.symbol, signal },
    at: startTime + at * minute,
  });
  const planned = (by = planner): string => {
    const standing = by.standing('s', btc.symbol);
    const step = standing && by.plan({ legs: [standing] });
    if (step?.do !== 'create') return step?.do ?? 'nothing';
    const { side, expectedLots, price, purpose } = step.draft;
    return `${purpose} ${side} ${quantityText(expectedLots, btc)} at ${price === undefined ? 'market' : priceText(price, btc)}`;
  };
  const say = (at: number, quantity: number, changes: Partial<Target> = {}): string => {
    const one = leg(target(quantity, { ...limited, ...changes }), at);
    planner.note({ strategy: 's', at: one.at, legs: [one] });
    return planned();
  };
  /** What comes of the time at so many minutes. */
  const pass = (at: number): string => {
    const legs = planner.expiries.expire(btc.symbol, startTime + at * minute);
    return legs.length === 0 ? 'nothing' : planned();
  };
  /** The planner of the next start. */
  const restarted = (quantity: number, at: number): Planner => {
    const again = new Planner(options);
    again.restore(leg(target(quantity, limited), 0), noLots, 1, { expiresAt: startTime + at * minute });
    return again;
  };
  return {
    ...{ held, kept, planner, planned, say, pass, restarted },
    due: () => (planner.expiries.due(btc.symbol) - startTime) / minute,
    enter: (quantity: string, side: 'BUY' | 'SELL' = 'BUY') => held.apply(fill({ side, quantity, price: '99' })),
    rest: (quantity: string, side: 'BUY' | 'SELL' = 'BUY') =>
      resting(held, { id: `c${quantity}${side}`, quantity, side, price: '99' }),
  };
}

describe('an entry that expires', () => {
  test('is cancelled at its time, and not ordered again while the target is repeated', () => {
    const { held, say, pass, rest, due } = bench();
    expect(say(0, 1)).toBe('enter BUY 1 at 99');
    const order = rest('1');
    expect(say(4, 1)).toBe('nothing');
    expect(due()).toBe(5);
    expect(pass(4.9)).toBe('nothing');
    expect(pass(5)).toBe('cancel');
    held.close(order, 'canceled');
    expect(pass(5.1)).toBe('nothing');
    expect(say(6, 1)).toBe('nothing');
    expect(say(7, 1, { reason: 'another' })).toBe('nothing');
    expect(say(8, 1, { stop: 90 })).toBe('nothing');
  });

  test.for([
    ['size', 2, {}, 'enter BUY 2 at 99'],
    ['price', 1, { limit: 98 }, 'enter BUY 1 at 98'],
    ['time', 1, { expiresAfterMs: 6 * minute }, 'enter BUY 1 at 99'],
  ] as const)('begins anew with another %s', ([, size, changes, order]) => {
    const { say, pass, due } = bench();
    say(0, 1);
    pass(5);
    expect(say(6, 1)).toBe('nothing');
    expect(say(7, size, changes)).toBe(order);
    expect(due()).toBe('expiresAfterMs' in changes ? 13 : 12);
  });

  test('counts from when its target was new, however its exits move', () => {
    const { say, due, kept } = bench();
    say(0, 1);
    say(2, 1, { stop: 90 });
    say(3, 1, { stop: 91 });
    expect(due()).toBe(5);
    expect(kept).toEqual([5]);
  });

  test('keeps what has filled, and takes its profit', () => {
    const { held, say, pass, rest, enter } = bench();
    const takeProfit = [
      { at: 110, share: 0.5 },
      { at: 120, share: 0.5 },
    ];
    say(0, 10, { takeProfit });
    const order = rest('10');
    enter('4');
    expect(pass(5)).toBe('cancel');
    held.close(order, 'canceled');
    // Half of what was entered, not half of what was meant.
    expect(say(6, 10, { takeProfit })).toBe('takeProfit SELL 2 at 110');
  });

  test('does not keep a position of the other side: what leaves that goes on', () => {
    const { held, say, pass, rest, enter } = bench();
    enter('2');
    expect(say(0, -1, { limit: 101 })).toBe('exit SELL 3 at 101');
    const order = rest('3', 'SELL');
    expect(pass(5)).toBe('cancel');
    held.close(order, 'canceled');
    expect(say(6, -1, { limit: 101 })).toBe('exit SELL 2 at 101');
    enter('2', 'SELL');
    expect(say(7, -1, { limit: 101 })).toBe('nothing');
  });

  test('is asked for until it is gone, as after an outcome that was unknown', () => {
    const { held, say, pass, rest } = bench();
    say(0, 1);
    const order = rest('1');
    order.state = 'unknown';
    expect(pass(5)).toBe('nothing');
    order.state = 'open';
    expect(pass(6)).toBe('cancel');
    held.close(order, 'canceled');
    expect(pass(7)).toBe('nothing');
  });

  test('has the rest of its time after a restart', () => {
    const { restarted, planned } = bench();
    const early = restarted(1, 5);
    early.expiries.expire(btc.symbol, startTime + 4 * minute);
    expect(early.expiries.due(btc.symbol)).toBe(startTime + 5 * minute);
    const late = restarted(1, 5);
    const leg = late.standing('s', btc.symbol);
    if (leg === undefined) throw new Error('no leg');
    late.note({ strategy: 's', at: startTime + 6 * minute, legs: [{ ...leg, at: startTime + 6 * minute }] });
    expect(planned(late)).toBe('nothing');
  });

  test('begins anew when the same target may enter again', () => {
    const { planner, say, pass, due } = bench();
    say(0, 1);
    pass(5);
    planner.sizeAnew('s', btc.symbol, startTime + 8 * minute);
    expect(due()).toBe(13);
    expect(say(9, 1)).toBe('enter BUY 1 at 99');
  });
});
