/** What becomes of an order that no list shows: absent by proof, quarantined without, adopted when it shows up all the same. */
import { describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { TestDesk, timing } from '../../../test/kit/desk.ts';
import { units, unitsText } from '../../domain/money.ts';

/** A desk that knows what the account held at first. */
async function ready(options: ConstructorParameters<typeof TestDesk>[0] = {}): Promise<TestDesk> {
  const desk = new TestDesk(options).listen();
  await desk.finish(desk.assembled.trader.recover());
  return desk;
}

/** One with an order whose answer was lost, and whether the exchange has it. */
async function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestDesk>[0] = {}) {
  const desk = await ready(options);
  desk.venue.creates = [fate, 'accept'];
  return { desk, ...desk.begin({ price: '100' }) };
}

const free = (desk: TestDesk): string => unitsText(desk.assembled.portfolio.freeQuote('s', 'BTCUSDT'));
const texts = (desk: TestDesk): string => desk.notices.map(({ text }) => text).join('\n');
const halts = (desk: TestDesk): string[] => desk.assembled.execution.halts.inForce.map(({ cause }) => cause);

describe('an order that nobody finds', () => {
  test('is absent once the balances are explained without it: its reservation ends and its symbol goes on', async () => {
    const { desk, order, carried } = await lost('dropLost');
    expect(await desk.finish(carried)).toBe('refused');
    expect(desk.clock.now()).toBeGreaterThan(startTime + 2_000 + timing.horizonMs + timing.sweepGapMs);
    expect(await desk.row(order)).toMatchObject({ state: 'absent', orderId: null });
    expect((await desk.steps(order)).slice(-2)).toEqual(['absent', 'closed']);
    expect(free(desk)).toBe('1000000');
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    expect(desk.asked('create')).toBe(1);
  });

  test('is not absent while it is only hidden: what it locks gives it away', async () => {
    const { desk, order, carried } = await lost('acceptLost');
    await desk.clock.settle();
    desk.venue.order('1001').visibleAt = Number.POSITIVE_INFINITY;
    expect(await desk.finish(carried)).toBe('unknown');
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'unproven' });
    expect(texts(desk)).toContain('100 USDT are locked where known open orders lock 0');
    expect(free(desk)).toBe('999900');
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
  });

  test('is not absent when the balances moved without a known fill', async () => {
    const { desk, order, carried } = await lost('dropLost');
    desk.venue.pay('USDT', units('-1'));
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('quarantined');
    expect(texts(desk)).toContain('the exchange has -1 USDT that no known fill explains');
  });

  test('is absent later when what moved the balances is explained', async () => {
    const { desk, order, carried } = await lost('dropLost');
    desk.venue.pay('USDT', units('-1'));
    await desk.finish(carried);
    expect(order.state).toBe('quarantined');
    await desk.finish(desk.assembled.adjust('USDT', units('-1'), 'operator', 'paid out'));
    await desk.pass(60_000);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('is absent although others trade on the account: their orders and trades are known', async () => {
    const { desk, order, carried } = await lost('dropLost');
    const other = desk.venue.place({ clientOrderId: 'web_1', price: '90' });
    desk.venue.fill(other.orderId, '0.25');
    desk.venue.place({ clientOrderId: 'web_2', price: '110', side: 'SELL' });
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('waits for a moment at which nothing moves', async () => {
    const { desk, order, carried } = await lost('dropLost');
    const other = desk.venue.place({ clientOrderId: 'web_1', price: '90' });
    for (let second = 0; second < 90; second++) {
      desk.venue.fill(other.orderId, '0.001');
      await desk.pass(15);
      desk.venue.fill(other.orderId, '0.001');
      await desk.pass(985);
    }
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('takes no fill for unexplained that comes while the balances are read', async () => {
    const { desk, order, carried } = await lost('dropLost');
    let meddled = 0;
    for (let seen = desk.asked('account'); meddled < 8; await desk.pass(5)) {
      if (desk.asked('account') === seen) continue;
      seen = desk.asked('account');
      meddled++;
      desk.venue.fill(desk.venue.place({ clientOrderId: `web_${meddled}` }).orderId, '1');
    }
    expect(await desk.stateOf(order)).toBe('unknown');
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('stays unknown while the account cannot be asked', async () => {
    const { desk, order, carried } = await lost('dropLost');
    desk.venue.failing.add('balances');
    await desk.pass(3_600_000);
    expect(await desk.stateOf(order)).toBe('unknown');
    desk.venue.failing.clear();
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('waits for the horizon by the exchange’s clock, not by ours', async () => {
    let behindMs = 120_000;
    const { desk, order, carried } = await lost('dropLost', { serverBehindMs: () => behindMs });
    await desk.pass(100_000);
    expect(await desk.stateOf(order)).toBe('unknown');
    behindMs = 0;
    await desk.finish(carried, 60_000);
    expect(await desk.stateOf(order)).toBe('absent');
  });

  test('is quarantined on margin, where no balances are to be had', async () => {
    const { desk, order, carried } = await lost('dropLost', { account: 'margin', balances: false });
    await desk.finish(carried);
    expect(await desk.stateOf(order)).toBe('quarantined');
    expect(texts(desk)).toContain('no such operation for margin');
  });
});

describe('an order that counted as absent and shows up', () => {
  test('is reserved again, booked, its rest cancelled, and doubles the horizon for good', async () => {
    const { desk, order, carried } = await lost('dropLost');
    await desk.finish(carried);
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    desk.venue.fill('1001', '0.4');
    desk.venue.cancels = ['dropLost', 'apply'];
    await desk.sweep();
    expect(order.state).toBe('open');
    expect(free(desk)).toBe('999900');
    expect(texts(desk)).toContain('resolved it as absent');
    await desk.pass(30_000);
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'canceled', filled: '0.4', orderId: '1001' });
    expect(await desk.fillRows()).toEqual(desk.venueRows());
    expect(halts(desk)).toEqual([]);
    expect(desk.assembled.execution.horizon.ms).toBeGreaterThanOrEqual(2 * timing.horizonMs);
    const raised = desk.assembled.execution.horizon.ms;
    desk.crash();
    expect(desk.assembled.execution.horizon.ms).toBe(raised);
  });

  test('is known for what it is after a restart, too', async () => {
    const { desk, order, carried } = await lost('dropLost');
    await desk.finish(carried);
    await desk.written();
    desk.crash();
    desk.listen();
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    await desk.finish(desk.assembled.trader.recover());
    await desk.pass(30_000);
    await desk.sweep();
    expect(desk.venue.order('1001').status).toBe('CANCELED');
    expect(await desk.stateOf(order)).toBe('canceled');
  });

  test('counts as somebody else’s when it is another order with its id', async () => {
    const { desk, order, carried } = await lost('dropLost');
    await desk.finish(carried);
    desk.venue.place({ clientOrderId: order.intent.clientOrderId, side: 'SELL' });
    await desk.sweep();
    expect(await desk.stateOf(order)).toBe('absent');
    expect(desk.asked('cancel')).toBe(0);
    expect(texts(desk)).toContain('is another order');
  });
});

describe('an id that two orders bear', () => {
  test('quarantines the order whose id was copied while it is open, and takes no fill of the copy', async () => {
    const desk = await ready();
    const order = await desk.placed();
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'copied', orderId: '1001' });
    desk.venue.fill('1002');
    await desk.sweep();
    expect(await desk.fillRows()).toEqual([]);
    expect(order.state).toBe('quarantined');
  });

  test.each([{ price: '99' }, { quantity: '0.9' }, { quantity: '1.1' }, { side: 'SELL' as const }])(
    'quarantines the order looked for when the one with its id is not what was sent but %j',
    async (other) => {
      const { desk, order } = await lost('dropLost');
      await desk.clock.settle();
      desk.venue.place({ clientOrderId: order.intent.clientOrderId, ...other });
      await desk.pass(5_000);
      expect(await desk.row(order)).toMatchObject({
        state: 'quarantined',
        quarantineReason: 'mismatch',
        orderId: null,
      });
    },
  );

  test('is told of when the order has ended', async () => {
    const desk = await ready();
    const order = await desk.placed();
    desk.venue.fill('1001');
    await desk.sweep();
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    await desk.sweep();
    expect(texts(desk)).toContain('somebody copied it');
    expect(halts(desk)).toEqual([]);
    expect(desk.venue.order('1002').status).toBe('NEW');
  });
});

describe('an order that the exchange has forgotten', () => {
  test('is asked for in vain for five minutes, then quarantined, and open again if it comes back', async () => {
    const desk = await ready();
    const order = await desk.placed();
    const kept = desk.venue.order('1001');
    desk.venue.orders.delete('1001');
    void desk.assembled.sweeps.watch('BTCUSDT');
    await desk.pass(290_000);
    expect(order.state).toBe('open');
    await desk.pass(20_000);
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    desk.venue.orders.set('1001', kept);
    await desk.pass(40_000);
    expect(order.state).toBe('open');
  });

  test('is quarantined when its status stays a word that nobody has described, and goes on once that is known again', async () => {
    const desk = await ready();
    const order = await desk.placed();
    const there = desk.venue.order('1001');
    Object.assign(there, { status: 'CANCELING', oddStatus: 'TELEPORTED' });
    await desk.sweep();
    expect(order.state).toBe('open');
    await desk.pass(6_000);
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'status' });
    expect(texts(desk)).toContain('the status "TELEPORTED"');
    await desk.pass(6_000);
    await desk.sweep();
    expect(order.state).toBe('quarantined');
    delete there.oddStatus;
    desk.venue.end('1001');
    await desk.sweep();
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'canceled' });
  });

  test('keeps looks incomplete only until its horizon: then what it may be is quarantined, which is said once', async () => {
    const { desk, order, carried } = await lost('acceptLost');
    await desk.clock.settle();
    desk.venue.fill('1001');
    desk.venue.orders.delete('1001');
    expect((await desk.sweep()).complete).toBe(false);
    await desk.finish(carried);
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    for (let looks = 0; looks < 5; looks++) expect((await desk.sweep()).complete).toBe(true);
    expect(texts(desk).split('cannot be attributed')).toHaveLength(2);
  });
});

describe('everything halts', () => {
  const refused = async (desk: TestDesk): Promise<boolean> => {
    const before = desk.asked('create');
    const { carried } = desk.begin({ price: '99' });
    return (await desk.finish(carried)) === 'refused' && desk.asked('create') === before;
  };

  test('when an order is ours but not in this journal, and stays so over a restart until it is resumed', async () => {
    const desk = await ready();
    const order = await desk.placed();
    const newer = await desk.placed({ price: '98' });
    await desk.written();
    // The journal goes back to before the newer one.
    for (const table of ['orders', 'events', 'venue_orders'])
      desk.db.prepare(`DELETE FROM ${table} WHERE client_order_id = ?`).run(newer.intent.clientOrderId);
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(halts(desk)).toEqual(['futureId']);
    expect(await refused(desk)).toBe(true);
    await desk.written();
    desk.crash();
    desk.listen();
    expect(halts(desk)).toEqual(['futureId']);
    expect(await refused(desk)).toBe(true);
    const again = desk.assembled.portfolio.order(order.intent.clientOrderId);
    if (again !== undefined) await desk.finish(desk.assembled.trader.cancel(again));
    expect(desk.venue.order('1001').status).toBe('CANCELED');
    await desk.finish(desk.assembled.resume('s', 'operator', 'looked'));
    expect(halts(desk)).toEqual(['futureId']);
    await desk.finish(desk.assembled.resume(undefined, 'operator', 'looked'));
    expect(halts(desk)).toEqual([]);
    await desk.written();
    desk.crash();
    expect(halts(desk)).toEqual([]);
  });

  test('when a list stays cut', async () => {
    const desk = await ready();
    desk.venue.openLimit = 1;
    desk.venue.place({ clientOrderId: 'web_1' });
    await desk.sweep();
    expect(halts(desk)).toEqual([]);
    await desk.pass(timing.sweepGapMs);
    await desk.sweep();
    expect(halts(desk)).toEqual(['fullList']);
    expect(await refused(desk)).toBe(true);
  });

  test('when the key stays refused, not when it was once', async () => {
    const desk = await ready();
    desk.venue.keyRefused = true;
    await desk.sweep();
    desk.venue.keyRefused = false;
    await desk.sweep();
    await desk.pass(timing.sweepGapMs);
    desk.venue.keyRefused = true;
    await desk.sweep();
    expect(halts(desk)).toEqual([]);
    await desk.pass(timing.sweepGapMs);
    await desk.sweep();
    expect(halts(desk)).toEqual(['keyRefused']);
    desk.venue.keyRefused = false;
    expect(await refused(desk)).toBe(true);
  });

  test('when client ids are not given back and others have orders there; without others it is told of', async () => {
    const desk = await ready();
    const order = await desk.placed();
    desk.venue.echoesIds = false;
    await desk.finish(desk.assembled.sweeps.query(order).then(() => {}));
    await desk.finish(desk.assembled.sweeps.query(order).then(() => {}));
    expect(halts(desk)).toEqual([]);
    expect(texts(desk).split('does not return the client id')).toHaveLength(2);
    desk.venue.echoesIds = true;
    desk.venue.place({ clientOrderId: 'web_1' });
    await desk.sweep();
    desk.venue.echoesIds = false;
    await desk.finish(desk.assembled.sweeps.query(order).then(() => {}));
    expect(halts(desk)).toEqual(['noEcho']);
  });

  test('and it is denied at the strategy’s door, with the reason', async () => {
    const desk = await ready();
    desk.assembled.execution.halts.halt('ledger', 'something is missing');
    const verdict = desk.assembled.trader.judge(desk.begin({ price: '99' }).order.intent);
    expect(verdict).toMatchObject({ kind: 'denied', code: 'halted', facts: { reason: 'something is missing' } });
  });
});

describe('a human', () => {
  test.each(['absent', 'filled', 'canceled'] as const)('closes a quarantined order as %s', async (as) => {
    const { desk, order, carried } = await lost('dropLost', { balances: false });
    await desk.finish(carried);
    const { assembled } = desk;
    expect(
      await desk.finish(assembled.resolveByHand(order.intent.clientOrderId, as, 'operator', 'I looked')),
    ).toBeUndefined();
    expect(await desk.stateOf(order)).toBe(as);
    expect((await desk.steps(order)).slice(-2)).toEqual(['resolved', 'closed']);
    expect(assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    expect(free(desk)).toBe('1000000');
  });

  test('cannot close an order of which the exchange still tells', async () => {
    const desk = await ready();
    const order = await desk.placed();
    const said = desk.assembled.resolveByHand(order.intent.clientOrderId, 'absent', 'operator', 'why not');
    expect(await desk.finish(said)).toContain('the exchange decides its outcome');
    expect(order.state).toBe('open');
  });

  test('ends the search for an unknown order', async () => {
    const { desk, order, carried } = await lost('dropLost');
    await desk.pass(5_000);
    await desk.finish(desk.assembled.resolveByHand(order.intent.clientOrderId, 'absent', 'operator', 'I know'));
    expect(await desk.finish(carried)).toBe('refused');
  });
});
