/** Sweeps that follow one another, and trades that we make with ourselves. */
import { describe, expect, test } from 'vitest';
import { TestRig, timing } from '../../test/kit/test-rig.ts';
import { negate, units } from '../domain/money.ts';

describe('a sweep', () => {
  test('books both sides when we trade with ourselves', async () => {
    const rig = new TestRig({ account: 'margin' }).listen();
    const buy = await rig.placed({ strategy: 's', account: 'margin', price: '100' });
    const sell = await rig.placed({ strategy: 't', account: 'margin', side: 'SELL', price: '100' });
    rig.venue.selfTrade('1002', '1001', '1', '100');
    await rig.sweep();
    // The other side may have a row of its own, which says its fee.
    expect(await rig.fillRows()).toEqual(['1 1002 1']);
    await rig.pass(timing.sweepGapMs);
    await rig.sweep();
    await rig.sweep();
    expect(await rig.fillRows()).toEqual(['1 1001 1', '1 1002 1']);
    expect([buy.state, sell.state]).toEqual(['filled', 'filled']);
    const { portfolio } = rig.assembled;
    expect(portfolio.position('s', 'BTCUSDT').base).toBe(negate(portfolio.position('t', 'BTCUSDT').base));
    const makers = rig.db.prepare('SELECT order_id AS id, maker FROM fills ORDER BY order_id').all();
    expect(makers).toEqual([
      { id: '1001', maker: 1 },
      { id: '1002', maker: 0 },
    ]);
  });

  test.each([0, 3_000])(
    'takes each side’s fee from its own row when a trade with ourselves has two (%d ms later)',
    async (lagMs) => {
      const rig = new TestRig({ account: 'margin' }).listen();
      rig.venue.twinLagMs = lagMs;
      rig.venue.fee = units('0.25');
      await rig.placed({ strategy: 's', account: 'margin', price: '100' });
      await rig.placed({ strategy: 't', account: 'margin', side: 'SELL', price: '100' });
      rig.venue.selfTrade('1002', '1001', '1', '100');
      await rig.sweep();
      await rig.pass(lagMs);
      await rig.sweep();
      await rig.pass(60_000);
      await rig.sweep();
      await rig.written();
      expect(rig.db.prepare('SELECT order_id AS id, fee FROM fills ORDER BY order_id').all()).toEqual([
        { id: '1001', fee: '0.25' },
        { id: '1002', fee: '0.25' },
      ]);
    },
  );
});

describe('watching a symbol', () => {
  test('sweeps often while an order is open, rarely otherwise, and at once when nudged', async () => {
    const rig = new TestRig().listen();
    const { sweeps } = rig.assembled;
    const count = (): number => rig.asked('openOrders');
    void sweeps.watch('BTCUSDT');
    await rig.pass(10_500);
    expect(count()).toBe(2);
    await rig.placed();
    await rig.pass(500);
    const before = count();
    await rig.pass(5_000);
    expect(count() - before).toBeGreaterThanOrEqual(4);
    sweeps.nudge('BTCUSDT');
    const nudged = count();
    await rig.pass(20);
    expect(count()).toBe(nudged + 1);
    void sweeps.stop();
    await rig.pass(20_000);
    expect(count()).toBe(nudged + 1);
  });

  test('ends when the running sweep has booked its fills', async () => {
    const rig = new TestRig().listen();
    await rig.placed();
    rig.venue.fill('1001', '0.4');
    void rig.assembled.sweeps.sweep('BTCUSDT');
    await rig.pass(5);
    await rig.finish(rig.assembled.sweeps.stop());
    rig.leave();
    expect(await rig.fillRows()).toEqual(['1 1001 0.4']);
  });
});
