/** The next step of a decision on several markets. */
import { describe, expect, test } from 'vitest';
import { btc, eth, fill, instruments, startTime, target } from '../../test/kit/builders.ts';
import { noUnits, priceText, rate, units, unitsText } from '../domain/money.ts';
import type { Decision, Leg, Signal } from '../domain/order.ts';
import { intentOf, type OrderDraft, type Step } from './plan.ts';
import { Planner } from './planner.ts';
import { canPay } from './pool-exposure.ts';
import { Portfolio } from './portfolio.ts';
import { Protection } from './protection.ts';

/** `s` trades BTC and ETH with 1,000 USDT in all; both cost 100. */
function bench() {
  const held = new Portfolio(instruments, [
    { strategy: 's', symbol: btc.symbol, amount: units('1000') },
    { strategy: 's', symbol: eth.symbol, amount: noUnits },
  ]);
  for (const symbol of [btc.symbol, eth.symbol]) held.mark(symbol, 100, startTime);
  const protection = new Protection(held, () => undefined);
  const planner = new Planner({
    ...{ portfolio: held, protection, account: 'spot', marketBuyIn: 'lots', feeInBase: rate('0') },
    changed: () => undefined,
    unsent: () => undefined,
  });
  /** Sends the order of a step, and it stays under way. */
  const send = (step: Step | undefined) => {
    if (step?.do !== 'create') throw new Error(`no order: ${step?.do}`);
    return held.reserve(intentOf(step.draft, 'c1', startTime, startTime + 60_000));
  };
  return { held, planner, protection, send };
}

const leg = (role: 'btc' | 'eth', signal: Signal): Leg => ({
  ...{ strategy: 's', role, symbol: role === 'btc' ? btc.symbol : eth.symbol, at: startTime, signal },
});
const both = (first: Signal, second: Signal): Decision => ({
  ...{ strategy: 's', at: startTime, legs: [leg('btc', first), leg('eth', second)] },
});
const said = (step: Step | undefined): string =>
  step?.do === 'create' ? `${step.draft.purpose} ${step.draft.symbol}` : (step?.do ?? 'nothing');
const draftOf = (step: Step | undefined): OrderDraft => (step as Step & { do: 'create' }).draft;

describe('of several legs', () => {
  test('a purchase at market on its way counts against the money of the others, before it has filled', () => {
    const { held, planner, send } = bench();
    const decision = both(target(8), target(8));
    planner.note(decision);
    const first = planner.plan(decision);
    expect(canPay(held, draftOf(first), undefined)).toBe(true);
    const order = send(first);
    expect(unitsText(held.freeQuote('s', eth.symbol))).toBe('200');
    expect(canPay(held, draftOf(planner.plan(decision)), undefined)).toBe(false);
    held.close(order, 'rejected');
    expect(unitsText(held.freeQuote('s', eth.symbol))).toBe('1000');
  });

  test('what leaves a position comes before what enters one, wherever it stands', () => {
    const { held, planner } = bench();
    held.apply(fill({ symbol: eth.symbol }));
    const decision = both(target(1), target(0));
    planner.note(decision);
    expect(said(planner.plan(decision))).toBe('exit ETHUSDT');
  });

  test('an entry waits for the sale that pays for it, and is planned as it stands by then', () => {
    const { held, planner, send } = bench();
    held.apply(fill({ symbol: eth.symbol, quantity: '9' }));
    const decision = both(target(8), target(0));
    planner.note(decision);
    const sale = send(planner.plan(decision));
    expect(said(planner.plan(decision))).toBe('nothing');
    expect(planner.waiting('s')?.legs).toEqual(decision.legs);
    // The strategy changes its mind while another order keeps the lane busy.
    const smaller = both(target(7), target(0));
    planner.note(smaller);
    expect(planner.waiting('s')?.legs).toEqual(smaller.legs);
    held.apply(fill({ symbol: eth.symbol, side: 'SELL', quantity: '9', id: 'c1' }));
    held.close(sale, 'filled');
    expect(said(planner.plan(smaller))).toBe('enter BTCUSDT');
  });

  test('an entry does not wait for a take-profit, which may rest for ever', () => {
    const { held, planner, send } = bench();
    const resting = both(target(8), target(9, { takeProfit: 200 }));
    held.apply(fill({ symbol: eth.symbol, quantity: '9' }));
    planner.note(resting);
    const order = send(planner.plan({ legs: [resting.legs[1] as Leg] }));
    order.state = 'open';
    expect(priceText(order.intent.price ?? (0n as never), eth)).toBe('200');
    expect(said(planner.plan(resting))).toBe('enter BTCUSDT');
  });

  test.each(['denied', 'rejected', 'unknown'])('one that was %s is not planned again, and the others go on', (how) => {
    const { held, planner, send } = bench();
    const decision = both(target(1), target(1));
    planner.note(decision);
    const step = planner.plan(decision);
    expect(said(step)).toBe('enter BTCUSDT');
    if (how === 'unknown') send(step).state = 'unknown';
    const refused = [draftOf(step)];
    const second = planner.plan(decision, refused);
    expect(said(second)).toBe('enter ETHUSDT');
    expect(said(planner.plan(decision, [...refused, draftOf(second)]))).toBe('nothing');
    // The next decision tries it again, unless its outcome is still unknown.
    planner.note(decision);
    expect(said(planner.plan(decision))).toBe(how === 'unknown' ? 'enter ETHUSDT' : 'enter BTCUSDT');
    expect(held.isUndecided(btc.symbol)).toBe(how === 'unknown');
  });

  test('an entry whose sale was denied is judged by what is free without it', () => {
    const { held, planner } = bench();
    held.apply(fill({ symbol: eth.symbol, quantity: '9' }));
    const decision = both(target(8), target(0));
    planner.note(decision);
    const sale = planner.plan(decision);
    expect(said(sale)).toBe('exit ETHUSDT');
    expect(said(planner.plan(decision, [draftOf(sale)]))).toBe('enter BTCUSDT');
    expect(planner.waiting('s')).toBeUndefined();
  });
});
