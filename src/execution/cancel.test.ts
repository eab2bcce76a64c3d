import { describe, expect, test } from 'vitest';
import { TestDesk } from '../../test/kit/desk.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';

const cancel = (desk: TestDesk, order: WorkingOrder): Promise<void> => desk.assembled.trader.cancel(order);

describe('a cancel', () => {
  test('ends once the exchange shows the order final', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    await desk.finish(cancel(desk, order), 1_000);
    expect(await desk.row(order)).toMatchObject({ state: 'canceled', cancelRequested: true });
    expect(desk.asked('cancel')).toBe(1);
  });

  test.each(['applyLost', 'dropLost', 'refuse', 'ignore'] as const)(
    'does not believe its answer: %s is settled by asking for the order',
    async (fate) => {
      const desk = new TestDesk().listen();
      const order = await desk.placed();
      desk.venue.cancels = [fate, 'apply'];
      await desk.finish(cancel(desk, order), 60_000);
      expect(await desk.stateOf(order)).toBe('canceled');
      expect(desk.asked('cancel')).toBe(fate === 'applyLost' ? 1 : 2);
    },
  );

  test('is sent again only after several looks found the order still open', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.cancels = ['ignore'];
    void cancel(desk, order);
    await desk.pass(2_000);
    expect(desk.asked('cancel')).toBe(1);
    expect(desk.asked('query')).toBeGreaterThanOrEqual(3);
    await desk.pass(60_000);
    expect(desk.asked('cancel')).toBeGreaterThan(5);
    expect(desk.asked('cancel')).toBeLessThan(25);
  });

  test('that loses the race against a fill books the fill', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.onCancel = ({ orderId }) => desk.venue.fill(orderId);
    desk.venue.cancels = ['refuse'];
    await desk.finish(cancel(desk, order), 5_000);
    expect(await desk.stateOf(order)).toBe('filled');
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('keeps what was filled before it', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.onCancel = ({ orderId }) => desk.venue.fill(orderId, '0.3');
    await desk.finish(cancel(desk, order), 5_000);
    expect(await desk.row(order)).toMatchObject({ state: 'canceled', filled: '0.3', executed: '0.3' });
    expect(await desk.fillRows()).toEqual(['1 1001 0.3']);
  });

  test('is not over for the plan while a fill of the cancelled order is not shown', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.lagMs = 5_000;
    desk.venue.onCancel = ({ orderId }) => desk.venue.fill(orderId, '0.3');
    await desk.finish(cancel(desk, order), 5_000);
    expect(order.state).toBe('closing');
    await desk.pass(5_000);
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'canceled', filled: '0.3' });
  });

  test('waits out queries that fail', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.failing.add('query');
    const cancelled = cancel(desk, order);
    await desk.pass(30_000);
    expect(order.state).toBe('open');
    desk.venue.failing.clear();
    await desk.finish(cancelled, 10_000);
    expect(await desk.stateOf(order)).toBe('canceled');
  });

  test('is asked for once, even when two ask', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    await desk.finish(Promise.all([cancel(desk, order), cancel(desk, order)]), 5_000);
    expect(desk.asked('cancel')).toBe(1);
  });

  test('of an order without an id does nothing: it must be found first', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['dropLost'];
    const { order } = desk.begin({ price: '100' });
    await desk.pass(1_000);
    await desk.finish(cancel(desk, order), 1_000);
    expect(desk.asked('cancel')).toBe(0);
    expect(order.cancelRequested).toBe(false);
  });
});

describe('several cancels at one moment', () => {
  const three = async (options: ConstructorParameters<typeof TestDesk>[0] = {}) => {
    const desk = new TestDesk({ batches: true, ...options }).listen();
    const orders = [await desk.placed({ price: '97' }), await desk.placed({ price: '98' }), await desk.placed()];
    return { desk, orders };
  };

  test('leave in one request, and each order is asked for', async () => {
    const { desk, orders } = await three();
    expect(await desk.finish(desk.assembled.cancelAll(), 5_000)).toHaveLength(3);
    expect(desk.log.filter((line) => line.startsWith('cancel'))).toEqual(['cancelMany 1001 1002 1003']);
    for (const order of orders) expect(await desk.stateOf(order)).toBe('canceled');
    expect(desk.asked('query')).toBe(3);
  });

  test.each(['refuse', 'dropLost', 'ignore'] as const)(
    'do not believe what the answer says of each: after %s it is sent again alone',
    async (fate) => {
      const { desk, orders } = await three();
      desk.venue.cancels = ['apply', fate, 'apply'];
      await desk.finish(desk.assembled.cancelAll(), 30_000);
      for (const order of orders) expect(await desk.stateOf(order)).toBe('canceled');
      expect(desk.log.filter((line) => line.startsWith('cancel'))).toEqual([
        'cancelMany 1001 1002 1003',
        'cancel 1002',
      ]);
    },
  );

  test('leave by themselves where the venue takes no batches, and ten at most in one', async () => {
    const { desk } = await three({ batches: false });
    await desk.finish(desk.assembled.cancelAll(), 5_000);
    expect(desk.asked('cancelMany')).toBe(0);
    const many = new TestDesk({ batches: true }).listen();
    for (let count = 0; count < 12; count++) await many.placed({ price: String(80 + count) });
    await many.finish(many.assembled.cancelAll(), 5_000);
    expect(many.log.filter((line) => line.startsWith('cancel')).map((line) => line.split(' ').length - 1)).toEqual([
      10, 2,
    ]);
  });

  test('are what a kill does', async () => {
    const { desk, orders } = await three();
    const kill = { at: desk.clock.now(), strategy: undefined, by: 'operator', reason: 'stop' };
    await desk.finish(desk.assembled.kill(kill), 5_000);
    expect(desk.asked('cancelMany')).toBe(1);
    for (const order of orders) expect(await desk.stateOf(order)).toBe('canceled');
  });
});

test('a cancel that does not apply for longer than the horizon is told of, once, and goes on', async () => {
  const desk = new TestDesk().listen();
  const order = await desk.placed();
  desk.venue.cancels = ['ignore'];
  const cancelled = cancel(desk, order);
  await desk.pass(60_000);
  expect(desk.notices).toEqual([]);
  await desk.pass(60_000);
  expect(desk.notices.map(({ text }) => text)).toEqual([expect.stringContaining('has not applied')]);
  desk.venue.cancels = ['apply'];
  await desk.finish(cancelled, 30_000);
  expect(await desk.stateOf(order)).toBe('canceled');
});
