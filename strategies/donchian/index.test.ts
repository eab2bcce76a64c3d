import { backtest } from 'sluice';
import { decide, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { runScenario } from '../../test/kit/shipped-scenario.ts';
import donchian from './index.ts';

const params = { entry: 20, exit: 5, period: 10, ranges: 2, risk: 0.01 };
const start = klines({ interval: '60min', from: 100 });
/** A market whose klines all have a range of 2, so that the stop is 4 below the close. */
const swinging = Array.from({ length: 30 }).reduce(
  (series: typeof start) => series.kline({ open: 100, high: 101, low: 99, close: 100 }),
  start,
);

describe('donchian', () => {
  test('buys a new high, and loses its share of equity at the stop', () => {
    const signal = decide(donchian, swinging.kline({ open: 100, high: 102, low: 100, close: 102 }), { params });
    expect(signal).toMatchObject({ reason: 'a new high', stop: { distance: expect.closeTo(4) } });
    // 1 % of equity over a stop 4 below 102.
    expect(signal).toMatchObject({ size: { share: expect.closeTo(0.255) } });
  });

  test('says nothing new within the channel, and while it has a position', () => {
    const inside = swinging.kline({ open: 100, high: 100.5, low: 99.5, close: 100 });
    expect(decide(donchian, inside, { params })).toBeUndefined();
    const higher = swinging.kline({ open: 100, high: 104, low: 100, close: 104 });
    expect(decide(donchian, higher, { params, holding: { quantity: 1, entryPrice: 102 } })).toBeUndefined();
  });

  test('does not buy a market in which nothing moves any more: its stop would be at the price', () => {
    const still = start.rise(20).flat(12);
    expect(decide(donchian, still, { params: { ...params, entry: 30, exit: 30 } })).toBeUndefined();
    expect(decide(donchian, still, { params: { ...params, entry: 30, exit: 30, period: 20 } })).toMatchObject({
      reason: 'a new high',
    });
  });

  test('leaves at a new low', () => {
    const lower = swinging.kline({ open: 100, high: 100, low: 98, close: 98 });
    expect(decide(donchian, lower, { params })).toMatchObject({ size: { quantity: 0 }, reason: 'a new low' });
  });

  test('refuses to leave by a longer channel than it enters by', () => {
    expect(() => decide(donchian, swinging, { params: { ...params, exit: 21 } })).toThrow(
      'exit (21) must be at most entry (20)',
    );
  });

  test('buys a rise and sells the fall after it', async () => {
    const data = swinging.rise(30).fall(20);
    const { fills } = await backtest({ strategy: donchian, data, cash: '10000', rules: 'plain', params });
    expect(fills.map(({ side }) => side)).toEqual(['BUY', 'SELL']);
  });
});

test('over recorded hours a stop costs about a hundredth of the equity', async () => {
  const { metrics } = await runScenario('donchian-eth');
  // Beyond it lie two fees, half a spread and what the open differs from the close.
  expect(metrics.worstRoundTrip).toBeLessThan(-100);
  expect(metrics.worstRoundTrip).toBeGreaterThan(-20_000 * 0.02);
});
