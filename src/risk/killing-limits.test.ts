import { describe, expect, test } from 'vitest';
import { draft, fill, portfolio, startTime, wide } from '../../test/kit/builders.ts';
import { SimClock } from '../clock/sim-clock.ts';
import { rate } from '../domain/money.ts';
import type { Limits } from './context.ts';
import type { Kill } from './kill.ts';
import { Risk } from './risk.ts';

/** A risk gate that can be opened again with what it remembered. */
function gate(limits: Partial<Limits>, before?: { memories: Map<string, string>; held: ReturnType<typeof portfolio> }) {
  const memories = before?.memories ?? new Map<string, string>();
  const held = before?.held ?? portfolio();
  const clock = new SimClock(startTime);
  const kills: Kill[] = [];
  const risk = new Risk({
    limits: { ...wide, ...limits },
    portfolio: held,
    clock,
    memories,
    remember: (name, json) => memories.set(name, json),
    disabled: (kill) => kills.push(kill),
  });
  const trade = (side: 'BUY' | 'SELL', price: string, atMs = 0, strategy = 's'): void => {
    const made = { ...fill({ side, price, strategy }), time: startTime + atMs };
    held.apply(made);
    risk.booked(made);
  };
  const roundTrip = (bought: string, sold: string, atMs = 0): void => {
    trade('BUY', bought, atMs);
    trade('SELL', sold, atMs);
  };
  return { risk, memories, held, clock, kills, trade, roundTrip };
}

describe('a strategy is disabled', () => {
  test('at the fifth loss in a row, not at the fifth of all, and the other goes on', () => {
    const { risk, roundTrip, kills } = gate({ maxConsecutiveLosses: 5 });
    for (let loss = 0; loss < 4; loss++) roundTrip('100', '99');
    roundTrip('100', '101');
    for (let loss = 0; loss < 4; loss++) roundTrip('100', '99');
    expect(kills).toEqual([]);
    roundTrip('100', '99');
    expect(kills).toMatchObject([{ strategy: 's', by: 'losses', reason: 's lost 5 times in a row' }]);
    expect(risk.judge(draft({ strategy: 's' })).kind).toBe('denied');
    expect(risk.judge(draft({ strategy: 't' })).kind).toBe('approved');
  });

  test('by what fees make a loss of', () => {
    const { risk, held, kills } = gate({ maxConsecutiveLosses: 1 });
    for (const side of ['BUY', 'SELL'] as const) {
      const made = fill({ side, price: '100', fee: '0.1' });
      held.apply(made);
      risk.booked(made);
    }
    expect(kills).toHaveLength(1);
  });

  test('at the twentieth entry in ten minutes, and its stop still leaves', () => {
    const { roundTrip, trade, kills, risk } = gate({ maxEntries: 20 });
    for (let entry = 0; entry < 19; entry++) roundTrip('100', '100', entry * 1_000);
    roundTrip('100', '100', 599_999);
    expect(kills).toMatchObject([{ strategy: 's', by: 'entries' }]);
    trade('BUY', '100', 600_000);
    expect(risk.judge(draft({ side: 'SELL' })).kind).toBe('denied');
    expect(risk.judge(draft({ side: 'SELL', purpose: 'stop' })).kind).toBe('approved');
  });

  test('not for entries that lie further apart', () => {
    const { roundTrip, kills } = gate({ maxEntries: 20 });
    for (let entry = 0; entry < 60; entry++) roundTrip('100', '100', entry * 32_000);
    expect(kills).toEqual([]);
  });

  test('when it was refused too often, whatever for, and not for what is nobody’s fault', () => {
    const { risk, kills } = gate({ maxDenials: 3, maxOrderValue: wide.maxOrderValue });
    for (let times = 0; times < 9; times++) risk.refused('s', 'staleData');
    risk.refused('s', 'holdings');
    risk.refused('s', 'signalRate');
    expect(kills).toEqual([]);
    risk.judge(draft({ side: 'SELL' }));
    expect(kills).toMatchObject([{ strategy: 's', by: 'denials' }]);
  });

  test('when it keeps the program busy', () => {
    const { risk, kills } = gate({ maxDecideMs: 1_000 });
    risk.decideTook('s', 1_000);
    expect(kills).toEqual([]);
    risk.decideTook('s', 1_001);
    expect(kills).toMatchObject([{ strategy: 's', by: 'decideTime' }]);
  });

  test('over a restart, until a human resumes it', () => {
    const first = gate({ maxConsecutiveLosses: 3 });
    first.roundTrip('100', '99');
    first.roundTrip('100', '99');
    first.trade('BUY', '100');
    const again = gate({ maxConsecutiveLosses: 3 }, first);
    again.trade('SELL', '99');
    expect(again.kills).toMatchObject([{ by: 'losses' }]);
    again.risk.resume('s');
    again.roundTrip('100', '99');
    again.roundTrip('100', '99');
    expect(again.kills).toHaveLength(1);
    again.roundTrip('100', '99');
    expect(again.kills).toHaveLength(2);
  });
});

describe('the trailing loss limit', () => {
  // 100 BTC bought at 100 of 2,000,000 in all: a price of 1,000 adds 90,000.
  const holding = () => {
    const made = gate({ maxDrawdown: rate('0.08') });
    made.held.apply(fill({ quantity: '1000', price: '100' }));
    const price = (at: number): Kill | undefined => {
      made.held.mark('BTCUSDT', at, startTime);
      return made.risk.watchLoss();
    };
    return { ...made, price };
  };

  test('counts from the highest, not from the beginning', () => {
    const { price } = holding();
    expect([price(100), price(600), price(500)]).toEqual([undefined, undefined, undefined]);
    // 2,500,000 at the highest: 200,000 less is 8 %.
    expect(price(401)).toBeUndefined();
    expect(price(400.01)).toBeUndefined();
    expect(price(400)).toMatchObject({ strategy: undefined, by: 'drawdown' });
    expect(price(300)).toBeUndefined();
  });

  test('survives a restart', () => {
    const first = holding();
    first.price(600);
    const again = gate({ maxDrawdown: rate('0.08') }, first);
    again.held.mark('BTCUSDT', 390, startTime);
    expect(again.risk.watchLoss()).toMatchObject({ by: 'drawdown' });
  });

  test('is measured anew after a resume', () => {
    const { price, risk } = holding();
    price(600);
    expect(price(300)).toMatchObject({ by: 'drawdown' });
    risk.resume(undefined);
    expect(price(300)).toBeUndefined();
    expect(price(100)).toMatchObject({ by: 'drawdown' });
  });
});

describe('how far a price moved', () => {
  test('counts for a minute', async () => {
    const { risk, clock } = gate({ maxMove: rate('0.05') });
    const verdict = () => risk.judge(draft({ price: '100' }));
    risk.seePrice('BTCUSDT', 100);
    await clock.advanceTo(startTime + 30_000);
    risk.seePrice('BTCUSDT', 106);
    expect(verdict()).toMatchObject({ kind: 'denied', code: 'move' });
    await clock.advanceTo(startTime + 62_000);
    risk.seePrice('BTCUSDT', 106);
    expect(verdict().kind).toBe('approved');
  });
});
