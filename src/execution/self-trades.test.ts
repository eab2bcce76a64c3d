/** Sweeps that follow one another, and trades that we make with ourselves. */
import { describe, expect, test } from 'vitest';
import { TestDesk, timing } from '../../test/kit/desk.ts';
import { negate, units } from '../domain/money.ts';

describe('a sweep', () => {
  test('books both sides when we trade with ourselves', async () => {
    const desk = new TestDesk({ account: 'margin' }).listen();
    const buy = await desk.placed({ strategy: 's', account: 'margin', price: '100' });
    const sell = await desk.placed({ strategy: 't', account: 'margin', side: 'SELL', price: '100' });
    desk.venue.selfTrade('1002', '1001', '1', '100');
    await desk.sweep();
    // The other side may have a row of its own, which says its fee.
    expect(await desk.fillRows()).toEqual(['1 1002 1']);
    await desk.pass(timing.sweepGapMs);
    await desk.sweep();
    await desk.sweep();
    expect(await desk.fillRows()).toEqual(['1 1001 1', '1 1002 1']);
    expect([buy.state, sell.state]).toEqual(['filled', 'filled']);
    const { portfolio } = desk.assembled;
    expect(portfolio.position('s', 'BTCUSDT').base).toBe(negate(portfolio.position('t', 'BTCUSDT').base));
    const makers = desk.db.prepare('SELECT order_id AS id, maker FROM fills ORDER BY order_id').all();
    expect(makers).toEqual([
      { id: '1001', maker: 1 },
      { id: '1002', maker: 0 },
    ]);
  });

  test.each([0, 3_000])(
    'takes each side’s fee from its own row when a trade with ourselves has two (%d ms later)',
    async (lagMs) => {
      const desk = new TestDesk({ account: 'margin' }).listen();
      desk.venue.twinLagMs = lagMs;
      desk.venue.fee = units('0.25');
      await desk.placed({ strategy: 's', account: 'margin', price: '100' });
      await desk.placed({ strategy: 't', account: 'margin', side: 'SELL', price: '100' });
      desk.venue.selfTrade('1002', '1001', '1', '100');
      await desk.sweep();
      await desk.pass(lagMs);
      await desk.sweep();
      await desk.pass(60_000);
      await desk.sweep();
      await desk.written();
      expect(desk.db.prepare('SELECT order_id AS id, fee FROM fills ORDER BY order_id').all()).toEqual([
        { id: '1001', fee: '0.25' },
        { id: '1002', fee: '0.25' },
      ]);
    },
  );
});

describe('watching a symbol', () => {
  test('looks often while an order works, now and then otherwise, and at once when nudged', async () => {
    const desk = new TestDesk().listen();
    const { sweeps } = desk.assembled;
    const looks = (): number => desk.asked('openOrders');
    void sweeps.watch('BTCUSDT');
    await desk.pass(10_500);
    expect(looks()).toBe(2);
    await desk.placed();
    await desk.pass(500);
    const before = looks();
    await desk.pass(5_000);
    expect(looks() - before).toBeGreaterThanOrEqual(4);
    sweeps.nudge('BTCUSDT');
    const nudged = looks();
    await desk.pass(20);
    expect(looks()).toBe(nudged + 1);
    void sweeps.stop();
    await desk.pass(20_000);
    expect(looks()).toBe(nudged + 1);
  });

  test('ends when the look that is under way has booked what it found', async () => {
    const desk = new TestDesk().listen();
    await desk.placed();
    desk.venue.fill('1001', '0.4');
    void desk.assembled.sweeps.sweep('BTCUSDT');
    await desk.pass(5);
    await desk.finish(desk.assembled.sweeps.stop());
    desk.leave();
    expect(await desk.fillRows()).toEqual(['1 1001 0.4']);
  });
});
