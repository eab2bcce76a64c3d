/** Limits that shall not take: where they are moved to, and that they stay there. */
import { describe, expect, test } from 'vitest';
import { btc, portfolio, resting, startTime, target } from '../../test/kit/builders.ts';
import { lots, priceText, rate, ticks } from '../domain/money.ts';
import { mainRole, type Target } from '../domain/order.ts';
import { Planner } from './planner.ts';
import { type Best, makingPrice } from './post-only.ts';
import { Protection } from './protection.ts';
import type { KeptEntry } from './standing.ts';

const book: Best = { bid: 99.98, ask: 100.02 };

describe('a limit that shall not take', () => {
  test.for([
    ['BUY', '99.5', book, '99.5'],
    ['BUY', '100.01', book, '100.01'],
    ['BUY', '100.02', book, '100.01'],
    ['BUY', '105', book, '100.01'],
    ['SELL', '100.5', book, '100.5'],
    ['SELL', '99.99', book, '99.99'],
    ['SELL', '99.98', book, '99.99'],
    ['SELL', '95', book, '99.99'],
    // The middle of a book lies between two ticks.
    ['BUY', '105', { bid: 99.995, ask: 99.995 }, '99.99'],
    ['SELL', '95', { bid: 99.995, ask: 99.995 }, '100'],
  ] as const)('to %s at %s, between %j, rests at %s', ([side, limit, best, expected]) => {
    expect(priceText(makingPrice(side, ticks(limit, btc), best, btc), btc)).toBe(expected);
  });

  test.for([
    ['BUY', '105', '100'],
    ['SELL', '95', '100'],
  ] as const)('to %s is moved by the steps of orders where those are coarser', ([side, limit, expected]) => {
    const at = { ...btc, orderPlaces: { price: 0, quantity: btc.quantityPrecision } };
    const price = makingPrice(side, ticks(limit, at), { bid: 99.98, ask: 100.02 }, at);
    expect(priceText(price, at)).toBe(expected);
  });
});

/** A strategy that buys one BTC, or more, by limits that shall not take; the last price is 100. */
function bench() {
  const held = portfolio();
  const kept: KeptEntry[] = [];
  let best: Best | undefined = book;
  const options = {
    ...{ portfolio: held, protection: new Protection(held, () => undefined), feeInBase: rate('0') },
    ...({ account: 'spot', marketBuyIn: 'lots' } as const),
    entryKept: (_: unknown, entry: KeptEntry) => void kept.push(entry),
    best: () => best,
    changed: () => {},
    unsent: () => {},
  };
  const planner = new Planner(options);
  const leg = (signal: Target) => ({ strategy: 's', role: mainRole, symbol: btc.symbol, signal, at: startTime });
  const say = (by: Planner, limit: number, changes: Partial<Target> = {}, quantity = 1): string => {
    const one = leg(target(quantity, { limit, postOnly: true, ...changes }));
    by.note({ strategy: 's', at: startTime, legs: [one] });
    const step = by.plan({ legs: [one] });
    if (step?.do !== 'create') return step?.do ?? 'nothing';
    const { price, postOnly } = step.draft;
    return `${price === undefined ? 'market' : priceText(price, btc)}${postOnly === true ? ' post-only' : ''}`;
  };
  return {
    ...{ held, planner, kept, say, leg, options },
    see: (bid: number, ask: number) => {
      best = { bid, ask };
    },
    blind: () => {
      best = undefined;
    },
  };
}

test('its order is moved below the best ask, and stays there while the target is repeated, wherever the book goes', () => {
  const { held, planner, say, see } = bench();
  expect(say(planner, 101)).toBe('100.01 post-only');
  resting(held, { price: '100.01' });
  expect(say(planner, 101)).toBe('nothing');
  see(100.5, 100.54);
  expect(say(planner, 101, { stop: 90 })).toBe('nothing');
  expect(say(planner, 100.8)).toBe('cancel');
});

test('one that is gone is moved anew', () => {
  const { held, planner, say, see, kept } = bench();
  say(planner, 101);
  held.close(resting(held, { price: '100.01' }), 'canceled');
  see(100.5, 100.54);
  expect(say(planner, 101)).toBe('100.53 post-only');
  see(102, 103);
  expect(say(planner, 101)).toBe('101 post-only');
  expect(kept).toEqual([{}, { movedTo: 100.01 }, { movedTo: 100.53 }, {}]);
});

test('without a book the last price counts as both', () => {
  const { planner, say, blind } = bench();
  blind();
  expect(say(planner, 101)).toBe('99.99 post-only');
});

test('nothing is sent where no price is left below the ask', () => {
  const { planner, say, see } = bench();
  see(0, 0.01);
  expect(say(planner, 101)).toBe('nothing');
});

test('a restart knows where it was moved to', () => {
  const { held, planner, say, leg, options, kept } = bench();
  say(planner, 101);
  resting(held, { price: '100.01' });
  const again = new Planner(options);
  again.restore(leg(target(1, { limit: 101, postOnly: true })), lots('1', btc), 1, kept.at(-1));
  expect(say(again, 101)).toBe('nothing');
  const forgetful = new Planner(options);
  forgetful.restore(leg(target(1, { limit: 101, postOnly: true })), lots('1', btc), 1);
  expect(say(forgetful, 101)).toBe('cancel');
});
