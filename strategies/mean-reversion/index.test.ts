import { backtest } from 'sluice';
import { decide, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { runScenario } from '../../test/kit/shipped-scenario.ts';
import meanReversion from './index.ts';

const params = { period: 20, deviations: 2, low: 40, trend: 4, share: 0.5, stop: 0.03 };
const start = klines({ interval: '60min', from: 100 });
/** Four days that rise from 100 to 196, and one that moves between 198 and 200. */
const risen = Array.from({ length: 12 }).reduce(
  (series: typeof start) => series.rise(1, 200).fall(1, 198),
  start.rise(96),
);

describe('mean-reversion', () => {
  test('buys what is sold off while the days rise, with a stop', () => {
    expect(decide(meanReversion, risen.fall(3, 190), { params })).toMatchObject({
      size: { share: 0.5 },
      reason: 'sold off while the days rise',
      stop: { fromEntry: 0.03 },
    });
  });

  test('does not buy what is sold off below the average of the days', () => {
    expect(decide(meanReversion, risen.fall(3, 150), { params })).toBeUndefined();
  });

  test('leaves at the middle band', () => {
    const holding = { quantity: 1, entryPrice: 190 };
    expect(decide(meanReversion, risen.fall(3, 190).rise(1, 199), { params, holding })).toMatchObject({
      size: { quantity: 0 },
      reason: 'back at the middle band',
    });
  });

  test('buys a fall and sells the recovery', async () => {
    const data = risen.fall(3, 190).flat(2).rise(4, 199);
    const { fills } = await backtest({ strategy: meanReversion, data, cash: '10000', rules: 'plain', params });
    expect(fills.map(({ side }) => side)).toEqual(['BUY', 'SELL']);
  });
});

test('over recorded quarters of an hour it never stays long', async () => {
  const { metrics } = await runScenario('mean-reversion-btc');
  expect(metrics.timeInMarket).toBeLessThan(0.1);
  expect(metrics.averageDurationMs).toBeLessThan(86_400_000);
});
