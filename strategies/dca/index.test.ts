import { backtest } from 'sluice';
import { decide, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { runScenario } from '../../test/kit/shipped-scenario.ts';
import dca from './index.ts';

const params = { amount: 1_000, rungs: 4, step: 0.1, gain: 0.05 };
const at = (price: number) => klines({ interval: '60min', from: price }).flat(1);
/** Its signal at a close, with so much bought at this average cost. */
const signalAt = (close: number, quantity = 0, entryPrice = Number.NaN) =>
  decide(dca, at(close), { params, holding: { quantity, entryPrice } });

describe('dca', () => {
  test('buys the first rung at once', () => {
    expect(signalAt(100)).toMatchObject({
      size: { quantity: 10 },
      reason: 'rung 1 of 4',
      takeProfit: { fromEntry: 0.05 },
    });
  });

  test('buys the same amount again one step below the last rung', () => {
    expect(signalAt(91, 10, 100)).toBeUndefined();
    expect(signalAt(90, 10, 100)).toMatchObject({ size: { quantity: 10 + 1_000 / 90 }, reason: 'rung 2 of 4' });
    // Bought at 100 and 90: 21.11 cost 94.7 on average.
    expect(signalAt(82, 190 / 9, 2_000 / (190 / 9))).toBeUndefined();
    expect(signalAt(80, 190 / 9, 2_000 / (190 / 9))).toMatchObject({ reason: 'rung 3 of 4' });
  });

  test('waits when all rungs are bought', () => {
    expect(signalAt(20, 50, 80)).toBeUndefined();
  });

  test('buys a fall in rungs and sells the recovery at a gain over the average cost', async () => {
    const data = klines({ interval: '60min', from: 100 }).flat(2).fall(24).rise(20);
    const risk = { maxDailyLoss: '1' };
    const { fills } = await backtest({ strategy: dca, data, cash: '10000', rules: 'plain', params, risk });
    expect(fills.slice(0, 4).map(({ side, price }) => `${side} at ${price}`)).toEqual([
      'BUY at 100',
      'BUY at 90',
      'BUY at 80',
      'SELL at 93.73',
    ]);
  });
});

test('over recorded hours it never holds more rungs than it has', async () => {
  const { fills } = await runScenario('dca-eth');
  const steps = fills.map(({ side }) => (side === 'BUY' ? 'B' : 'S')).join('');
  expect(steps).toMatch(/^(B{1,10}S)+B{0,10}$/);
});
