/** Killed with -9 at the worst moments, the daemon ends up with exactly the exchange's list: `npm run torture` is the long form. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderRow, Simulator } from '../../src/simulator/simulator.ts';
import { differencesAtRest, quiet } from '../kit/books.ts';
import { moments, moveMaker, turnTaker } from '../kit/moments.ts';
import type { Program } from '../kit/program.ts';
import { makeRig, openExchange, type Rig, target, trader } from '../kit/rig.ts';
import { pass, until } from '../kit/until.ts';

/** Longer than an order that was signed may wait for its processing, real ms. */
const tooLateMs = 2_200;

/** Left out on the second profile for their time: each has a sister there that goes the same way. */
const sisters = /(own trades|resting order|20 ms|at openOrders)/;
const shares = [
  ['documented', moments],
  ['observed', moments.filter(({ name }) => !sisters.test(name))],
] as const;

describe.each(shares)('killed with -9 on the %s profile', (profile, share) => {
  let exchange: Simulator;
  let rig: Rig;
  let daemon: Program;

  beforeAll(async () => {
    exchange = await openExchange({ profile });
    rig = makeRig(exchange);
    turnTaker({ rig });
    moveMaker({ rig });
    daemon = await rig.start();
    await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  });
  afterAll(async () => {
    rig.remove();
    await exchange.close();
  });

  const orders = (): readonly OrderRow[] => exchange.allOrders(trader.uid);

  for (const moment of share) {
    test(`${moment.name}, the journal has every fill once, every open order, and no order was sent again`, async () => {
      await quiet(rig, exchange);
      const before = orders().length;
      await moment.kill({ rig, exchange, daemon });
      daemon = await rig.start();
      expect(await differencesAtRest(rig, exchange)).toEqual([]);
      // Each moment brings one new signal, and the signal one order.
      expect(orders().slice(before)).toHaveLength(1);
    });
  }

  test('before a create arrived at all, the order is proven absent, and nothing is sent in its place', async () => {
    await quiet(rig, exchange);
    const match = { method: 'POST', path: '/sapi/v1/order', times: 1 } as const;
    exchange.addFault({ match, do: { hold: 'on its way', when: 'before' } });
    const before = orders().length;
    rig.emit('other', target(0.1));
    await exchange.held('on its way');
    await daemon.end('SIGKILL');
    await pass(tooLateMs);
    exchange.release('on its way');
    rig.emit('other', undefined);
    daemon = await rig.start();
    turnTaker({ rig });
    await until('another symbol to be traded', () => orders().length > before);
    expect(
      orders()
        .slice(before)
        .map(({ symbol }) => symbol.toUpperCase()),
    ).not.toContain('ETHUSDT');
    const absent = rig.read((reader) => reader.orders("state = 'absent'"));
    expect(absent).toMatchObject([{ strategy: 'other', orderId: null, filled: '0' }]);
  });
});
