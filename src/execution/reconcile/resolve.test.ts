import { describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { TestRig, timing } from '../../../test/kit/test-rig.ts';

/** The order's window is 2 s; it may appear until the horizon after that. */
const horizon = startTime + 2_000 + timing.absentAfterMs;

/** A rig with an order whose answer was lost, and whether the exchange has it. */
function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestRig>[0] = {}, lagMs = 0) {
  const rig = new TestRig(options).listen();
  rig.venue.creates = [fate, 'accept'];
  rig.venue.lagMs = lagMs;
  return { rig, ...rig.begin({ price: '100' }) };
}

describe('an unknown order', () => {
  test('is found among the open orders at once', async () => {
    const { rig, order, carried } = lost('acceptLost');
    expect(await rig.finish(carried, 1_000)).toBe('accepted');
    expect(order.state).toBe('open');
    expect(order.orderId).toBe('1001');
    expect(await rig.steps(order)).toEqual(['approved', 'sending', 'unknown', 'found']);
  });

  test('is found through its trades alone when it filled before the first sweep', async () => {
    const { rig, order, carried } = lost('acceptLost');
    rig.venue.onCreate = () => {};
    await rig.pass(5);
    rig.venue.fill('1001');
    expect(await rig.finish(carried, 2_000)).toBe('accepted');
    expect(await rig.stateOf(order)).toBe('filled');
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('is found late, when a replica shows it late', async () => {
    const { rig, order, carried } = lost('acceptLost', {}, 40_000);
    await rig.pass(39_000);
    expect(await rig.stateOf(order)).toBe('unknown');
    expect(await rig.finish(carried, 10_000)).toBe('accepted');
    expect(order.state).toBe('open');
  });

  test.each([0, 1, 60])(
    'is found through a trade that is shown after younger ones (%d known before)',
    async (before) => {
      const rig = new TestRig().listen();
      const busy = rig.venue.place({ clientOrderId: 'web_1' });
      for (let count = 0; count < before; count++) rig.venue.fill(busy.orderId, '0.001');
      await rig.sweep();
      rig.venue.creates = ['acceptLost'];
      rig.venue.lagMs = 20_000;
      const { order, carried } = rig.begin({ quantity: '1' });
      await rig.pass(1);
      rig.venue.lagMs = 0;
      for (let count = 0; count < 60; count++) {
        rig.venue.fill(busy.orderId, '0.001');
        await rig.pass(100);
      }
      expect(await rig.stateOf(order)).toBe('unknown');
      expect(await rig.finish(carried, 30_000)).toBe('accepted');
      await rig.sweep();
      expect(await rig.stateOf(order)).toBe('filled');
      expect(await rig.fillRows()).toEqual(rig.venueRows());
    },
  );

  test('without a known trade before it is not given up while the newest page may not show all since', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['acceptLost'];
    rig.venue.lagMs = 20_000;
    const { order, carried } = rig.begin({ quantity: '1' });
    await rig.pass(1);
    rig.venue.lagMs = 0;
    rig.venue.pageSize = 30;
    const busy = rig.venue.place({ clientOrderId: 'web_1' });
    for (let count = 0; count < 60; count++) rig.venue.fill(busy.orderId, '0.001');
    await rig.pass(600_000);
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    rig.venue.pageSize = 1_000;
    expect(await rig.finish(carried, 30_000)).toBe('accepted');
    expect(order.state).not.toBe('unknown');
  });

  test('is found by its client id where the exchange answers that', async () => {
    const { rig, order, carried } = lost('acceptLost', { byClientId: true });
    rig.venue.failing.add('openOrders');
    expect(await rig.finish(carried, 1_000)).toBe('accepted');
    expect(order.orderId).toBe('1001');
  });

  test('is not given up because a query by client id misses it', async () => {
    const { rig, order, carried } = lost('acceptLost', { byClientId: true });
    rig.venue.failing.add('queryByClientId');
    expect(await rig.finish(carried, 1_000)).toBe('accepted');
    expect(order.state).toBe('open');
  });

  test('is not found in an order that is not what was sent', async () => {
    const { rig, order, carried } = lost('dropLost', { byClientId: true });
    await rig.pass(1);
    rig.venue.failing.add('openOrders');
    rig.venue.place({ clientOrderId: order.intent.clientOrderId, side: 'SELL' });
    await rig.pass(30_000);
    expect(order.state).toBe('unknown');
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
  });

  test('that is nowhere is searched for past its horizon until two complete sweeps have missed it', async () => {
    const { rig, order, carried } = lost('dropLost', { balances: false });
    await rig.pass(horizon - rig.clock.now());
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    expect(await rig.finish(carried)).toBe('unknown');
    expect(rig.clock.now()).toBeGreaterThanOrEqual(horizon + timing.sweepGapMs);
    expect(rig.clock.now()).toBeLessThan(horizon + timing.sweepGapMs + 10_000);
    expect(await rig.stateOf(order)).toBe('quarantined');
    expect((await rig.steps(order)).at(-1)).toBe('quarantined');
    expect(rig.notices.at(-1)).toMatchObject({ level: 'error' });
    expect(rig.notices.at(-1)?.text).toContain('BTCUSDT is blocked');
  });

  test('that nothing proves absent blocks its symbol and keeps its reservation', async () => {
    const { rig, order, carried } = lost('dropLost', { balances: false });
    await rig.finish(carried);
    const { portfolio } = rig.assembled;
    expect(portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(portfolio.isUndecided('ETHUSDT')).toBe(false);
    expect([...portfolio.orders()]).toEqual([order]);
  });

  test('is not decided by failed queries, however many and however late', async () => {
    const { rig, order, carried } = lost('acceptLost');
    rig.venue.failing.add('openOrders');
    await rig.pass(3_600_000);
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    expect(await rig.stateOf(order)).toBe('unknown');
    rig.venue.failing.clear();
    expect(await rig.finish(carried, 10_000)).toBe('accepted');
    expect(order.state).toBe('open');
  });

  test('needs two complete sweeps after the horizon: failures between them do not count', async () => {
    const { rig, carried } = lost('dropLost', { balances: false });
    await rig.pass(horizon - rig.clock.now());
    rig.venue.failing.add('tradesSince');
    await rig.pass(60_000);
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    rig.venue.failing.clear();
    const healedAt = rig.clock.now();
    expect(await rig.finish(carried)).toBe('unknown');
    expect(rig.clock.now() - healedAt).toBeGreaterThanOrEqual(timing.sweepGapMs);
  });

  test('that is quarantined is still searched for, and adopted when it shows', async () => {
    const { rig, order, carried } = lost('acceptLost', { balances: false }, 300_000);
    expect(await rig.finish(carried)).toBe('unknown');
    await rig.pass(300_000);
    expect(order.state).toBe('open');
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    rig.venue.lagMs = 0;
    rig.venue.fill('1001');
    await rig.sweep();
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
    expect(await rig.stateOf(order)).toBe('filled');
  });

  test('is reported after half a minute, and urgently after five', async () => {
    const { rig, order, carried } = lost('acceptLost');
    rig.venue.failing.add('openOrders');
    await rig.pass(29_000);
    expect(rig.notices).toEqual([]);
    await rig.pass(10_000);
    expect(rig.notices.map(({ level }) => level)).toEqual(['warn']);
    expect(rig.notices[0]?.text).toContain(`${order.intent.clientOrderId} has been unknown for more than 30 s`);
    await rig.pass(240_000);
    expect(rig.notices).toHaveLength(1);
    await rig.pass(30_000);
    expect(rig.notices.map(({ level }) => level)).toEqual(['warn', 'error']);
    await rig.pass(3_600_000);
    expect(rig.notices).toHaveLength(2);
    rig.venue.failing.clear();
    expect(await rig.finish(carried, 10_000)).toBe('accepted');
  });

  test('that is found within half a minute is not reported', async () => {
    const { rig, carried } = lost('acceptLost', {}, 20_000);
    await rig.finish(carried);
    await rig.pass(600_000);
    expect(rig.notices).toEqual([]);
  });

  test('does not hold its queries too close together', async () => {
    const { rig } = lost('dropLost');
    await rig.pass(60_000);
    expect(rig.asked('openOrders')).toBeLessThan(20);
  });
});
