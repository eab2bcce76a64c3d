import { describe, expect, test } from 'vitest';
import { draft } from '../../test/kit/builders.ts';
import { TestDesk, timing } from '../../test/kit/desk.ts';
import { unitsText } from '../domain/money.ts';

/** Crashes the desk and starts it again, up to the moment it is ready. */
async function restart(desk: TestDesk): Promise<void> {
  desk.crash();
  desk.listen();
  await desk.finish(desk.assembled.trader.recover());
}
const onlyRow = (desk: TestDesk): unknown =>
  desk.db.prepare('SELECT state, order_id AS orderId, filled FROM orders').get();

describe('start-up after kill -9', () => {
  test('finds the order that was on its way, and its fill, once', async () => {
    const desk = new TestDesk().listen();
    desk.venue.latencyMs = 1_000;
    desk.begin({ price: '100' });
    await desk.pass(10);
    desk.venue.fill('1001', '0.4');
    expect(onlyRow(desk)).toMatchObject({ state: 'sending' });
    await restart(desk);
    await desk.written();
    expect(onlyRow(desk)).toEqual({ state: 'open', orderId: '1001', filled: '0.4' });
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    const [order] = [...desk.assembled.portfolio.orders()];
    expect(order?.filled).toBe(40_000n);
    await restart(desk);
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect(unitsText(desk.assembled.portfolio.position('s', 'BTCUSDT').base)).toBe('0.4');
  });

  test('keeps an order reserved that may have left and is nowhere, and blocks its symbol', async () => {
    const desk = new TestDesk({ balances: false }).listen();
    desk.venue.latencyMs = 1_000;
    desk.venue.creates = ['dropLost'];
    desk.begin({ price: '100' });
    await desk.pass(10);
    const crashedAt = desk.clock.now();
    await restart(desk);
    expect(desk.clock.now() - crashedAt).toBeGreaterThan(timing.horizonMs);
    await desk.written();
    expect(onlyRow(desk)).toMatchObject({ state: 'quarantined' });
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(desk.asked('create')).toBe(1);
  });

  test('gives up an order that was on its way when the balances prove that it is nowhere', async () => {
    const desk = new TestDesk().listen();
    await desk.finish(desk.assembled.trader.recover());
    desk.venue.latencyMs = 1_000;
    desk.venue.creates = ['dropLost'];
    desk.begin({ price: '100' });
    await desk.pass(10);
    desk.venue.latencyMs = 10;
    await restart(desk);
    await desk.written();
    expect(onlyRow(desk)).toMatchObject({ state: 'absent' });
    expect(desk.assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    expect([...desk.assembled.portfolio.orders()]).toEqual([]);
    expect(desk.asked('create')).toBe(1);
  });

  test('keeps a quarantined order quarantined, and takes it up when the exchange shows it', async () => {
    const desk = new TestDesk({ balances: false }).listen();
    desk.venue.creates = ['acceptLost'];
    desk.venue.lagMs = 300_000;
    const { order, carried } = desk.begin({ price: '100' });
    await desk.finish(carried);
    expect(await desk.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'unproven' });
    await restart(desk);
    const [again] = [...desk.assembled.portfolio.orders()];
    expect(again?.state).toBe('quarantined');
    await desk.pass(300_000);
    expect(again).toMatchObject({ state: 'open', orderId: '1001', quarantineReason: undefined });
  });

  test('says of an order again that it is unknown, so that whoever watches shows it', async () => {
    const desk = new TestDesk().listen();
    desk.venue.creates = ['dropLost'];
    const { order } = desk.begin({ price: '100' });
    await desk.pass(1_000);
    await desk.written();
    desk.crash();
    desk.listen();
    void desk.assembled.trader.recover();
    await desk.pass(10_000);
    expect((await desk.steps(order)).filter((step) => step === 'unknown')).toHaveLength(2);
  });

  test('closes what was decided but never sent', async () => {
    const desk = new TestDesk().listen();
    const { trader: trading } = desk.assembled;
    trading.reserve(draft({ price: '100' }));
    await desk.written();
    expect(onlyRow(desk)).toMatchObject({ state: 'intended' });
    await restart(desk);
    await desk.written();
    expect(onlyRow(desk)).toMatchObject({ state: 'notSent' });
    expect(desk.asked('create')).toBe(0);
    expect([...desk.assembled.portfolio.orders()]).toEqual([]);
  });

  test('forgets what was never committed, and so was never sent', async () => {
    const desk = new TestDesk().listen();
    desk.assembled.trader.reserve(draft({ price: '100' }));
    await restart(desk);
    expect(onlyRow(desk)).toBeUndefined();
    expect(desk.venue.orders.size).toBe(0);
  });

  test('books the fills of the downtime once and closes their orders', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    desk.venue.fill('1001', '0.25');
    await desk.sweep();
    await desk.written();
    desk.venue.fill('1001');
    await restart(desk);
    await desk.written();
    expect(onlyRow(desk)).toEqual({ state: 'filled', orderId: '1001', filled: '1' });
    expect(await desk.fillRows()).toEqual(desk.venueRows());
    expect(desk.venueRows().length).toBe(2);
  });

  test('counts a fill once that was seen but not committed before the crash', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    await desk.written();
    desk.venue.fill('1001', '0.5');
    await desk.finish(desk.assembled.sweeps.sweep('BTCUSDT'), 40);
    await restart(desk);
    expect(await desk.fillRows()).toEqual(['1 1001 0.5']);
  });

  test('takes up again an order that was found final but not complete', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    desk.venue.lagMs = 20_000;
    desk.venue.fill('1001');
    await desk.sweep();
    await desk.written();
    expect(onlyRow(desk)).toMatchObject({ state: 'closing' });
    await desk.pass(20_000);
    await restart(desk);
    await desk.written();
    expect(onlyRow(desk)).toMatchObject({ state: 'filled', filled: '1' });
  });

  test('lets a cancel be asked for again that was on its way', async () => {
    const desk = new TestDesk().listen();
    const order = await desk.placed();
    desk.venue.cancels = ['dropLost', 'apply'];
    desk.venue.latencyMs = 1_000;
    void desk.assembled.trader.cancel(order);
    await desk.pass(500);
    desk.venue.latencyMs = 10;
    await restart(desk);
    const [again] = [...desk.assembled.portfolio.orders()];
    expect(again).toMatchObject({ state: 'open', cancelRequested: false });
    if (again !== undefined) await desk.finish(desk.assembled.trader.cancel(again));
    expect(desk.venue.order('1001').status).toBe('CANCELED');
  });

  test('waits for an exchange that does not answer, and says so', async () => {
    const desk = new TestDesk().listen();
    desk.venue.failing.add('openOrders');
    desk.crash();
    desk.listen();
    const recovered = desk.assembled.trader.recover();
    await desk.pass(1_000);
    expect(desk.notices).toEqual([
      {
        level: 'error',
        text: expect.stringMatching(/^start-up waits for the exchange to answer about BTCUSDT: .*sluice doctor$/),
      },
    ]);
    await desk.pass(57_000);
    expect(desk.notices).toHaveLength(1);
    await desk.pass(10_000);
    expect(desk.notices).toHaveLength(2);
    desk.venue.failing.clear();
    await desk.finish(recovered, timing.sweepGapMs + 5_000);
  });

  test('is not held up by orders of a human who gave them no client id', async () => {
    const desk = new TestDesk().listen();
    desk.venue.place();
    desk.venue.fill('1001', '0.5');
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover(), 20_000);
    expect(await desk.fillRows()).toEqual([]);
  });

  test('is not held up by trades from before this journal whose orders the exchange has forgotten', async () => {
    const desk = new TestDesk();
    desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill('1001');
    desk.venue.orders.delete('1001');
    await desk.pass(120_000);
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover(), timing.sweepGapMs + 1_000);
    expect(desk.notices.map(({ level }) => level)).toEqual(['info']);
    expect((await desk.sweep()).complete).toBe(true);
  });

  test('takes a trade for ours whose time is up to a minute before our first order: two clocks differ', async () => {
    const desk = new TestDesk().listen();
    await desk.finish(desk.assembled.trader.recover());
    desk.venue.creates = ['acceptLost'];
    const { order } = desk.begin({ price: '100' });
    await desk.clock.settle();
    desk.venue.fill('1001');
    const [trade] = desk.venue.trades;
    if (trade !== undefined) desk.venue.trades[0] = { ...trade, time: order.intent.createdAt - 59_000 };
    await desk.written();
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover());
    expect(await desk.fillRows()).toEqual(['1 1001 1']);
  });

  test('goes on, and says so once, when the exchange has forgotten an order of a later trade', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    await desk.written();
    const other = desk.venue.place({ clientOrderId: 'web_1' });
    desk.venue.fill(other.orderId);
    desk.venue.orders.delete(other.orderId);
    desk.venue.fill('1001', '0.4');
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover(), 5_000);
    expect(desk.notices.map(({ text }) => text)).toEqual([
      expect.stringContaining('not everything on BTCUSDT can be seen'),
    ]);
    expect(await desk.fillRows()).toEqual(['2 1001 0.4']);
  });

  test('goes on while the list of open orders is truncated, with what trades and queries show', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    desk.venue.openLimit = 2;
    for (let count = 0; count < 3; count++) desk.venue.place({ clientOrderId: `web_${count}` });
    desk.venue.creates = ['dropLost'];
    const lost = desk.begin({ price: '100' });
    await desk.pass(1_000);
    await desk.written();
    desk.venue.fill('1001', '0.4');
    desk.crash();
    desk.listen();
    await desk.finish(desk.assembled.trader.recover(), 5_000);
    expect(desk.notices).toEqual([
      { level: 'warn', text: expect.stringContaining('the list of open orders is truncated') as string },
    ]);
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    const { portfolio } = desk.assembled;
    expect(portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(portfolio.isUndecided('ETHUSDT')).toBe(false);
    await desk.pass(600_000);
    expect(await desk.stateOf(lost.order)).toBe('unknown');
    expect((await desk.steps(lost.order)).at(-1)).toBe('resolving');
    desk.venue.openLimit = 1_000;
    await desk.pass(60_000);
    expect((await desk.steps(lost.order)).at(-1)).toBe('quarantined');
  });

  test('may itself be killed at any moment', async () => {
    const desk = new TestDesk().listen();
    desk.venue.latencyMs = 1_000;
    desk.begin({ price: '100' });
    await desk.pass(10);
    desk.venue.fill('1001', '0.4');
    desk.venue.latencyMs = 50;
    for (let ms = 0; ms < 300; ms += 20) {
      desk.crash();
      desk.listen();
      void desk.assembled.trader.recover();
      await desk.pass(ms);
    }
    await restart(desk);
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
    expect(desk.asked('create')).toBe(1);
  });
});
