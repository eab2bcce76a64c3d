import { describe, expect, test } from 'vitest';
import { btc } from '../../test/kit/builders.ts';
import { TestDesk } from '../../test/kit/desk.ts';
import { noLots, quantityText } from '../domain/money.ts';
import { isClosed } from '../domain/order.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';

const filled = (order: WorkingOrder): string => quantityText(order.filled, btc);

describe('a sweep', () => {
  test('books the fills of an order that still rests', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.fill('1001', '0.4');
    expect(await desk.sweep()).toEqual({ complete: true, cause: undefined, failed: false });
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect(order.state).toBe('open');
    expect(filled(order)).toBe('0.4');
  });

  test('counts a fill once however often it is shown', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.fill('1001', '0.4');
    for (let times = 0; times < 3; times++) await desk.sweep();
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect(filled(order)).toBe('0.4');
  });

  test('closes an order once its fills add up to what was executed', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.fill('1001', '0.4');
    desk.venue.fill('1001');
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'filled', filled: '1', executed: '1', venueStatus: 'FILLED' });
    expect([...desk.assembled.portfolio.orders()]).toEqual([]);
  });

  test('closes an order that somebody cancelled, with what it had', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.fill('1001', '0.4');
    desk.venue.end('1001');
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'canceled', filled: '0.4', venueStatus: 'CANCELED' });
  });

  test('keeps an order closing while a fill of it is not shown yet', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.lagMs = 10_000;
    desk.venue.fill('1001');
    await desk.sweep();
    expect(order.state).toBe('closing');
    expect((await desk.row(order)).closedAt).toBeNull();
    await desk.pass(10_000);
    await desk.sweep();
    expect(await desk.stateOf(order)).toBe('filled');
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('finds a fill that is shown after many younger ones, by reading again from where the order began', async () => {
    const desk = new TestDesk().listen();
    const late = await desk.placed({ price: '100' });
    desk.venue.lagMs = 5_000;
    desk.venue.fill('1001');
    desk.venue.lagMs = 0;
    const busy = await desk.placed({ price: '101', quantity: '2' });
    for (let count = 0; count < 60; count++) desk.venue.fill('1002', '0.01');
    await desk.sweep();
    expect(late.state).toBe('closing');
    await desk.pass(5_000);
    await desk.sweep();
    expect(late.state).toBe('filled');
    expect(busy.state).toBe('open');
    expect(await desk.fillRows()).toEqual(desk.venueRows());
  });

  test('finds it however many pages come after it', async () => {
    const desk = new TestDesk().listen();
    const busy = desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill(busy.orderId, '0.001');
    await desk.sweep();
    const late = await desk.placed({ price: '100' });
    for (let count = 0; count < 60; count++) desk.venue.fill(busy.orderId, '0.001');
    await desk.sweep();
    desk.venue.lagMs = 5_000;
    desk.venue.fill(late.orderId ?? '');
    desk.venue.lagMs = 0;
    for (let count = 0; count < 60; count++) desk.venue.fill(busy.orderId, '0.001');
    await desk.sweep();
    await desk.pass(5_000);
    desk.venue.pageSize = 50;
    await desk.sweep();
    expect(await desk.stateOf(late)).toBe('filled');
    expect(await desk.fillRows()).toEqual(desk.venueRows());
  });

  test('asks again for an order whose last report was behind its fills', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.fill('1001', '0.4');
    await desk.sweep();
    const truth = desk.venue.order('1001');
    const { executed } = truth;
    truth.executed = noLots;
    truth.status = 'CANCELED';
    await desk.sweep();
    expect(order.state).toBe('closing');
    truth.executed = executed;
    await desk.sweep();
    expect(await desk.row(order)).toMatchObject({ state: 'canceled', filled: '0.4', executed: '0.4' });
    expect(desk.notices).toEqual([]);
  });

  test('tells once of an order that ended and does not add up', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.lagMs = 300_000;
    desk.venue.fill('1001');
    void desk.assembled.sweeps.watch('BTCUSDT');
    await desk.pass(55_000);
    expect(desk.notices).toEqual([]);
    await desk.pass(200_000);
    expect(desk.notices.map(({ text }) => text)).toEqual([
      expect.stringContaining('ended at the exchange with 1 executed, but its own trades come to 0'),
    ]);
    await desk.pass(60_000);
    expect(await desk.stateOf(order)).toBe('filled');
  });

  test('moves no cursor past fills that nobody books any more', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    desk.venue.fill('1001', '0.4');
    const look = desk.assembled.sweeps.sweep('BTCUSDT');
    await desk.pass(5);
    desk.leave();
    await desk.finish(look);
    await desk.written();
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
  });

  test('that fails in any part proves nothing and changes nothing', async () => {
    for (const question of ['openOrders', 'tradesSince'] as const) {
      const desk = new TestDesk().listen();
      const order = await desk.placed();
      desk.venue.failing.add(question);
      desk.venue.fill('1001', '0.4');
      const { complete, cause } = await desk.sweep();
      expect(complete).toBe(false);
      expect(cause).toContain('failed');
      expect(order.state).toBe('open');
    }
  });

  test('does not take an order that a failed query could not find for gone', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.end('1001');
    desk.venue.failing.add('query');
    await desk.sweep();
    expect(order.state).toBe('open');
    desk.venue.failing.clear();
    await desk.sweep();
    expect(order.state).toBe('canceled');
  });

  test('is not complete while the list of open orders is truncated', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    desk.venue.openLimit = 1;
    expect(await desk.sweep()).toMatchObject({ complete: false, cause: 'the list of open orders is truncated' });
  });

  test('reads on while pages of trades are full', async () => {
    const desk = new TestDesk().listen();
    await desk.placed({ price: '100', quantity: '2' });
    desk.venue.fill('1001', '0.1');
    await desk.sweep();
    for (let count = 0; count < 15; count++) desk.venue.fill('1001', '0.1');
    desk.venue.pageSize = 4;
    expect((await desk.sweep()).complete).toBe(true);
    expect(await desk.fillRows()).toEqual(desk.venueRows());
    expect((await desk.fillRows()).length).toBe(16);
  });

  test('is not complete when pages of trades never come to an end', async () => {
    const desk = new TestDesk().listen();
    await desk.placed({ price: '100', quantity: '2' });
    desk.venue.fill('1001', '0.1');
    await desk.sweep();
    desk.venue.fill('1001', '0.1');
    desk.venue.pageSize = 1;
    expect(await desk.sweep()).toMatchObject({ complete: false, cause: 'the list of own trades is truncated' });
  });

  test('asks who owns an order once, and remembers orders that are not ours', async () => {
    const desk = new TestDesk().listen();
    desk.venue.place({ clientOrderId: 'web_77' });
    desk.venue.place();
    for (let times = 0; times < 3; times++) expect((await desk.sweep()).complete).toBe(true);
    expect(desk.asked('query')).toBe(2);
    await desk.written();
    desk.crash();
    desk.listen();
    await desk.sweep();
    expect(desk.asked('query')).toBe(2);
  });

  test('does not disown an order without a client id while one like it is looked for', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['acceptLost'];
    desk.venue.echoesIds = false;
    const { order } = desk.begin({ price: '100' });
    await desk.pass(5_000);
    expect((await desk.sweep()).cause).toContain('does not show its client id');
    expect(order.state).toBe('unknown');
    desk.venue.echoesIds = true;
    await desk.sweep();
    expect(order.state).toBe('open');
  });

  test('books no fill of somebody else’s order', async () => {
    const desk = new TestDesk().listen();
    desk.venue.place({ clientOrderId: 'web_77' });
    desk.venue.fill('1001');
    expect((await desk.sweep()).complete).toBe(true);
    expect(await desk.fillRows()).toEqual([]);
  });

  test('reads a trade again, however many come after it, until it is known whose it is', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['acceptLost', 'accept'];
    desk.venue.failing.add('query');
    const lost = desk.begin({ price: '100' });
    await desk.pass(1_000);
    desk.venue.fill('1001');
    const busy = desk.venue.place({ clientOrderId: 'web_1' });
    for (let count = 0; count < 70; count++) {
      desk.venue.fill(busy.orderId, '0.01');
      await desk.sweep();
    }
    expect(lost.order.state).toBe('unknown');
    desk.venue.failing.clear();
    await desk.finish(lost.carried);
    await desk.sweep();
    expect(await desk.stateOf(lost.order)).toBe('filled');
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('does so for an order that this journal had given up, too', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['reject'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    desk.venue.fill('1001');
    desk.venue.failing.add('query');
    const busy = desk.venue.place({ clientOrderId: 'web_1' });
    for (let count = 0; count < 70; count++) {
      desk.venue.fill(busy.orderId, '0.01');
      await desk.sweep();
    }
    desk.venue.failing.clear();
    await desk.sweep();
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('books the fills of an order of ours that this journal had given up, and says so', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['reject'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    desk.venue.place({ clientOrderId: order.intent.clientOrderId.toUpperCase() });
    desk.venue.fill('1001', '0.5');
    await desk.sweep();
    expect(await desk.fillRows()).toEqual(['1 1001 0.5']);
    expect(desk.notices[0]?.text).toContain('resolved it as rejected');
    expect(desk.assembled.execution.halts.inForce).toMatchObject([{ cause: 'foundAfterAll' }]);
    expect(desk.assembled.portfolio.position('s', 'BTCUSDT').base > 0n).toBe(true);
  });

  test('cancels what is left of such an order, and stays with it until it is final', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['reject'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    desk.venue.fill('1001', '0.5');
    desk.venue.cancels = ['dropLost', 'apply'];
    await desk.sweep();
    await desk.pass(60_000);
    expect(desk.venue.order('1001').status).toBe('CANCELED');
    expect(desk.asked('cancel 1001')).toBe(2);
    expect(await desk.fillRows()).toEqual(['1 1001 0.5']);
    await desk.sweep();
    expect((await desk.steps(order)).slice(-7)).toEqual([
      'found',
      'cancelSent',
      'cancelAnswer',
      'cancelSent',
      'cancelAnswer',
      'closing',
      'closed',
    ]);
    await desk.pass(60_000);
    await desk.sweep();
    expect(desk.asked('cancel')).toBe(2);
    expect(desk.notices).toHaveLength(1);
    expect(await desk.stateOf(order)).toBe('canceled');
  });

  test('does not cancel such an order that is over', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['reject'];
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    desk.venue.place({ clientOrderId: order.intent.clientOrderId });
    desk.venue.fill('1001');
    await desk.sweep();
    await desk.pass(60_000);
    expect(desk.asked('cancel')).toBe(0);
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('that hears late of an order’s end does not open it again', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.end('1001');
    desk.venue.latencyMs = 400;
    const late = desk.assembled.sweeps.query(order);
    desk.venue.latencyMs = 10;
    await desk.sweep();
    expect(isClosed(order.state)).toBe(true);
    await desk.finish(late);
    expect(await desk.row(order)).toMatchObject({ state: 'canceled' });
    expect((await desk.row(order)).closedAt).not.toBeNull();
  });
});
