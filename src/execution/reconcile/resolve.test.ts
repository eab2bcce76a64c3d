import { describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { TestDesk, timing } from '../../../test/kit/desk.ts';

/** The order's window is 2 s; it may appear until the horizon after that. */
const horizon = startTime + 2_000 + timing.horizonMs;

/** A desk with an order whose answer was lost, and whether the exchange has it. */
function lost(fate: 'acceptLost' | 'dropLost', options: ConstructorParameters<typeof TestDesk>[0] = {}, lagMs = 0) {
  const desk = new TestDesk(options).listen();
  desk.venue.creates = [fate, 'accept'];
  desk.venue.lagMs = lagMs;
  return { desk, ...desk.begin({ price: '100' }) };
}

describe('an unknown order', () => {
  test('is found among the open orders at once', async () => {
    const { desk, order, carried } = lost('acceptLost');
    expect(await desk.finish(carried, 1_000)).toBe('placed');
    expect(order.state).toBe('open');
    expect(order.orderId).toBe('1001');
    expect(await desk.steps(order)).toEqual(['approved', 'sending', 'unknown', 'found']);
  });

  test('is found through its trades alone when it filled before anybody looked', async () => {
    const { desk, order, carried } = lost('acceptLost');
    desk.venue.onCreate = () => {};
    await desk.pass(5);
    desk.venue.fill('1001');
    expect(await desk.finish(carried, 2_000)).toBe('placed');
    expect(await desk.stateOf(order)).toBe('filled');
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('is found late, when a replica shows it late', async () => {
    const { desk, order, carried } = lost('acceptLost', {}, 40_000);
    await desk.pass(39_000);
    expect(await desk.stateOf(order)).toBe('unknown');
    expect(await desk.finish(carried, 10_000)).toBe('placed');
    expect(order.state).toBe('open');
  });

  test.each([0, 1, 60])(
    'is found through a trade that is shown after younger ones (%d known before)',
    async (before) => {
      const desk = new TestDesk().listen();
      const busy = desk.venue.place({ clientOrderId: 'web_1' });
      for (let count = 0; count < before; count++) desk.venue.fill(busy.orderId, '0.001');
      await desk.sweep();
      desk.venue.creates = ['acceptLost'];
      desk.venue.lagMs = 20_000;
      const { order, carried } = desk.begin({ quantity: '1' });
      await desk.pass(1);
      desk.venue.lagMs = 0;
      for (let count = 0; count < 60; count++) {
        desk.venue.fill(busy.orderId, '0.001');
        await desk.pass(100);
      }
      expect(await desk.stateOf(order)).toBe('unknown');
      expect(await desk.finish(carried, 30_000)).toBe('placed');
      await desk.sweep();
      expect(await desk.stateOf(order)).toBe('filled');
      expect(await desk.fillRows()).toEqual(desk.venueRows());
    },
  );

  test('without a known trade before it is not given up while the newest page may not show all since', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['acceptLost'];
    desk.venue.lagMs = 20_000;
    const { order, carried } = desk.begin({ quantity: '1' });
    await desk.pass(1);
    desk.venue.lagMs = 0;
    desk.venue.pageSize = 30;
    const busy = desk.venue.place({ clientOrderId: 'web_1' });
    for (let count = 0; count < 60; count++) desk.venue.fill(busy.orderId, '0.001');
    await desk.pass(600_000);
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    desk.venue.pageSize = 1_000;
    expect(await desk.finish(carried, 30_000)).toBe('placed');
    expect(order.state).not.toBe('unknown');
  });

  test('is found by its client id where the exchange answers that', async () => {
    const { desk, order, carried } = lost('acceptLost', { byClientId: true });
    desk.venue.failing.add('openOrders');
    expect(await desk.finish(carried, 1_000)).toBe('placed');
    expect(order.orderId).toBe('1001');
  });

  test('is not given up because a query by client id misses it', async () => {
    const { desk, order, carried } = lost('acceptLost', { byClientId: true });
    desk.venue.failing.add('queryByClientId');
    expect(await desk.finish(carried, 1_000)).toBe('placed');
    expect(order.state).toBe('open');
  });

  test('is not found in an order that is not what was sent', async () => {
    const { desk, order, carried } = lost('dropLost', { byClientId: true });
    await desk.pass(1);
    desk.venue.failing.add('openOrders');
    desk.venue.place({ clientOrderId: order.intent.clientOrderId, side: 'SELL' });
    await desk.pass(30_000);
    expect(order.state).toBe('unknown');
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
  });

  test('that is nowhere is looked for past its horizon until two complete sweeps have missed it', async () => {
    const { desk, order, carried } = lost('dropLost', { balances: false });
    await desk.pass(horizon - desk.clock.now());
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    expect(await desk.finish(carried)).toBe('unknown');
    expect(desk.clock.now()).toBeGreaterThanOrEqual(horizon + timing.sweepGapMs);
    expect(desk.clock.now()).toBeLessThan(horizon + timing.sweepGapMs + 10_000);
    expect(await desk.stateOf(order)).toBe('quarantined');
    expect((await desk.steps(order)).at(-1)).toBe('quarantined');
    expect(desk.notices.at(-1)).toMatchObject({ level: 'error' });
    expect(desk.notices.at(-1)?.text).toContain('BTCUSDT is blocked');
  });

  test('that nothing proves absent blocks its symbol and keeps its reservation', async () => {
    const { desk, order, carried } = lost('dropLost', { balances: false });
    await desk.finish(carried);
    const { portfolio } = desk.assembled;
    expect(portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(portfolio.isUndecided('ETHUSDT')).toBe(false);
    expect([...portfolio.orders()]).toEqual([order]);
  });

  test('is not decided by failed queries, however many and however late', async () => {
    const { desk, order, carried } = lost('acceptLost');
    desk.venue.failing.add('openOrders');
    await desk.pass(3_600_000);
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    expect(await desk.stateOf(order)).toBe('unknown');
    desk.venue.failing.clear();
    expect(await desk.finish(carried, 10_000)).toBe('placed');
    expect(order.state).toBe('open');
  });

  test('needs two complete sweeps after the horizon: failures between them do not count', async () => {
    const { desk, carried } = lost('dropLost', { balances: false });
    await desk.pass(horizon - desk.clock.now());
    desk.venue.failing.add('tradesSince');
    await desk.pass(60_000);
    expect(await Promise.race([carried, Promise.resolve('waiting')])).toBe('waiting');
    desk.venue.failing.clear();
    const healedAt = desk.clock.now();
    expect(await desk.finish(carried)).toBe('unknown');
    expect(desk.clock.now() - healedAt).toBeGreaterThanOrEqual(timing.sweepGapMs);
  });

  test('that is quarantined is looked for further on, and adopted when it shows', async () => {
    const { desk, order, carried } = lost('acceptLost', { balances: false }, 300_000);
    expect(await desk.finish(carried)).toBe('unknown');
    await desk.pass(300_000);
    expect(order.state).toBe('open');
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    desk.venue.lagMs = 0;
    desk.venue.fill('1001');
    await desk.sweep();
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
    expect(await desk.stateOf(order)).toBe('filled');
  });

  test('is told of after half a minute, and urgently after five', async () => {
    const { desk, order, carried } = lost('acceptLost');
    desk.venue.failing.add('openOrders');
    await desk.pass(29_000);
    expect(desk.notices).toEqual([]);
    await desk.pass(10_000);
    expect(desk.notices.map(({ level }) => level)).toEqual(['warn']);
    expect(desk.notices[0]?.text).toContain(`${order.intent.clientOrderId} has been unknown for more than 30 s`);
    await desk.pass(240_000);
    expect(desk.notices).toHaveLength(1);
    await desk.pass(30_000);
    expect(desk.notices.map(({ level }) => level)).toEqual(['warn', 'error']);
    await desk.pass(3_600_000);
    expect(desk.notices).toHaveLength(2);
    desk.venue.failing.clear();
    expect(await desk.finish(carried, 10_000)).toBe('placed');
  });

  test('that is found soon is not told of', async () => {
    const { desk, carried } = lost('acceptLost', {}, 20_000);
    await desk.finish(carried);
    await desk.pass(600_000);
    expect(desk.notices).toEqual([]);
  });

  test('does not hold its queries too close together', async () => {
    const { desk } = lost('dropLost');
    await desk.pass(60_000);
    expect(desk.asked('openOrders')).toBeLessThan(20);
  });
});
