import { describe, expect, test } from 'vitest';
import { btc } from '../../test/kit/builders.ts';
import { TestRig } from '../../test/kit/test-rig.ts';
import { noLots, quantityText } from '../domain/money.ts';
import { isClosed } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';

const filled = (order: WorkingOrder): string => quantityText(order.filled, btc);

describe('a sweep', () => {
  test('books the fills of an order that still rests', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    expect(await rig.sweep()).toEqual({ complete: true, cause: undefined, failed: false });
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(order.state).toBe('open');
    expect(filled(order)).toBe('0.4');
  });

  test('counts a fill once however often it is shown', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    for (let times = 0; times < 3; times++) await rig.sweep();
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(filled(order)).toBe('0.4');
  });

  test('closes an order once its fills add up to what was executed', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    rig.venue.fill('1001');
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'filled', filled: '1', executed: '1', venueStatus: 'FILLED' });
    expect([...rig.assembled.portfolio.orders()]).toEqual([]);
  });

  test('closes an order that somebody cancelled, with what it had', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    rig.venue.end('1001');
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'canceled', filled: '0.4', venueStatus: 'CANCELED' });
  });

  test('keeps an order closing while a fill of it is not shown yet', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.lagMs = 10_000;
    rig.venue.fill('1001');
    await rig.sweep();
    expect(order.state).toBe('closing');
    expect((await rig.row(order)).closedAt).toBeNull();
    await rig.pass(10_000);
    await rig.sweep();
    expect(await rig.stateOf(order)).toBe('filled');
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('finds a fill that is shown after many younger ones, by reading again from where the order began', async () => {
    const rig = new TestRig().listen();
    const late = await rig.placed({ price: '100' });
    rig.venue.lagMs = 5_000;
    rig.venue.fill('1001');
    rig.venue.lagMs = 0;
    const busy = await rig.placed({ price: '101', quantity: '2' });
    for (let count = 0; count < 60; count++) rig.venue.fill('1002', '0.01');
    await rig.sweep();
    expect(late.state).toBe('closing');
    await rig.pass(5_000);
    await rig.sweep();
    expect(late.state).toBe('filled');
    expect(busy.state).toBe('open');
    expect(await rig.fillRows()).toEqual(rig.venueRows());
  });

  test('finds it however many pages come after it', async () => {
    const rig = new TestRig().listen();
    const busy = rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill(busy.orderId, '0.001');
    await rig.sweep();
    const late = await rig.placed({ price: '100' });
    for (let count = 0; count < 60; count++) rig.venue.fill(busy.orderId, '0.001');
    await rig.sweep();
    rig.venue.lagMs = 5_000;
    rig.venue.fill(late.orderId ?? '');
    rig.venue.lagMs = 0;
    for (let count = 0; count < 60; count++) rig.venue.fill(busy.orderId, '0.001');
    await rig.sweep();
    await rig.pass(5_000);
    rig.venue.pageSize = 50;
    await rig.sweep();
    expect(await rig.stateOf(late)).toBe('filled');
    expect(await rig.fillRows()).toEqual(rig.venueRows());
  });

  test('asks again for an order whose last report was behind its fills', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.fill('1001', '0.4');
    await rig.sweep();
    const truth = rig.venue.order('1001');
    const { executed } = truth;
    truth.executed = noLots;
    truth.status = 'CANCELED';
    await rig.sweep();
    expect(order.state).toBe('closing');
    truth.executed = executed;
    await rig.sweep();
    expect(await rig.row(order)).toMatchObject({ state: 'canceled', filled: '0.4', executed: '0.4' });
    expect(rig.notices).toEqual([]);
  });

  test('reports once an ended order whose fills do not add up', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.lagMs = 300_000;
    rig.venue.fill('1001');
    void rig.assembled.sweeps.watch('BTCUSDT');
    await rig.pass(55_000);
    expect(rig.notices).toEqual([]);
    await rig.pass(200_000);
    expect(rig.notices.map(({ text }) => text)).toEqual([
      expect.stringContaining('ended at the exchange with 1 executed, but its trades add up to 0'),
    ]);
    await rig.pass(60_000);
    expect(await rig.stateOf(order)).toBe('filled');
  });

  test('moves no cursor past fills that nobody books any more', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    const sweep = rig.assembled.sweeps.sweep('BTCUSDT');
    await rig.pass(5);
    rig.leave();
    await rig.finish(sweep);
    await rig.written();
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
  });

  test('that fails in any part proves nothing and changes nothing', async () => {
    for (const question of ['openOrders', 'tradesSince'] as const) {
      const rig = new TestRig().listen();
      const order = await rig.placed();
      rig.venue.failing.add(question);
      rig.venue.fill('1001', '0.4');
      const { complete, cause } = await rig.sweep();
      expect(complete).toBe(false);
      expect(cause).toContain('failed');
      expect(order.state).toBe('open');
    }
  });

  test('does not take an order that a failed query could not find for gone', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.end('1001');
    rig.venue.failing.add('query');
    await rig.sweep();
    expect(order.state).toBe('open');
    rig.venue.failing.clear();
    await rig.sweep();
    expect(order.state).toBe('canceled');
  });

  test('is not complete while the list of open orders is truncated', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    rig.venue.openLimit = 1;
    expect(await rig.sweep()).toMatchObject({ complete: false, cause: 'the list of open orders is truncated' });
  });

  test('reads on while pages of trades are full', async () => {
    const rig = new TestRig().listen();
    await rig.placed({ price: '100', quantity: '2' });
    rig.venue.fill('1001', '0.1');
    await rig.sweep();
    for (let count = 0; count < 15; count++) rig.venue.fill('1001', '0.1');
    rig.venue.pageSize = 4;
    expect((await rig.sweep()).complete).toBe(true);
    expect(await rig.fillRows()).toEqual(rig.venueRows());
    expect((await rig.fillRows()).length).toBe(16);
  });

  test('is not complete when pages of trades never come to an end', async () => {
    const rig = new TestRig().listen();
    await rig.placed({ price: '100', quantity: '2' });
    rig.venue.fill('1001', '0.1');
    await rig.sweep();
    rig.venue.fill('1001', '0.1');
    rig.venue.pageSize = 1;
    expect(await rig.sweep()).toMatchObject({ complete: false, cause: 'the list of own trades is truncated' });
  });

  test('asks who owns an order once, and remembers orders that are not ours', async () => {
    const rig = new TestRig().listen();
    rig.venue.place({ clientOrderId: 'web_77' });
    rig.venue.place();
    for (let times = 0; times < 3; times++) expect((await rig.sweep()).complete).toBe(true);
    expect(rig.asked('query')).toBe(2);
    await rig.written();
    rig.crash();
    rig.listen();
    await rig.sweep();
    expect(rig.asked('query')).toBe(2);
  });

  test('does not disown an order without a client id while one like it is unknown', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['acceptLost'];
    rig.venue.echoesIds = false;
    const { order } = rig.begin({ price: '100' });
    await rig.pass(5_000);
    expect((await rig.sweep()).cause).toContain('does not show its client id');
    expect(order.state).toBe('unknown');
    rig.venue.echoesIds = true;
    await rig.sweep();
    expect(order.state).toBe('open');
  });

  test('books no fill of somebody else’s order', async () => {
    const rig = new TestRig().listen();
    rig.venue.place({ clientOrderId: 'web_77' });
    rig.venue.fill('1001');
    expect((await rig.sweep()).complete).toBe(true);
    expect(await rig.fillRows()).toEqual([]);
  });

  test('reads a trade again, however many come after it, until it is known whose it is', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['acceptLost', 'accept'];
    rig.venue.failing.add('query');
    const lost = rig.begin({ price: '100' });
    await rig.pass(1_000);
    rig.venue.fill('1001');
    const busy = rig.venue.place({ clientOrderId: 'web_1' });
    for (let count = 0; count < 70; count++) {
      rig.venue.fill(busy.orderId, '0.01');
      await rig.sweep();
    }
    expect(lost.order.state).toBe('unknown');
    rig.venue.failing.clear();
    await rig.finish(lost.carried);
    await rig.sweep();
    expect(await rig.stateOf(lost.order)).toBe('filled');
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('does so for an order that this journal had given up, too', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['reject'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    rig.venue.fill('1001');
    rig.venue.failing.add('query');
    const busy = rig.venue.place({ clientOrderId: 'web_1' });
    for (let count = 0; count < 70; count++) {
      rig.venue.fill(busy.orderId, '0.01');
      await rig.sweep();
    }
    rig.venue.failing.clear();
    await rig.sweep();
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('books the fills of an order of ours that this journal had given up, and says so', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['reject'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    rig.venue.place({ clientOrderId: order.intent.clientOrderId.toUpperCase() });
    rig.venue.fill('1001', '0.5');
    await rig.sweep();
    expect(await rig.fillRows()).toEqual(['1 1001 0.5']);
    expect(rig.notices[0]?.text).toContain('resolved it as rejected');
    expect(rig.assembled.execution.halts.inForce).toMatchObject([{ cause: 'foundAfterAll' }]);
    expect(rig.assembled.portfolio.position('s', 'BTCUSDT').base > 0n).toBe(true);
  });

  test('cancels what is left of such an order, and stays with it until it is final', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['reject'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    rig.venue.fill('1001', '0.5');
    rig.venue.cancels = ['dropLost', 'apply'];
    await rig.sweep();
    await rig.pass(60_000);
    expect(rig.venue.order('1001').status).toBe('CANCELED');
    expect(rig.asked('cancel 1001')).toBe(2);
    expect(await rig.fillRows()).toEqual(['1 1001 0.5']);
    await rig.sweep();
    expect((await rig.steps(order)).slice(-7)).toEqual([
      'found',
      'cancelSent',
      'cancelAnswer',
      'cancelSent',
      'cancelAnswer',
      'closing',
      'closed',
    ]);
    await rig.pass(60_000);
    await rig.sweep();
    expect(rig.asked('cancel')).toBe(2);
    expect(rig.notices).toHaveLength(1);
    expect(await rig.stateOf(order)).toBe('canceled');
  });

  test('does not cancel such an order that is over', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['reject'];
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    rig.venue.place({ clientOrderId: order.intent.clientOrderId });
    rig.venue.fill('1001');
    await rig.sweep();
    await rig.pass(60_000);
    expect(rig.asked('cancel')).toBe(0);
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('that receives an order’s end late does not reopen it', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.end('1001');
    rig.venue.latencyMs = 400;
    const late = rig.assembled.sweeps.query(order);
    rig.venue.latencyMs = 10;
    await rig.sweep();
    expect(isClosed(order.state)).toBe(true);
    await rig.finish(late);
    expect(await rig.row(order)).toMatchObject({ state: 'canceled' });
    expect((await rig.row(order)).closedAt).not.toBeNull();
  });
});
