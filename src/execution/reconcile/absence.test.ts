/** What becomes of an order that no list shows: absent by proof, quarantined without, adopted when it shows up all the same. */
import { describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { TestRig, timing } from '../../../test/kit/test-rig.ts';
import { units, unitsText } from '../../domain/money.ts';

/** A rig that knows what the account held at first. */
async function ready(options: ConstructorParameters<typeof TestRig>[0] = {}): Promise<TestRig> {
  const rig = new TestRig(options).listen();
  await rig.finish(rig.assembled.trader.recover());
  return rig;
}

/** One with an order whose answer was lost, and whether the exchange has it. */
async function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestRig>[0] = {}) {
  const rig = await ready(options);
  rig.venue.creates = [fate, 'accept'];
  return { rig, ...rig.begin({ price: '100' }) };
}

const free = (rig: TestRig): string => unitsText(rig.assembled.portfolio.freeQuote('s', 'BTCUSDT'));
const texts = (rig: TestRig): string => rig.notices.map(({ text }) => text).join('\n');
const halts = (rig: TestRig): string[] => rig.assembled.execution.halts.inForce.map(({ cause }) => cause);

describe('an order that nobody finds', () => {
  test('is absent once the balances are explained without it: its reservation ends and its symbol goes on', async () => {
    const { rig, order, carried } = await lost('dropLost');
    expect(await rig.finish(carried)).toBe('absent');
    expect(rig.clock.now()).toBeGreaterThan(startTime + 2_000 + timing.absentAfterMs + timing.sweepGapMs);
    expect(await rig.row(order)).toMatchObject({ state: 'absent', orderId: null });
    expect((await rig.steps(order)).slice(-2)).toEqual(['absent', 'closed']);
    expect(free(rig)).toBe('1000000');
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    expect(rig.asked('create')).toBe(1);
  });

  test('is not absent while it is only hidden: what it locks gives it away', async () => {
    const { rig, order, carried } = await lost('acceptLost');
    await rig.clock.settle();
    rig.venue.order('1001').visibleAt = Number.POSITIVE_INFINITY;
    expect(await rig.finish(carried)).toBe('unknown');
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'unproven' });
    expect(texts(rig)).toContain('100 USDT are locked where known open orders lock 0');
    expect(free(rig)).toBe('999900');
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
  });

  test('is not absent when the balances moved without a known fill', async () => {
    const { rig, order, carried } = await lost('dropLost');
    rig.venue.pay('USDT', units('-1'));
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('quarantined');
    expect(texts(rig)).toContain('the exchange has -1 USDT that no known fill explains');
  });

  test('is absent later when what moved the balances is explained', async () => {
    const { rig, order, carried } = await lost('dropLost');
    rig.venue.pay('USDT', units('-1'));
    await rig.finish(carried);
    expect(order.state).toBe('quarantined');
    await rig.finish(rig.assembled.adjust('USDT', units('-1'), 'operator', 'paid out'));
    await rig.pass(60_000);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('is absent although others trade on the account: their orders and trades are known', async () => {
    const { rig, order, carried } = await lost('dropLost');
    const other = rig.venue.place({ clientOrderId: 'web_1', price: '90' });
    rig.venue.fill(other.orderId, '0.25');
    rig.venue.place({ clientOrderId: 'web_2', price: '110', side: 'SELL' });
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('waits for a moment at which nothing moves', async () => {
    const { rig, order, carried } = await lost('dropLost');
    const other = rig.venue.place({ clientOrderId: 'web_1', price: '90' });
    for (let second = 0; second < 90; second++) {
      rig.venue.fill(other.orderId, '0.001');
      await rig.pass(15);
      rig.venue.fill(other.orderId, '0.001');
      await rig.pass(985);
    }
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('takes no fill for unexplained that comes while the balances are read', async () => {
    const { rig, order, carried } = await lost('dropLost');
    let meddled = 0;
    for (let seen = rig.asked('account'); meddled < 8; await rig.pass(5)) {
      if (rig.asked('account') === seen) continue;
      seen = rig.asked('account');
      meddled++;
      rig.venue.fill(rig.venue.place({ clientOrderId: `web_${meddled}` }).orderId, '1');
    }
    expect(await rig.stateOf(order)).toBe('unknown');
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('stays unknown while the account cannot be asked', async () => {
    const { rig, order, carried } = await lost('dropLost');
    rig.venue.failing.add('balances');
    await rig.pass(3_600_000);
    expect(await rig.stateOf(order)).toBe('unknown');
    rig.venue.failing.clear();
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('waits for the horizon by the exchange’s clock, not by ours', async () => {
    let behindMs = 120_000;
    const { rig, order, carried } = await lost('dropLost', { serverBehindMs: () => behindMs });
    await rig.pass(100_000);
    expect(await rig.stateOf(order)).toBe('unknown');
    behindMs = 0;
    await rig.finish(carried, 60_000);
    expect(await rig.stateOf(order)).toBe('absent');
  });

  test('is quarantined on margin, where no balances are to be had', async () => {
    const { rig, order, carried } = await lost('dropLost', { account: 'margin', balances: false });
    await rig.finish(carried);
    expect(await rig.stateOf(order)).toBe('quarantined');
    expect(texts(rig)).toContain('no such operation for margin');
  });
});

describe('an order that counted as absent and shows up', () => {
  test('is reserved again, booked, its rest cancelled, and doubles the horizon for good', async () => {
    const { rig, order, carried } = await lost('dropLost');
    await rig.finish(carried);
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    rig.venue.fill('1001', '0.4');
    rig.venue.cancels = ['dropLost', 'apply'];
    await rig.sweep();
    expect(order.state).toBe('open');
    expect(free(rig)).toBe('999900');
    expect(texts(rig)).toContain('resolved it as absent');
    await rig.pass(30_000);
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'canceled', filled: '0.4', orderId: '1001' });
    expect(await rig.fillRows()).toEqual(rig.venueRows());
    expect(halts(rig)).toEqual([]);
    expect(rig.assembled.execution.horizon.ms).toBeGreaterThanOrEqual(2 * timing.absentAfterMs);
    const raised = rig.assembled.execution.horizon.ms;
    rig.crash();
    expect(rig.assembled.execution.horizon.ms).toBe(raised);
  });

  test('is known for what it is after a restart, too', async () => {
    const { rig, order, carried } = await lost('dropLost');
    await rig.finish(carried);
    await rig.written();
    rig.crash();
    rig.listen();
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    await rig.finish(rig.assembled.trader.recover());
    await rig.pass(30_000);
    await rig.sweep();
    expect(rig.venue.order('1001').status).toBe('CANCELED');
    expect(await rig.stateOf(order)).toBe('canceled');
  });

  test('counts as somebody else’s when it is another order with its id', async () => {
    const { rig, order, carried } = await lost('dropLost');
    await rig.finish(carried);
    rig.venue.place({ clientOrderId: order.intent.clientOrderId, side: 'SELL' });
    await rig.sweep();
    expect(await rig.stateOf(order)).toBe('absent');
    expect(rig.asked('cancel')).toBe(0);
    expect(texts(rig)).toContain('is another order');
  });
});

describe('an id that two orders bear', () => {
  test('quarantines the order whose id was copied while it is open, and takes no fill of the copy', async () => {
    const rig = await ready();
    const order = await rig.placed();
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'copied', orderId: '1001' });
    rig.venue.fill('1002');
    await rig.sweep();
    expect(await rig.fillRows()).toEqual([]);
    expect(order.state).toBe('quarantined');
  });

  test.each([{ price: '99' }, { quantity: '0.9' }, { quantity: '1.1' }, { side: 'SELL' as const }])(
    'quarantines the missing order when the one with its id is not what was sent but %j',
    async (other) => {
      const { rig, order } = await lost('dropLost');
      await rig.clock.settle();
      rig.venue.place({ clientOrderId: order.intent.clientOrderId, ...other });
      await rig.pass(5_000);
      expect(await rig.row(order)).toMatchObject({
        state: 'quarantined',
        quarantineReason: 'mismatch',
        orderId: null,
      });
    },
  );

  test('is reported when the order has ended', async () => {
    const rig = await ready();
    const order = await rig.placed();
    rig.venue.fill('1001');
    await rig.sweep();
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    await rig.sweep();
    expect(texts(rig)).toContain('somebody copied it');
    expect(halts(rig)).toEqual([]);
    expect(rig.venue.order('1002').status).toBe('NEW');
  });
});

describe('an order that the exchange has forgotten', () => {
  test('is asked for in vain for five minutes, then quarantined, and open again if it comes back', async () => {
    const rig = await ready();
    const order = await rig.placed();
    const kept = rig.venue.order('1001');
    rig.venue.orders.delete('1001');
    void rig.assembled.sweeps.watch('BTCUSDT');
    await rig.pass(290_000);
    expect(order.state).toBe('open');
    await rig.pass(20_000);
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    rig.venue.orders.set('1001', kept);
    await rig.pass(40_000);
    expect(order.state).toBe('open');
  });

  test('is quarantined when its status stays a word that nobody has described, and goes on once that is known again', async () => {
    const rig = await ready();
    const order = await rig.placed();
    const there = rig.venue.order('1001');
    Object.assign(there, { status: 'CANCELING', oddStatus: 'TELEPORTED' });
    await rig.sweep();
    expect(order.state).toBe('open');
    await rig.pass(6_000);
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'status' });
    expect(texts(rig)).toContain('the status "TELEPORTED"');
    await rig.pass(6_000);
    await rig.sweep();
    expect(order.state).toBe('quarantined');
    delete there.oddStatus;
    rig.venue.end('1001');
    await rig.sweep();
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'canceled' });
  });

  test('keeps sweeps incomplete only until its horizon: then what it may be is quarantined and reported once', async () => {
    const { rig, order, carried } = await lost('acceptLost');
    await rig.clock.settle();
    rig.venue.fill('1001');
    rig.venue.orders.delete('1001');
    expect((await rig.sweep()).complete).toBe(false);
    await rig.finish(carried);
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'forgotten' });
    for (let sweeps = 0; sweeps < 5; sweeps++) expect((await rig.sweep()).complete).toBe(true);
    expect(texts(rig).split('cannot be attributed')).toHaveLength(2);
  });
});

describe('everything halts', () => {
  const refused = async (rig: TestRig): Promise<boolean> => {
    const before = rig.asked('create');
    const { carried } = rig.begin({ price: '99' });
    return (await rig.finish(carried)) === 'notSent' && rig.asked('create') === before;
  };

  test('when an order is ours but not in this journal, and stays so over a restart until it is resumed', async () => {
    const rig = await ready();
    const order = await rig.placed();
    const newer = await rig.placed({ price: '98' });
    await rig.written();
    // The journal goes back to before the newer one.
    for (const table of ['orders', 'events', 'venue_orders'])
      rig.db.prepare(`DELETE FROM ${table} WHERE client_order_id = ?`).run(newer.intent.clientOrderId);
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(halts(rig)).toEqual(['futureId']);
    expect(await refused(rig)).toBe(true);
    await rig.written();
    rig.crash();
    rig.listen();
    expect(halts(rig)).toEqual(['futureId']);
    expect(await refused(rig)).toBe(true);
    const again = rig.assembled.portfolio.order(order.intent.clientOrderId);
    if (again !== undefined) await rig.finish(rig.assembled.trader.cancel(again));
    expect(rig.venue.order('1001').status).toBe('CANCELED');
    await rig.finish(rig.assembled.resume('s', 'operator', 'checked'));
    expect(halts(rig)).toEqual(['futureId']);
    await rig.finish(rig.assembled.resume(undefined, 'operator', 'checked'));
    expect(halts(rig)).toEqual([]);
    await rig.written();
    rig.crash();
    expect(halts(rig)).toEqual([]);
  });

  test('when a list stays truncated', async () => {
    const rig = await ready();
    rig.venue.openLimit = 1;
    rig.venue.place({ clientOrderId: 'web_1' });
    await rig.sweep();
    expect(halts(rig)).toEqual([]);
    await rig.pass(timing.sweepGapMs);
    await rig.sweep();
    expect(halts(rig)).toEqual(['fullList']);
    expect(await refused(rig)).toBe(true);
  });

  test('when the key stays refused, not when it was once', async () => {
    const rig = await ready();
    rig.venue.keyRefused = true;
    await rig.sweep();
    rig.venue.keyRefused = false;
    await rig.sweep();
    await rig.pass(timing.sweepGapMs);
    rig.venue.keyRefused = true;
    await rig.sweep();
    expect(halts(rig)).toEqual([]);
    await rig.pass(timing.sweepGapMs);
    await rig.sweep();
    expect(halts(rig)).toEqual(['keyRefused']);
    rig.venue.keyRefused = false;
    expect(await refused(rig)).toBe(true);
  });

  test('when client ids are not returned and others have orders there; without others it is reported', async () => {
    const rig = await ready();
    const order = await rig.placed();
    rig.venue.echoesIds = false;
    await rig.finish(rig.assembled.sweeps.query(order).then(() => {}));
    await rig.finish(rig.assembled.sweeps.query(order).then(() => {}));
    expect(halts(rig)).toEqual([]);
    expect(texts(rig).split('does not return the client id')).toHaveLength(2);
    rig.venue.echoesIds = true;
    rig.venue.place({ clientOrderId: 'web_1' });
    await rig.sweep();
    rig.venue.echoesIds = false;
    await rig.finish(rig.assembled.sweeps.query(order).then(() => {}));
    expect(halts(rig)).toEqual(['noEcho']);
  });

  test('and it is denied at the strategy’s door, with the reason', async () => {
    const rig = await ready();
    rig.assembled.execution.halts.halt('ledger', 'something is missing');
    const verdict = rig.assembled.trader.judge(rig.begin({ price: '99' }).order.intent);
    expect(verdict).toMatchObject({ kind: 'denied', code: 'halted', facts: { reason: 'something is missing' } });
  });
});
