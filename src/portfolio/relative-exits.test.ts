/** Exits that are measured from the entry or the best price, and the time after an exit. */
import { describe, expect, test } from 'vitest';
import { btc, fill, portfolio, startTime, target } from '../../test/kit/builders.ts';
import { priceText } from '../domain/money.ts';
import type { Target } from '../domain/order.ts';
import { Protection, type SavedGuard } from './protection.ts';

const minute = 60_000;

/** Nothing held yet; a target of one BTC, or one short. */
function bench(side: 'long' | 'short' = 'long') {
  const held = portfolio();
  let saved: SavedGuard | null = null;
  const protection = new Protection(held, (_strategy, _symbol, now) => {
    saved = now();
  });
  const [enters, leaves] = side === 'long' ? (['BUY', 'SELL'] as const) : (['SELL', 'BUY'] as const);
  let last = target(side === 'long' ? 1 : -1);
  return {
    held,
    protection,
    say(options: Partial<Target>, quantity = side === 'long' ? 1 : -1) {
      last = target(quantity, options);
      protection.follow('s', 'BTCUSDT', last);
    },
    enter: (price: string, quantity = '1', time = startTime) =>
      held.apply({ ...fill({ side: enters, price, quantity }), time }),
    close: (price: string, quantity = '1', time = startTime + minute) =>
      held.apply({ ...fill({ side: leaves, price, quantity }), time }),
    see: (...prices: readonly number[]) => {
      for (const price of prices) protection.trail('BTCUSDT', price);
    },
    stops: () => protection.stops('BTCUSDT').map(({ price }) => priceText(price, btc)),
    override: () => protection.override('s', 'BTCUSDT', last),
    profit: () => {
      const [nearest] = protection.override('s', 'BTCUSDT', last).takeProfits;
      return nearest === undefined ? undefined : priceText(nearest.at, btc);
    },
    exitFor: (why: string, now = startTime) => protection.exit('s', 'BTCUSDT', last.size, why, now),
    restarted() {
      const again = new Protection(held, () => {});
      again.restore('s', 'BTCUSDT', saved as SavedGuard);
      return again.stops('BTCUSDT').map(({ price }) => priceText(price, btc));
    },
  };
}

describe('a stop from the entry', () => {
  test.each([
    ['long', { fromEntry: 0.05 }, '95'],
    ['short', { fromEntry: 0.05 }, '105'],
    ['long', { distance: 2.5 }, '97.5'],
    ['short', { distance: 2.5 }, '102.5'],
  ] as const)('of a %s position, %j, is in force from its first fill', (side, stop, price) => {
    const made = bench(side);
    made.say({ stop });
    expect(made.stops()).toEqual([]);
    made.enter('100', '0.4');
    expect(made.stops()).toEqual([price]);
    expect(made.restarted()).toEqual([price]);
  });

  test('follows the average price of a position that grows', () => {
    const made = bench();
    made.say({ stop: { fromEntry: 0.1 } });
    made.enter('100');
    made.enter('110');
    expect(made.stops()).toEqual(['94.5']);
  });

  test('keeps the distance of the entry, unless it moves', () => {
    const made = bench();
    made.say({ stop: { distance: 9 } });
    made.say({ stop: { distance: 5 } });
    made.enter('100');
    made.say({ stop: { distance: 1 } });
    expect(made.stops()).toEqual(['95']);
    made.say({ stop: { distance: 2, moving: true } });
    expect(made.stops()).toEqual(['98']);
    made.say({ stop: { distance: 3, moving: true } });
    expect(made.stops()).toEqual(['97']);
  });

  test('takes the distance of the latest signal at the next entry', () => {
    const made = bench();
    made.say({ stop: { distance: 5 } });
    made.enter('100');
    made.say({ stop: { distance: 2 } });
    made.close('100');
    made.enter('100');
    expect(made.stops()).toEqual(['98']);
  });

  test('takes that of the signal which turned the position round', () => {
    const made = bench();
    made.say({ stop: { distance: 5 } });
    made.enter('100');
    made.say({ stop: { distance: 3 } }, -1);
    made.close('100', '2');
    expect(made.stops()).toEqual(['103']);
    made.say({ stop: { distance: 1 } }, -1);
    expect(made.stops()).toEqual(['103']);
  });

  test('is still that of its entry after a restart, and that of the signal where the entry came just before', () => {
    const made = bench();
    made.say({ stop: { distance: 5 } });
    made.enter('100');
    expect(made.restarted()).toEqual(['95']);
    made.say({ stop: { distance: 2 } });
    expect(made.restarted()).toEqual(['95']);
  });
});

test('a take-profit from the entry is known once the position is there', () => {
  const made = bench();
  made.say({ takeProfit: { fromEntry: 0.1 } });
  expect(made.profit()).toBeUndefined();
  made.enter('100');
  expect(made.profit()).toBe('110');
  const short = bench('short');
  short.say({ takeProfit: { distance: 8 } });
  short.enter('100');
  expect(short.profit()).toBe('92');
});

test.each([
  ['long', [101, 104, 102], '101'],
  ['short', [99, 96, 98], '99'],
] as const)('a trailing stop of a %s position follows the best price at a distance', (side, seen, price) => {
  const made = bench(side);
  made.say({ trailing: { distance: 3 } });
  made.enter('100');
  made.see(...seen);
  expect(made.stops()).toEqual([price]);
  made.say({ trailing: { distance: 1 } });
  expect(made.stops()).toEqual([price]);
});

describe('break-even', () => {
  test('moves the stop to the entry once the best price is far enough', () => {
    const made = bench();
    made.say({ stop: { fromEntry: 0.05 }, breakEven: { after: 0.02 } });
    made.enter('100');
    made.see(100, 101.99);
    expect(made.stops()).toEqual(['95']);
    made.see(102, 99);
    expect(made.stops()).toEqual(['100']);
    expect(made.restarted()).toEqual(['100']);
  });

  test.each([
    ['long', 102, '110', '100'],
    ['short', 98, '90', '100'],
  ] as const)('of a %s position stays where it was when an order adds to it beyond', (side, best, added, kept) => {
    const made = bench(side);
    made.say({ stop: { fromEntry: 0.2 }, breakEven: { after: 0.02 } });
    made.enter('100');
    made.see(best);
    made.enter(added);
    expect(made.stops()).toEqual([kept]);
    expect(made.restarted()).toEqual([kept]);
    // The average entry is 105 or 95, and break-even of that is reached as well.
    made.see(side === 'long' ? 107.1 : 93.1);
    expect(made.stops()).toEqual([side === 'long' ? '105' : '95']);
  });

  test('stays when its distance grows, and is not in force for the next position', () => {
    const made = bench();
    const even = (distance: number) => ({ breakEven: { after: { distance, moving: true } } });
    made.say({ stop: 90, ...even(1) });
    made.enter('100');
    made.see(101.5);
    made.say({ stop: 90, ...even(2) });
    expect(made.stops()).toEqual(['100']);
    made.close('101');
    expect(made.stops()).toEqual([]);
    made.enter('99', '1', startTime + 2 * minute);
    expect(made.stops()).toEqual(['90']);
    expect(made.restarted()).toEqual(['90']);
  });

  test('may lock in a profit, and leaves a nearer stop alone', () => {
    const made = bench('short');
    made.say({ trailing: 0.5, breakEven: { after: { distance: 3 }, plus: 0.01 } });
    made.enter('100');
    made.see(97);
    expect(made.stops()).toEqual(['99']);
    made.say({ stop: 98, breakEven: { after: { distance: 3 }, plus: 0.01 } });
    expect(made.stops()).toEqual(['98']);
  });
});

describe('a time of day', () => {
  const at = (hour: number, day = 12): number => Date.UTC(2020, 2, day, hour);
  test.each([
    ['later that day', at(9), at(16)],
    ['the next day, where it is past', at(17), at(16, 13)],
    ['the next day, where it is that very moment', at(16), at(16, 13)],
  ])('leaves the position %s', (_, entered, due) => {
    const made = bench();
    made.say({ exitAt: '16:00' });
    made.enter('100', '1', entered);
    expect(made.protection.exitDue('BTCUSDT')).toBe(due);
    expect(made.protection.overdue('BTCUSDT', due).map(({ why }) => why)).toEqual(['time exit: 16:00 UTC']);
  });
});

describe('the time after an exit', () => {
  const waiting = (): ReturnType<typeof bench> => {
    const made = bench();
    made.say({ stop: 90, reenterAfterMs: 5 * minute });
    made.enter('100');
    made.exitFor('stop hit');
    return made;
  };

  test('lets the same target enter again when it is over', () => {
    const made = waiting();
    made.close('90');
    expect(made.override().exit).toBe('stop hit');
    expect(made.protection.release('BTCUSDT', startTime + 5 * minute - 1)).toEqual([]);
    expect(made.protection.release('BTCUSDT', startTime + 5 * minute)).toEqual(['s']);
    expect(made.override()).toMatchObject({ exit: undefined, taken: 0n });
  });

  test('holds another target back, too', () => {
    const made = waiting();
    made.close('90');
    made.say({ stop: 80 }, 2);
    expect(made.override().exit).toMatch(/^no entry before 2020-03-12T00:05:00/);
    expect(made.protection.exitDue('BTCUSDT')).toBe(startTime + 5 * minute);
    made.protection.release('BTCUSDT', startTime + 5 * minute);
    expect(made.override().exit).toBeUndefined();
  });

  test('goes on through a flat signal in between', () => {
    const made = waiting();
    made.close('90');
    made.say({}, 0);
    made.say({ stop: 80 }, 2);
    expect(made.override().exit).toMatch(/no entry before/);
  });

  test('never ends an exit that is not through yet, whatever the target', () => {
    const made = waiting();
    expect(made.protection.release('BTCUSDT', startTime + 9 * minute)).toEqual([]);
    expect(made.override().exit).toBe('stop hit');
    made.say({ stop: 80 }, 2);
    expect(made.override().exit).toBe('stop hit');
    made.close('90', '1', startTime + 10 * minute);
    expect(made.protection.release('BTCUSDT', startTime + 10 * minute)).toEqual(['s']);
  });

  test('is forgotten with the next exit, whose target has none', () => {
    const made = waiting();
    made.close('90');
    // What quotes bought before the time was over.
    made.enter('95', '1', startTime + 2 * minute);
    made.say({ stop: 80 }, 2);
    made.exitFor('stop hit', startTime + 4 * minute);
    made.close('80', '1', startTime + 4 * minute);
    expect(made.protection.release('BTCUSDT', startTime + 9 * minute)).toEqual([]);
    expect(made.override().exit).toBe('stop hit');
  });
});
