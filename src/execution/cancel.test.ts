import { describe, expect, test } from 'vitest';
import { kill } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';

const cancel = (rig: TestRig, order: WorkingOrder): Promise<void> => rig.assembled.trader.cancel(order);

describe('a cancel', () => {
  test('ends once the exchange shows the order final', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    await rig.finish(cancel(rig, order), 1_000);
    expect(await rig.row(order)).toMatchObject({ state: 'canceled', cancelRequested: true });
    expect(rig.asked('cancel')).toBe(1);
  });

  test.each(['applyLost', 'dropLost', 'refuse', 'ignore'] as const)(
    'does not believe its answer: %s is settled by asking for the order',
    async (fate) => {
      const rig = new TestRig().listen();
      const order = await rig.placed();
      rig.venue.cancels = [fate, 'apply'];
      await rig.finish(cancel(rig, order), 60_000);
      expect(await rig.stateOf(order)).toBe('canceled');
      expect(rig.asked('cancel')).toBe(fate === 'applyLost' ? 1 : 2);
    },
  );

  test('is sent again only after several polls found the order still open', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.cancels = ['ignore'];
    void cancel(rig, order);
    await rig.pass(2_000);
    expect(rig.asked('cancel')).toBe(1);
    expect(rig.asked('query')).toBeGreaterThanOrEqual(3);
    await rig.pass(60_000);
    expect(rig.asked('cancel')).toBeGreaterThan(5);
    expect(rig.asked('cancel')).toBeLessThan(25);
  });

  test('that loses the race against a fill books the fill', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.onCancel = ({ orderId }) => rig.venue.fill(orderId);
    rig.venue.cancels = ['refuse'];
    await rig.finish(cancel(rig, order), 5_000);
    expect(await rig.stateOf(order)).toBe('filled');
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('keeps what was filled before it', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.onCancel = ({ orderId }) => rig.venue.fill(orderId, '0.3');
    await rig.finish(cancel(rig, order), 5_000);
    expect(await rig.row(order)).toMatchObject({ state: 'canceled', filled: '0.3', executed: '0.3' });
    expect(await rig.fillRows()).toEqual(['1 1001 0.3']);
  });

  test('is not over for the plan while a fill of the cancelled order is not shown', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.lagMs = 5_000;
    rig.venue.onCancel = ({ orderId }) => rig.venue.fill(orderId, '0.3');
    await rig.finish(cancel(rig, order), 5_000);
    expect(order.state).toBe('closing');
    await rig.pass(5_000);
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'canceled', filled: '0.3' });
  });

  test('waits out queries that fail', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.failing.add('query');
    const cancelled = cancel(rig, order);
    await rig.pass(30_000);
    expect(order.state).toBe('open');
    rig.venue.failing.clear();
    await rig.finish(cancelled, 10_000);
    expect(await rig.stateOf(order)).toBe('canceled');
  });

  test('is asked for once, even when two ask', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    await rig.finish(Promise.all([cancel(rig, order), cancel(rig, order)]), 5_000);
    expect(rig.asked('cancel')).toBe(1);
  });

  test('of an order without an id does nothing: it must be found first', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['dropLost'];
    const { order } = rig.begin({ price: '100' });
    await rig.pass(1_000);
    await rig.finish(cancel(rig, order), 1_000);
    expect(rig.asked('cancel')).toBe(0);
    expect(order.cancelRequested).toBe(false);
  });
});

describe('several cancels at one moment', () => {
  const three = async (options: ConstructorParameters<typeof TestRig>[0] = {}) => {
    const rig = new TestRig({ batches: true, ...options }).listen();
    const orders = [await rig.placed({ price: '97' }), await rig.placed({ price: '98' }), await rig.placed()];
    return { rig, orders };
  };

  test('leave in one request, and each order is asked for', async () => {
    const { rig, orders } = await three();
    expect(await rig.finish(rig.assembled.cancelAll(), 5_000)).toHaveLength(3);
    expect(rig.log.filter((line) => line.startsWith('cancel'))).toEqual(['cancelMany 1001 1002 1003']);
    for (const order of orders) expect(await rig.stateOf(order)).toBe('canceled');
    expect(rig.asked('query')).toBe(3);
  });

  test.each(['refuse', 'dropLost', 'ignore'] as const)(
    'do not believe what the answer says of each: after %s it is sent again alone',
    async (fate) => {
      const { rig, orders } = await three();
      rig.venue.cancels = ['apply', fate, 'apply'];
      await rig.finish(rig.assembled.cancelAll(), 30_000);
      for (const order of orders) expect(await rig.stateOf(order)).toBe('canceled');
      expect(rig.log.filter((line) => line.startsWith('cancel'))).toEqual(['cancelMany 1001 1002 1003', 'cancel 1002']);
    },
  );

  test('leave by themselves where the venue takes no batches, and ten at most in one', async () => {
    const { rig } = await three({ batches: false });
    await rig.finish(rig.assembled.cancelAll(), 5_000);
    expect(rig.asked('cancelMany')).toBe(0);
    const many = new TestRig({ batches: true }).listen();
    for (let count = 0; count < 12; count++) await many.placed({ price: String(80 + count) });
    await many.finish(many.assembled.cancelAll(), 5_000);
    expect(many.log.filter((line) => line.startsWith('cancel')).map((line) => line.split(' ').length - 1)).toEqual([
      10, 2,
    ]);
  });

  test('are what a kill does', async () => {
    const { rig, orders } = await three();
    await rig.finish(rig.assembled.kill(kill({ at: rig.clock.now() })), 5_000);
    expect(rig.asked('cancelMany')).toBe(1);
    for (const order of orders) expect(await rig.stateOf(order)).toBe('canceled');
  });
});

test('a cancel that does not apply for longer than the horizon is reported once, and goes on', async () => {
  const rig = new TestRig().listen();
  const order = await rig.placed();
  rig.venue.cancels = ['ignore'];
  const cancelled = cancel(rig, order);
  await rig.pass(60_000);
  expect(rig.notices).toEqual([]);
  await rig.pass(60_000);
  expect(rig.notices.map(({ text }) => text)).toEqual([expect.stringContaining('has not applied')]);
  rig.venue.cancels = ['apply'];
  await rig.finish(cancelled, 30_000);
  expect(await rig.stateOf(order)).toBe('canceled');
});
