/** The exchange goes away, falls silent or loses an order while a daemon trades. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScaledClock } from '../../src/clock/clock.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { profiles } from '../kit/quirk-run.ts';
import { makeRig, marketStart, openExchange, price, quotes, type Rig, speed, target, trader } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';

let exchange: Simulator;
let rig: Rig;

const filled = (count: number) => until(`${count} fills`, () => exchange.allTrades(trader.uid).length >= count);

describe.each(profiles)('on the %s profile', (profile) => {
  beforeEach(async () => {
    exchange = await openExchange({ profile });
    rig = makeRig(exchange);
  });
  afterEach(async () => {
    rig.remove();
    await exchange.close();
  });

  test('an exchange that is gone for a while is traded on again, with nothing lost and nothing twice', async () => {
    // Its time goes on while it is away, and what it knows is kept.
    const durable = { profile, clock: new ScaledClock(speed, marketStart), persistDir: join(rig.dir, 'exchange') };
    const before = await openExchange(durable);
    const away = makeRig(before);
    try {
      away.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
      away.emit('taker', target(0.1));
      const daemon = await away.start();
      await quiet(away, before);
      const { port } = before;
      await before.close();
      away.emit('taker', target(0));
      away.emit('maker', quotes({ side: 'BUY', price: price / 2 + 1, quantity: 0.1 }));
      await pass(1_000);
      const back = await openExchange({ ...durable, port });
      try {
        expect(await differencesAtRest(away, back)).toEqual([]);
        expect(daemon.runs).toBe(true);
        expect((await daemon.end('SIGINT')).code).toBe(130);
        expect(back.openOrders(trader.uid)).toEqual([]);
      } finally {
        await back.close();
      }
    } finally {
      away.remove();
    }
  });

  test('a start that goes on just when it is stopped begins no strategy, and ends in good order', async () => {
    const answers = exchange.addFault({
      match: { method: 'GET', path: '/sapi/v1/openOrders' },
      do: { status: 503, when: 'before' },
    });
    const daemon = rig.launch();
    await daemon.line(/start-up waits for the exchange/);
    const ended = daemon.end('SIGINT');
    await daemon.line(/^stopping/);
    answers();
    expect((await ended).code).toBe(130);
    expect(daemon.lines.at(-1)).toBe(`stopped; state is in ${rig.state}`);
  });

  describe('a socket', () => {
    test('that breaks is opened again, and strategies go on', async () => {
      rig.emit('taker', target(0.1));
      await rig.start();
      await filled(1);
      exchange.addFault({ match: { method: 'WS', times: 3 }, do: { socket: 'disconnect' } });
      await pass(100);
      rig.emit('taker', target(0));
      await filled(2);
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
    });

    test('that says nothing more is left for a new one; till then nothing is created on old prices', async () => {
      rig.configure({ risk: { maxDataAgeMs: 1_000 } });
      rig.emit('taker', target(0.1));
      await rig.start();
      await quiet(rig, exchange);
      const speak = exchange.addFault({ match: { method: 'WS' }, do: { socket: 'silence' } });
      await pass(300);
      speak();
      rig.emit('taker', target(0));
      const orders = exchange.allOrders(trader.uid).length;
      await pass(3_000);
      expect(exchange.allOrders(trader.uid)).toHaveLength(orders);
      await filled(2);
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
    });
  });

  test('an order that never arrived blocks its symbol until its absence is proven; then the signal is carried out', async () => {
    const lost = exchange.addFault({ match: { method: 'POST', path: '/sapi/v1/order' }, do: { drop: 'before' } });
    rig.emit('taker', target(0.1));
    const daemon = await rig.start();
    await daemon.line(/Z unknown /);
    lost();
    expect(exchange.allOrders(trader.uid)).toHaveLength(0);
    await daemon.line(/did not take effect: two complete sweeps missed it and the balances are explained without it/);
    await filled(1);
    expect(exchange.allOrders(trader.uid)).toHaveLength(1);
    const status = JSON.parse((await rig.run('status', '--json')).stdout) as Record<string, readonly unknown[]>;
    expect(status).toMatchObject({ unknownOrders: [], quarantinedOrders: [], halts: [] });
    const [absent] = rig.read((reader) => reader.orders("state = 'absent'"));
    expect((await rig.run('why', absent?.clientOrderId ?? '')).stdout).toMatch(/OUTCOME UNKNOWN[\s\S]*ABSENT: proven/);
    expect((await daemon.end('SIGINT')).code).toBe(130);
  });
});

test('a stop while the exchange is gone says what is left there, and where it is looked for', async () => {
  exchange = await openExchange();
  rig = makeRig(exchange);
  try {
    rig.emit('maker', quotes({ side: 'BUY', price: price / 2, quantity: 0.1 }));
    const daemon = await rig.start();
    await until('a resting order', () => exchange.openOrders(trader.uid).length === 1);
    await exchange.close();
    expect((await daemon.end('SIGTERM')).code).toBe(0);
    expect(daemon.lines.join('\n')).toMatch(
      /stopped before these orders had ended: \w+ on BTCUSDT \(open\); the next start resolves them\nstopped; state is in/,
    );
  } finally {
    rig.remove();
  }
});
