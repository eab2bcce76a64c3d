import { describe, expect, test } from 'vitest';
import { btc, fill, portfolio, startTime, target } from '../../test/kit/builders.ts';
import { lots, priceText } from '../domain/money.ts';
import type { Target } from '../domain/order.ts';
import type { Portfolio } from './portfolio.ts';
import { type ArmedStop, Protection, type SavedGuard } from './protection.ts';

interface Bench {
  readonly held: Portfolio;
  readonly protection: Protection;
  /** What a journal would hold, or null. */
  saved(): SavedGuard | null | undefined;
  follow(signal: Partial<Target>, quantity?: number): Target;
}

/** One BTC bought at 100, unless the test needs none. */
function bench({ bought = true }: { readonly bought?: boolean } = {}): Bench {
  const held = portfolio();
  if (bought) held.apply(fill());
  let last: SavedGuard | null | undefined;
  const protection = new Protection(held, (_strategy, _symbol, saved) => {
    last = saved();
  });
  return {
    held,
    protection,
    saved: () => last,
    follow(signal, quantity = 1) {
      const its = target(quantity, signal);
      protection.follow('s', 'BTCUSDT', its);
      return its;
    },
  };
}
const texts = (stops: readonly ArmedStop[]): string[] =>
  stops.map(({ strategy, side, price }) => `${strategy} ${side} ${priceText(price, btc)}`);
const prices = (bench: Bench, ...seen: readonly number[]): void => {
  for (const price of seen) bench.protection.trail('BTCUSDT', price);
};

test.each([
  ['a long position follows no higher than what was seen', 'BUY', [100.019, 100.018], '100.01'],
  ['a short one no lower', 'SELL', [99.981, 99.982], '99.99'],
] as const)('a trailing stop of %s, between two ticks', (_, side, seen, best) => {
  const made = bench({ bought: false });
  made.follow({ trailing: 0.1 }, side === 'BUY' ? 1 : -1);
  made.held.apply(fill({ side }));
  prices(made, ...seen);
  expect(made.saved()).toMatchObject({ best });
});

describe('a stop', () => {
  test('is armed only while something is held', () => {
    const made = bench({ bought: false });
    made.follow({ stop: 90 });
    expect(made.protection.stops('BTCUSDT')).toEqual([]);
    made.held.apply(fill());
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 90']);
    expect(made.protection.stops('ETHUSDT')).toEqual([]);
  });

  test('of a short position buys', () => {
    const made = bench({ bought: false });
    made.follow({ stop: 110 }, -1);
    made.held.apply(fill({ side: 'SELL' }));
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s BUY 110']);
    expect(made.protection.hitBy('BTCUSDT', 109.99)).toEqual([]);
    expect(texts(made.protection.hitBy('BTCUSDT', 110))).toEqual(['s BUY 110']);
  });

  test('is hit by a price at it or beyond it', () => {
    const made = bench();
    made.follow({ stop: 90 });
    expect(made.protection.hitBy('BTCUSDT', 90.01)).toEqual([]);
    expect(texts(made.protection.hitBy('BTCUSDT', 90))).toEqual(['s SELL 90']);
    expect(texts(made.protection.hitBy('BTCUSDT', 50))).toEqual(['s SELL 90']);
  });

  test('is not hit, and a trailing one not moved, by a print from before the position was entered', () => {
    const made = bench({ bought: false });
    made.follow({ stop: 90, trailing: 0.05 });
    made.held.apply(fill());
    made.protection.trail('BTCUSDT', 100);
    made.protection.trail('BTCUSDT', 120, 120, startTime - 10_000);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 95']);
    expect(made.protection.hitBy('BTCUSDT', 50, 50, startTime - 1_001)).toEqual([]);
    expect(texts(made.protection.hitBy('BTCUSDT', 50, 50, startTime - 1_000))).toEqual(['s SELL 95']);
    expect(texts(made.protection.hitBy('BTCUSDT', 50))).toEqual(['s SELL 95']);
  });

  test('that sells follows bids, and one that buys at asks', () => {
    const long = bench();
    long.follow({ stop: 90 });
    expect(long.protection.hitBy('BTCUSDT', 91, 80)).toEqual([]);
    expect(texts(long.protection.hitBy('BTCUSDT', 90, 120))).toEqual(['s SELL 90']);
    const short = bench({ bought: false });
    short.follow({ stop: 110 }, -1);
    short.held.apply(fill({ side: 'SELL' }));
    expect(short.protection.hitBy('BTCUSDT', 120, 109)).toEqual([]);
    expect(texts(short.protection.hitBy('BTCUSDT', 80, 110))).toEqual(['s BUY 110']);
  });

  test('that trails a long position follows bids, a short one asks', () => {
    const long = bench();
    long.follow({ trailing: 0.1 });
    long.protection.trail('BTCUSDT', 200, 300);
    expect(texts(long.protection.stops('BTCUSDT'))).toEqual(['s SELL 180']);
    const short = bench({ bought: false });
    short.follow({ trailing: 0.1 }, -1);
    short.held.apply(fill({ side: 'SELL' }));
    short.protection.trail('BTCUSDT', 20, 50);
    expect(texts(short.protection.stops('BTCUSDT'))).toEqual(['s BUY 55']);
  });

  test('moves with the target that carries it', () => {
    const made = bench();
    made.follow({ stop: 90 });
    made.follow({ stop: 95 });
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 95']);
    expect(made.saved()).toEqual({ size: '{"quantity":1}', stop: '95' });
  });

  test('goes with a target that no longer carries one', () => {
    const made = bench();
    made.follow({ stop: 90 });
    made.follow({});
    expect(made.protection.stops('BTCUSDT')).toEqual([]);
  });

  test.each([{ quantity: 0 }, { amount: 0 }, { share: 0 }])(
    'stays in force while a target of %j has not been reached yet',
    (size) => {
      const made = bench();
      made.follow({ stop: 90 });
      made.follow({ size });
      expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 90']);
    },
  );

  test('of a position that is gone does not come back with the next one', () => {
    const made = bench();
    made.follow({ stop: 90 });
    made.follow({}, 0);
    made.held.apply(fill({ side: 'SELL' }));
    made.follow({}, 2);
    made.held.apply(fill());
    expect(made.protection.stops('BTCUSDT')).toEqual([]);
    expect(made.saved()).toBeNull();
  });

  test('of one strategy is not another’s', () => {
    const made = bench();
    made.held.apply(fill({ strategy: 't' }));
    made.follow({ stop: 90 });
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 90']);
  });

  test('is written down when it changes and only then', () => {
    const held = portfolio();
    let writes = 0;
    const protection = new Protection(held, () => writes++);
    for (const stop of [90, 90, 91, 91]) protection.follow('s', 'BTCUSDT', target(1, { stop }));
    expect(writes).toBe(2);
  });
});

describe('a trailing stop', () => {
  test('follows the best price since the entry and never steps back', () => {
    const made = bench();
    made.follow({ trailing: 0.1 });
    expect(made.protection.stops('BTCUSDT')).toEqual([]);
    prices(made, 100, 120, 110);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 108']);
    expect(made.saved()).toEqual({
      ...{ size: '{"quantity":1}', trailing: '0.1', best: '120' },
      keptFor: String(startTime),
    });
  });

  test('of a short position follows downwards', () => {
    const made = bench({ bought: false });
    made.follow({ trailing: 0.1 }, -1);
    made.held.apply(fill({ side: 'SELL' }));
    prices(made, 100, 80, 90);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s BUY 88']);
  });

  test('does not count prices from before the entry', () => {
    const made = bench({ bought: false });
    made.follow({ trailing: 0.1 });
    prices(made, 200);
    made.held.apply(fill());
    prices(made, 100);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 90']);
  });

  test('gives way to a fixed stop that is nearer', () => {
    const made = bench();
    made.follow({ trailing: 0.1, stop: 95 });
    prices(made, 100);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 95']);
    prices(made, 120);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 108']);
  });

  test('keeps its best price while its target moves, and forgets it with the position', () => {
    const made = bench();
    made.follow({ trailing: 0.1 });
    prices(made, 150);
    made.follow({ trailing: 0.2 });
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 120']);
    made.held.apply(fill({ side: 'SELL' }));
    made.follow({ trailing: 0.1 });
    made.held.apply(fill());
    prices(made, 100);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 90']);
  });
});

test('a trailing stop starts anew with a position that is entered before any price was seen in between', () => {
  const made = bench();
  made.follow({ trailing: 0.1 });
  prices(made, 150);
  made.held.apply(fill({ side: 'SELL' }));
  made.held.apply(fill({ price: '140' }));
  expect(made.protection.stops('BTCUSDT')).toEqual([]);
  prices(made, 140);
  expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 126']);
  made.held.apply(fill({ quantity: '2', price: '140' }));
  expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 126']);
});

describe('dust that a fee in the bought asset left', () => {
  /** One BTC bought with its fee in BTC, and all whole lots of it sold again. */
  function dusty(signal: Partial<Target>): Bench {
    const made = bench({ bought: false });
    made.follow(signal);
    made.held.apply(fill({ fee: '0.002000005', feeAsset: 'BTC' }));
    prices(made, 100);
    made.follow({}, 0);
    made.held.apply(fill({ side: 'SELL', quantity: '0.99799' }));
    return made;
  }

  test('arms no stop and triggers none', () => {
    const made = dusty({ stop: 90 });
    expect(made.protection.stops('BTCUSDT')).toEqual([]);
    made.follow({ stop: 95 }, 2);
    expect(made.protection.hitBy('BTCUSDT', 80)).toEqual([]);
  });

  test('moves no trailing stop before the next entry', () => {
    const made = dusty({ trailing: 0.02 });
    prices(made, 100, 125, 150);
    made.follow({ trailing: 0.02 });
    made.held.apply(fill({ price: '148' }));
    prices(made, 148);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 145.04']);
  });

  test('may have a take-profit at the exchange: one that moves is planned anew', () => {
    const made = dusty({ takeProfit: 130 });
    made.follow({ takeProfit: 130 });
    const changes = (): number => made.held.subAccount('s', 'BTCUSDT').protectionChanges;
    const before = changes();
    made.follow({ takeProfit: 130 });
    expect(changes()).toBe(before);
    made.follow({ takeProfit: 140 });
    expect(changes()).toBeGreaterThan(before);
  });

  test('is not a position that must still be left', () => {
    const made = dusty({ stop: 90 });
    made.protection.exit('s', 'BTCUSDT', made.follow({ stop: 90 }).size, 'traded at 90', startTime);
    expect(made.protection.isExiting('s', 'BTCUSDT')).toBe(false);
  });
});

describe('a position that protection left', () => {
  test('stays left while the same target is repeated, even with other levels', () => {
    const made = bench();
    const its = made.follow({ stop: 90, takeProfit: 120 });
    expect(made.protection.override('s', 'BTCUSDT', its).exit).toBeUndefined();
    made.protection.exit('s', 'BTCUSDT', its.size, 'traded at 90', startTime);
    expect(made.protection.override('s', 'BTCUSDT', its)).toMatchObject({
      takeProfits: [],
      exit: 'traded at 90',
    });
    const moved = made.follow({ stop: 80 });
    expect(made.protection.override('s', 'BTCUSDT', moved).exit).toBe('traded at 90');
  });

  test('keeps in mind what a take-profit sold, over a restart and until the target changes', () => {
    const made = bench();
    const its = made.follow({ takeProfit: 120 });
    made.protection.tookProfit('s', 'BTCUSDT', lots('0.4', btc));
    expect(made.protection.override('s', 'BTCUSDT', made.follow({ takeProfit: 125 })).taken).toBe(lots('0.4', btc));
    const again = bench();
    again.protection.restore('s', 'BTCUSDT', made.saved() ?? {});
    expect(again.protection.override('s', 'BTCUSDT', its).taken).toBe(lots('0.4', btc));
    expect(made.protection.override('s', 'BTCUSDT', made.follow({ takeProfit: 125 }, 2)).taken).toBe(0n);
  });

  test('forgets what a take-profit sold once the target is flat, whether or not it is so yet', () => {
    const made = bench();
    made.follow({ stop: 90, takeProfit: 120 });
    made.protection.tookProfit('s', 'BTCUSDT', lots('0.4', btc));
    made.follow({}, 0);
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 90']);
    const again = bench();
    again.protection.restore('s', 'BTCUSDT', made.saved() ?? {});
    for (const one of [made, again])
      expect(one.protection.override('s', 'BTCUSDT', one.follow({ stop: 90, takeProfit: 120 })).taken).toBe(0n);
  });

  test('keeps in mind what a take-profit sold while the same target is repeated, though nothing is held any more', () => {
    const made = bench();
    made.follow({ takeProfit: 120 });
    made.protection.tookProfit('s', 'BTCUSDT', lots('0.4', btc));
    made.held.apply(fill({ side: 'SELL' }));
    expect(made.protection.override('s', 'BTCUSDT', made.follow({})).taken).toBe(lots('0.4', btc));
  });

  test('has no stop that could be hit again', () => {
    const made = bench();
    made.protection.exit('s', 'BTCUSDT', made.follow({ stop: 90 }).size, 'traded at 90', startTime);
    expect(made.protection.hitBy('BTCUSDT', 80)).toEqual([]);
  });

  test('may be entered again under another target', () => {
    const made = bench();
    made.protection.exit('s', 'BTCUSDT', made.follow({ stop: 90 }).size, 'traded at 90', startTime);
    made.held.apply(fill({ side: 'SELL' }));
    const another = made.follow({ stop: 80 }, 2);
    expect(made.protection.override('s', 'BTCUSDT', another).exit).toBeUndefined();
    made.held.apply(fill());
    expect(texts(made.protection.stops('BTCUSDT'))).toEqual(['s SELL 80']);
  });

  test('may be entered again under the same target once the target was flat', () => {
    const made = bench();
    made.protection.exit('s', 'BTCUSDT', made.follow({ stop: 90 }).size, 'traded at 90', startTime);
    made.held.apply(fill({ side: 'SELL' }));
    made.follow({}, 0);
    const again = made.follow({ stop: 85 });
    expect(made.protection.override('s', 'BTCUSDT', again).exit).toBeUndefined();
  });

  test('is nothing where there was no protection', () => {
    const made = bench();
    made.protection.exit('s', 'BTCUSDT', { quantity: 1 }, 'why', startTime);
    expect(made.protection.override('s', 'BTCUSDT', target(1)).exit).toBeUndefined();
  });
});

test('protection comes back from a journal as it was', () => {
  const before = bench();
  const its = before.follow({ stop: 90, takeProfit: 130, trailing: 0.1 });
  prices(before, 110);
  const after = bench();
  after.protection.restore('s', 'BTCUSDT', before.saved() ?? {});
  expect(texts(after.protection.stops('BTCUSDT'))).toEqual(['s SELL 99']);
  expect(after.protection.override('s', 'BTCUSDT', its)).toEqual(before.protection.override('s', 'BTCUSDT', its));
  before.protection.exit('s', 'BTCUSDT', its.size, 'traded at 99', startTime);
  const later = bench();
  later.protection.restore('s', 'BTCUSDT', before.saved() ?? {});
  expect(later.protection.override('s', 'BTCUSDT', its).exit).toBe('traded at 99');
  expect(later.protection.stops('BTCUSDT')).toEqual([]);
});
