import { describe, expect, test } from 'vitest';
import { fill, kill, target } from '../../test/kit/builders.ts';
import { holding } from '../../test/kit/flatten-rig.ts';
import type { TestRig } from '../../test/kit/test-rig.ts';
import { rate } from '../domain/money.ts';
import { longestFlattenMs } from './flatten.ts';

/** From here on the clock says so. */
function aDayLater({ clock }: Pick<TestRig, 'clock'>): void {
  const now = clock.now.bind(clock);
  Object.assign(clock, { now: () => now() + longestFlattenMs });
}

describe('flatten', () => {
  test('takes what the best price shows by a LIMIT, and what is left at market, and says so', async () => {
    const { rig, book, orders, held, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    rig.venue.onCreate = ({ type }) => {
      if (type === 'MARKET') return;
      void rig.clock.sleep(100).then(() => rig.venue.fill([...rig.venue.orders.keys()].at(-1) ?? '', '0.4'));
    };
    const work = begin();
    await rig.seconds(4);
    expect(orders()).toEqual(['BUY MARKET FILLED 1', 'SELL LIMIT PARTIALLY_FILLED 0.4']);
    book(99.9);
    expect(await textsIn(12, work)).toEqual([
      expect.stringMatching(/^s closed 1 BTC on BTCUSDT at 99\.960? on average; nothing is left\.$/),
    ]);
    expect(orders()).toEqual(['BUY MARKET FILLED 1', 'SELL LIMIT CANCELED 0.4', 'SELL MARKET FILLED 0.6']);
    expect(held()).toBe('0');
    expect(rig.assembled.flattening.active).toEqual([]);
    expect(rig.notices.map(({ text }) => text).filter((text) => text.includes('flatten'))).toEqual([
      'flatten of s on BTCUSDT by operator (news): closes 1 BTC, no worse than 99',
      expect.stringContaining('flatten of s on BTCUSDT has ended: s closed 1 BTC'),
    ]);
  });

  test('sends nothing at market beyond its budget, and says what is left', async () => {
    const { rig, book, orders, begin, textsIn, pause } = await holding();
    book(100);
    pause();
    const work = begin();
    await rig.seconds(3);
    for (let second = 0; second < 10; second++) {
      book(90);
      await rig.seconds(1);
    }
    const [text] = (await textsIn(120, work)) ?? [];
    expect(text).toMatch(
      /^s closed nothing on BTCUSDT; 1 BTC is left: it could not be closed in time at 99\.\d+ or better/,
    );
    expect(orders().filter((order) => order.includes('SELL MARKET'))).toEqual([]);
    expect(orders().filter((order) => order.includes('NEW'))).toEqual([]);
  });

  test('without a book only offers by LIMIT at the worst price', async () => {
    const { rig, orders, begin, pause } = await holding();
    pause();
    void begin();
    await rig.seconds(20);
    expect(orders().slice(1)).toEqual(['SELL LIMIT NEW 0']);
    expect([...rig.venue.orders.values()].at(-1)?.intent.price).toBe(9_900n);
  });

  test('rounds its worst price to the side of its budget', async () => {
    const { rig, book, begin, pause } = await holding();
    book(99.93);
    pause();
    void begin({ maxSlippage: rate('0.0005') });
    // 0.05 % below 100.03 is 99.979985.
    expect(rig.notices.at(-1)?.text).toMatch(/no worse than 99\.98$/);
  });

  test('goes on at market where its LIMIT is rejected', async () => {
    const { rig, book, orders, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    rig.venue.creates = ['reject', 'accept'];
    expect(await textsIn(10, begin())).toEqual([expect.stringContaining('closed 1 BTC')]);
    expect(orders().at(-1)).toBe('SELL MARKET FILLED 1');
  });

  test.each([{ kind: 'pause' }, {}, { everything: true }] as const)('works under %j', async (how) => {
    const { rig, book, held, begin, textsIn } = await holding();
    await rig.finish(rig.assembled.kill(kill(how)));
    book(99.9);
    const work = begin();
    await rig.seconds(3);
    book(99.9);
    expect(await textsIn(12, work)).toEqual([expect.stringContaining('nothing is left')]);
    expect(held()).toBe('0');
  });

  test('is ended by a kill of everything, and by a resume', async () => {
    const { rig, book, orders, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    const work = begin();
    await rig.seconds(2);
    await rig.finish(rig.assembled.kill(kill({ everything: true, reason: 'fire' })));
    expect(await textsIn(5, work)).toEqual(['s closed nothing on BTCUSDT; 1 BTC is left: killed by operator: fire.']);
    expect(orders().slice(1)).toEqual(['SELL LIMIT CANCELED 0']);
  });

  test('gives way to a stop that is hit below its worst price', async () => {
    const { rig, send, orders, held, begin, textsIn, pause } = await holding();
    send(target(1, { stop: 95 }));
    await rig.seconds(3);
    pause();
    const work = begin();
    await rig.seconds(3);
    expect(orders().at(-1)).toBe('SELL LIMIT NEW 0');
    rig.price(94);
    rig.assembled.hitStop({ strategy: 's', symbol: 'BTCUSDT' }, 'stop hit');
    expect(await textsIn(5, work)).toEqual([expect.stringContaining('s closed 1 BTC on BTCUSDT at 94')]);
    expect(orders().slice(1)).toEqual(['SELL LIMIT CANCELED 0', 'SELL MARKET FILLED 1']);
    expect(held()).toBe('0');
  });

  test('goes on where a stop is hit under a kill of everything', async () => {
    const { rig, send, book, orders, held, begin, textsIn } = await holding();
    send(target(1, { stop: 95 }));
    await rig.seconds(3);
    await rig.finish(rig.assembled.kill(kill({ everything: true })));
    rig.price(94);
    rig.assembled.hitStop({ strategy: 's', symbol: 'BTCUSDT' }, 'stop hit');
    await rig.seconds(3);
    expect(orders()).toHaveLength(1);
    const work = begin();
    await rig.seconds(3);
    book(93.9);
    expect(await textsIn(12, work)).toEqual([expect.stringContaining('nothing is left')]);
    expect(held()).toBe('0');
  });

  test('takes its time once orders can be sent again, over a restart, too, and not while they cannot', async () => {
    const { rig, book, orders, held, begin, textsIn, pause, restart } = await holding();
    book(99.9);
    pause();
    rig.blocked = 'the exchange forbids requests';
    const work = begin();
    expect(await textsIn(300, work)).toBeUndefined();
    await restart();
    await rig.seconds(200);
    expect(orders()).toHaveLength(1);
    rig.blocked = undefined;
    for (let second = 0; second < 10; second++) {
      book(99.9);
      await rig.seconds(1);
    }
    expect([held(), rig.assembled.flattening.active]).toEqual(['0', []]);
  });

  test('ends after its two minutes, of which a block is no part', async () => {
    const { rig, begin, textsIn, pause } = await holding();
    rig.venue.onCreate = () => {};
    pause();
    const work = begin();
    await rig.seconds(60);
    rig.blocked = 'the exchange forbids requests';
    await rig.seconds(300);
    rig.blocked = undefined;
    expect(await textsIn(55, work)).toBeUndefined();
    expect(await textsIn(10, work)).toEqual([expect.stringContaining('could not be closed in time')]);
  });

  test('and its pause are on disk together, so that a crash leaves both', async () => {
    const { rig, book, held, begin, restart } = await holding();
    book(99.9);
    void begin({}, [kill({ kind: 'pause', strategy: 's' })]);
    await restart();
    expect([held(), rig.assembled.risk.switch.of('s')?.kind]).toEqual(['0', 'pause']);
  });

  test('whose time ran out while no daemon ran says so at the next start', async () => {
    const { rig, book, begin, pause, restart } = await holding();
    book(99.9);
    pause();
    void begin();
    await rig.finish(rig.journal.durable());
    rig.leave();
    await rig.pass(200_000);
    await restart();
    expect(rig.notices.at(-1)?.text).toMatch(
      /flatten of s on BTCUSDT has ended: .* 1 BTC is left: its time ran out while no daemon ran; repeat sluice flatten/,
    );
  });

  test('that nothing could be sent for in a day says why, not that it was too slow, and not that a stop closes it', async () => {
    const { rig, send, book, orders, begin, textsIn, pause } = await holding();
    send(target(1, { stop: 95 }));
    await rig.seconds(3);
    book(99.9);
    pause();
    rig.blocked = 'the exchange forbids requests';
    const work = begin();
    rig.price(94);
    rig.assembled.hitStop({ strategy: 's', symbol: 'BTCUSDT' }, 'stop hit');
    const why = 's closed nothing on BTCUSDT; 1 BTC is left: nothing could be sent (the exchange forbids requests);';
    await rig.seconds(130);
    aDayLater(rig);
    expect(await textsIn(2, work)).toEqual([`${why} once that has ended, repeat sluice flatten.`]);
    expect(orders()).toHaveLength(1);
  });

  test('that the full disk kept from sending says so', async () => {
    const { rig, book, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    rig.diskFull = true;
    const work = begin();
    await rig.seconds(2);
    aDayLater(rig);
    expect(await textsIn(2, work)).toEqual([expect.stringContaining('nothing could be sent (the disk is full)')]);
  });

  test('goes on where it is repeated, with what it has closed so far', async () => {
    const { rig, book, orders, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    rig.venue.onCreate = ({ type }) => {
      if (type === 'MARKET') return;
      void rig.clock.sleep(100).then(() => rig.venue.fill([...rig.venue.orders.keys()].at(-1) ?? '', '0.4'));
    };
    void begin();
    await rig.seconds(3);
    const work = begin({ maxSlippage: rate('0.02') });
    await rig.seconds(1);
    book(99.9);
    expect(await textsIn(10, work)).toEqual([expect.stringContaining('s closed 1 BTC on BTCUSDT at 99.96')]);
    expect(orders().slice(1)).toEqual(['SELL LIMIT CANCELED 0.4', 'SELL MARKET FILLED 0.6']);
  });

  test.each(['kill', 'resume'] as const)('sends nothing after a %s, not even what was reserved before', async (how) => {
    const { rig, book, orders, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    const { assembled } = rig;
    let stopping: Promise<unknown> | undefined;
    rig.onCommit = (event) => {
      if (event !== 'sending') return;
      stopping ??= how === 'kill' ? assembled.kill(kill({ everything: true })) : assembled.resume('s', 'operator', 'x');
    };
    const work = begin();
    expect(await textsIn(6, work)).toEqual([expect.stringContaining('s closed nothing on BTCUSDT; 1 BTC is left')]);
    await stopping;
    expect([stopping === undefined, orders()]).toEqual([false, ['BUY MARKET FILLED 1']]);
  });

  test('cancels by the kill of everything what rests of it, and sells again only where a person asks then', async () => {
    const { rig, book, orders, held, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    const first = begin();
    await rig.seconds(2);
    const resting = await rig.finish(rig.assembled.kill(kill({ everything: true, at: rig.clock.now() })));
    expect(resting).toMatchObject([{ intent: { purpose: 'flatten' }, state: 'canceled' }]);
    expect(await textsIn(5, first)).toEqual([expect.stringContaining('1 BTC is left: killed')]);
    await rig.seconds(20);
    expect(orders().slice(1)).toEqual(['SELL LIMIT CANCELED 0']);
    book(99.9);
    const second = begin();
    await rig.seconds(3);
    book(99.9);
    expect(await textsIn(12, second)).toEqual([expect.stringContaining('nothing is left')]);
    expect(held()).toBe('0');
  });

  test.each([
    ['a kill of everything', { ...kill({ everything: true }), strategy: null }],
    ['a resume', { ...kill(), kind: 'resume', strategy: null }],
  ] as const)('is ended by %s that was written while no daemon ran', async (_what, entry) => {
    const { rig, book, orders, begin, pause, restart } = await holding();
    book(99.9);
    pause();
    void begin();
    await rig.seconds(2);
    rig.journal.append(entry);
    await rig.finish(rig.journal.durable());
    await restart();
    expect(orders().slice(1)).toEqual(['SELL LIMIT CANCELED 0']);
    expect(rig.assembled.flattening.active).toEqual([]);
  });

  test('that was asked under a kill of everything goes on after a restart', async () => {
    const { rig, book, held, begin, restart } = await holding();
    await rig.finish(rig.assembled.kill(kill({ everything: true })));
    book(99.9);
    void begin();
    await rig.seconds(2);
    await rig.finish(rig.journal.durable());
    await restart();
    expect(held()).toBe('0');
  });

  test.each(['kill', 'resume'] as const)("is ended by a %s where the exchange's clock was set back", async (how) => {
    const { rig, book, orders, begin, textsIn, pause } = await holding();
    book(99.9);
    pause();
    const now = rig.clock.now.bind(rig.clock);
    Object.assign(rig.clock, { now: () => now() + 20_000 });
    const work = begin();
    Object.assign(rig.clock, { now });
    await rig.seconds(2);
    if (how === 'kill') await rig.finish(rig.assembled.kill(kill({ everything: true })));
    else await rig.finish(rig.assembled.resume('s', 'operator', 'over'));
    expect(await textsIn(12, work)).toEqual([expect.stringContaining('1 BTC is left')]);
    expect(orders().slice(1)).not.toContainEqual(expect.stringMatching(/NEW|FILLED/));
  });

  test('is no reason to kill a strategy where its orders are denied', async () => {
    const limits = { priceCollar: rate('0.03'), maxDenials: 3 };
    const { rig, orders, begin, pause } = await holding({ limits });
    pause();
    void begin({ maxSlippage: rate('0.05') });
    for (let second = 0; second < 6; second++) await rig.seconds(1);
    expect(orders()).toHaveLength(1);
    expect(rig.db.prepare('SELECT DISTINCT code FROM denials').all()).toEqual([{ code: 'collar' }]);
    expect(rig.assembled.risk.switch.inForce).toMatchObject([{ kind: 'pause' }]);
  });

  test('cancels take-profits first, and what is entered no more does not come back while it is paused', async () => {
    const { rig, send, book, orders, held, begin, textsIn, pause } = await holding();
    send(target(1, { takeProfit: 120 }));
    await rig.seconds(3);
    expect(orders().at(-1)).toBe('SELL LIMIT NEW 0');
    book(99.9);
    pause();
    const work = begin();
    await rig.seconds(3);
    book(99.9);
    await textsIn(12, work);
    send(target(2));
    await rig.seconds(5);
    expect([held(), orders().filter((order) => order.includes('NEW'))]).toEqual(['0', []]);
    await rig.finish(rig.assembled.resume('s', 'operator', 'over'));
    send(target(2));
    await rig.seconds(8);
    expect(held()).toBe('2');
  });

  test('closes what quotes left', async () => {
    const { rig, send, book, held, begin, textsIn, pause } = await holding();
    send({ kind: 'quotes', quotes: [{ side: 'SELL', price: 110, quantity: 1 }], reason: 'test' });
    await rig.seconds(3);
    book(99.9);
    pause();
    const work = begin();
    await rig.seconds(3);
    book(99.9);
    expect(await textsIn(12, work)).toEqual([expect.stringContaining('nothing is left')]);
    expect(held()).toBe('0');
  });

  test('buys a short back on margin', async () => {
    const { rig, send, book, held, begin, textsIn, pause } = await holding({ account: 'margin', balances: false });
    send(target(-1));
    await rig.seconds(8);
    expect(held()).toBe('-1');
    book(99.9);
    pause();
    const work = begin();
    await rig.seconds(3);
    book(99.9);
    expect(await textsIn(12, work)).toEqual([expect.stringContaining('nothing is left')]);
    expect(held()).toBe('0');
  });

  test('leaves out what is too small to sell', async () => {
    const { rig, begin } = await holding();
    rig.assembled.portfolio.apply(fill({ strategy: 't', quantity: '0.00001', tradeId: '99', orderId: '99' }));
    expect(await begin({ strategy: 't' })).toEqual([]);
  });
});
