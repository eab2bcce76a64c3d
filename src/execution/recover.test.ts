import { describe, expect, test } from 'vitest';
import { draft } from '../../test/kit/builders.ts';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import { unitsText } from '../domain/money.ts';

/** Crashes the rig and starts it again, up to the moment it is ready. */
async function restart(rig: TestRig): Promise<void> {
  rig.crash();
  rig.listen();
  await rig.finish(rig.assembled.trader.recover());
}
const onlyRow = (rig: TestRig): unknown =>
  rig.db.prepare('SELECT state, order_id AS orderId, filled FROM orders').get();

describe('start-up after kill -9', () => {
  test('finds the order that was on its way, and its fill, once', async () => {
    const rig = new TestRig().listen();
    rig.venue.latencyMs = 1_000;
    rig.begin({ price: '100' });
    await rig.pass(10);
    rig.venue.fill('1001', '0.4');
    expect(onlyRow(rig)).toMatchObject({ state: 'sending' });
    await restart(rig);
    await rig.written();
    expect(onlyRow(rig)).toEqual({ state: 'open', orderId: '1001', filled: '0.4' });
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    const [order] = [...rig.assembled.portfolio.orders()];
    expect(order?.filled).toBe(40_000n);
    await restart(rig);
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(unitsText(rig.assembled.portfolio.position('s', 'BTCUSDT').base)).toBe('0.4');
  });

  test('keeps an order reserved that may have left and is nowhere, and blocks its symbol', async () => {
    const rig = new TestRig({ balances: false }).listen();
    rig.venue.latencyMs = 1_000;
    rig.venue.creates = ['dropLost'];
    rig.begin({ price: '100' });
    await rig.pass(10);
    const crashedAt = rig.clock.now();
    await restart(rig);
    expect(rig.clock.now() - crashedAt).toBeGreaterThan(timing.absentAfterMs);
    await rig.written();
    expect(onlyRow(rig)).toMatchObject({ state: 'quarantined' });
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(rig.asked('create')).toBe(1);
  });

  test('gives up an order that was on its way when the balances prove that it is nowhere', async () => {
    const rig = new TestRig().listen();
    await rig.finish(rig.assembled.trader.recover());
    rig.venue.latencyMs = 1_000;
    rig.venue.creates = ['dropLost'];
    rig.begin({ price: '100' });
    await rig.pass(10);
    rig.venue.latencyMs = 10;
    await restart(rig);
    await rig.written();
    expect(onlyRow(rig)).toMatchObject({ state: 'absent' });
    expect(rig.assembled.portfolio.isUndecided('BTCUSDT')).toBe(false);
    expect([...rig.assembled.portfolio.orders()]).toEqual([]);
    expect(rig.asked('create')).toBe(1);
  });

  test('keeps a quarantined order quarantined, and takes it up when the exchange shows it', async () => {
    const rig = new TestRig({ balances: false }).listen();
    rig.venue.creates = ['acceptLost'];
    rig.venue.lagMs = 300_000;
    const { order, carried } = rig.begin({ price: '100' });
    await rig.finish(carried);
    expect(await rig.row(order)).toMatchObject({ state: 'quarantined', quarantineReason: 'unproven' });
    await restart(rig);
    const [again] = [...rig.assembled.portfolio.orders()];
    expect(again?.state).toBe('quarantined');
    await rig.pass(300_000);
    expect(again).toMatchObject({ state: 'open', orderId: '1001', quarantineReason: undefined });
  });

  test('says of an order again that it is unknown, so that whoever watches shows it', async () => {
    const rig = new TestRig().listen();
    rig.venue.creates = ['dropLost'];
    const { order } = rig.begin({ price: '100' });
    await rig.pass(1_000);
    await rig.written();
    rig.crash();
    rig.listen();
    void rig.assembled.trader.recover();
    await rig.pass(10_000);
    expect((await rig.steps(order)).filter((step) => step === 'unknown')).toHaveLength(2);
  });

  test('closes what was decided but never sent', async () => {
    const rig = new TestRig().listen();
    const { trader: trading } = rig.assembled;
    trading.reserve(draft({ price: '100' }));
    await rig.written();
    expect(onlyRow(rig)).toMatchObject({ state: 'intended' });
    await restart(rig);
    await rig.written();
    expect(onlyRow(rig)).toMatchObject({ state: 'notSent' });
    expect(rig.asked('create')).toBe(0);
    expect([...rig.assembled.portfolio.orders()]).toEqual([]);
  });

  test('forgets what was never committed, and so was never sent', async () => {
    const rig = new TestRig().listen();
    rig.assembled.trader.reserve(draft({ price: '100' }));
    await restart(rig);
    expect(onlyRow(rig)).toBeUndefined();
    expect(rig.venue.orders.size).toBe(0);
  });

  test('books the fills of the downtime once and closes their orders', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    rig.venue.fill('1001', '0.25');
    await rig.sweep();
    await rig.written();
    rig.venue.fill('1001');
    await restart(rig);
    await rig.written();
    expect(onlyRow(rig)).toEqual({ state: 'filled', orderId: '1001', filled: '1' });
    expect(await rig.fillRows()).toEqual(rig.venueRows());
    expect(rig.venueRows().length).toBe(2);
  });

  test('counts a fill once that was seen but not committed before the crash', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    await rig.written();
    rig.venue.fill('1001', '0.5');
    await rig.finish(rig.assembled.sweeps.sweep('BTCUSDT'), 40);
    await restart(rig);
    expect(await rig.fillRows()).toEqual(['1 1001 0.5']);
  });

  test('takes up again an order that was found final but not complete', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    rig.venue.lagMs = 20_000;
    rig.venue.fill('1001');
    await rig.sweep();
    await rig.written();
    expect(onlyRow(rig)).toMatchObject({ state: 'closing' });
    await rig.pass(20_000);
    await restart(rig);
    await rig.written();
    expect(onlyRow(rig)).toMatchObject({ state: 'filled', filled: '1' });
  });

  test('lets a cancel be asked for again that was on its way', async () => {
    const rig = new TestRig().listen();
    const order = await rig.placed();
    rig.venue.cancels = ['dropLost', 'apply'];
    rig.venue.latencyMs = 1_000;
    void rig.assembled.trader.cancel(order);
    await rig.pass(500);
    rig.venue.latencyMs = 10;
    await restart(rig);
    const [again] = [...rig.assembled.portfolio.orders()];
    expect(again).toMatchObject({ state: 'open', cancelRequested: false });
    if (again !== undefined) await rig.finish(rig.assembled.trader.cancel(again));
    expect(rig.venue.order('1001').status).toBe('CANCELED');
  });

  test('waits for an exchange that does not answer, and says so each hour', async () => {
    const rig = new TestRig().listen();
    rig.venue.failing.add('openOrders');
    rig.crash();
    rig.listen();
    const recovered = rig.assembled.trader.recover();
    await rig.pass(1_000);
    expect(rig.notices).toEqual([
      {
        level: 'error',
        topic: 'exchangeAway',
        text: expect.stringMatching(/^start-up waits for the exchange to answer about BTCUSDT: .*sluice doctor$/),
      },
    ]);
    await rig.pass(3_590_000);
    expect(rig.notices).toHaveLength(1);
    await rig.pass(20_000);
    expect(rig.notices).toHaveLength(2);
    rig.venue.failing.clear();
    await rig.finish(recovered, timing.sweepGapMs + 5_000);
  });

  test('is not held up by orders of a human who gave them no client id', async () => {
    const rig = new TestRig().listen();
    rig.venue.place();
    rig.venue.fill('1001', '0.5');
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover(), 20_000);
    expect(await rig.fillRows()).toEqual([]);
  });

  test('is not held up by trades from before this journal whose orders the exchange has forgotten', async () => {
    const rig = new TestRig();
    rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill('1001');
    rig.venue.orders.delete('1001');
    await rig.pass(120_000);
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover(), timing.sweepGapMs + 1_000);
    expect(rig.notices.map(({ level }) => level)).toEqual(['info']);
    expect((await rig.sweep()).complete).toBe(true);
  });

  test('takes a trade for ours whose time is up to a minute before our first order: two clocks differ', async () => {
    const rig = new TestRig().listen();
    await rig.finish(rig.assembled.trader.recover());
    rig.venue.creates = ['acceptLost'];
    const { order } = rig.begin({ price: '100' });
    await rig.clock.settle();
    rig.venue.fill('1001');
    const [trade] = rig.venue.trades;
    if (trade !== undefined) rig.venue.trades[0] = { ...trade, time: order.intent.createdAt - 59_000 };
    await rig.written();
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover());
    expect(await rig.fillRows()).toEqual(['1 1001 1']);
  });

  test('goes on, and says so once, when the exchange has forgotten an order of a later trade', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    await rig.written();
    const other = rig.venue.place({ clientOrderId: 'web_1' });
    rig.venue.fill(other.orderId);
    rig.venue.orders.delete(other.orderId);
    rig.venue.fill('1001', '0.4');
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover(), 5_000);
    expect(rig.notices.map(({ text }) => text)).toEqual([
      expect.stringContaining('the exchange returned incomplete data for BTCUSDT'),
    ]);
    expect(await rig.fillRows()).toEqual(['2 1001 0.4']);
  });

  test('goes on while the list of open orders is truncated, with what trades and queries show', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    rig.venue.openLimit = 2;
    for (let count = 0; count < 3; count++) rig.venue.place({ clientOrderId: `web_${count}` });
    rig.venue.creates = ['dropLost'];
    const lost = rig.begin({ price: '100' });
    await rig.pass(1_000);
    await rig.written();
    rig.venue.fill('1001', '0.4');
    rig.crash();
    rig.listen();
    await rig.finish(rig.assembled.trader.recover(), 5_000);
    expect(rig.notices).toEqual([
      { level: 'warn', text: expect.stringContaining('the list of open orders is truncated') as string },
    ]);
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    const { portfolio } = rig.assembled;
    expect(portfolio.isUndecided('BTCUSDT')).toBe(true);
    expect(portfolio.isUndecided('ETHUSDT')).toBe(false);
    await rig.pass(600_000);
    expect(await rig.stateOf(lost.order)).toBe('unknown');
    expect((await rig.steps(lost.order)).at(-1)).toBe('resolving');
    rig.venue.openLimit = 1_000;
    await rig.pass(60_000);
    expect((await rig.steps(lost.order)).at(-1)).toBe('quarantined');
  });

  test('may itself be killed at any moment', async () => {
    const rig = new TestRig().listen();
    rig.venue.latencyMs = 1_000;
    rig.begin({ price: '100' });
    await rig.pass(10);
    rig.venue.fill('1001', '0.4');
    rig.venue.latencyMs = 50;
    for (let ms = 0; ms < 300; ms += 20) {
      rig.crash();
      rig.listen();
      void rig.assembled.trader.recover();
      await rig.pass(ms);
    }
    await restart(rig);
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
    expect(rig.asked('create')).toBe(1);
  });
});
