import { backtest, type Signal, type Target } from 'sluice';
import { type DecideOptions, decide, type Klines, klines } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import smaCross from './index.ts';

const start = klines({ interval: '1min', from: 100 });
type Given = NonNullable<DecideOptions<typeof smaCross.params>['params']>;

/** Its target at the last of these klines; undefined while an average is not warm. */
const sizeAt = (series: Klines, params: Given): Target['size'] | undefined =>
  (decide(smaCross, series, { params }) as Target | undefined)?.size;

describe('sma-cross', () => {
  test('waits for the slow average, then is long while the fast one stands above it', () => {
    const params = { fast: 1, slow: 3, quantity: 2 };
    expect(sizeAt(start.rise(2), params)).toBeUndefined();
    expect(sizeAt(start.rise(3), params)).toEqual({ quantity: 2 });
    expect(sizeAt(start.rise(3).fall(2), params)).toEqual({ quantity: 0 });
    expect(sizeAt(start.rise(3).fall(2).rise(2), params)).toEqual({ quantity: 2 });
  });

  test('takes averages that differ by noise for equal', () => {
    const noisy = klines({ interval: '1min', from: 0.1 })
      .kline({ close: 0.1 })
      .kline({ close: 0.2 })
      .kline({ close: 0.15 });
    const signal: Signal | undefined = decide(smaCross, noisy, { params: { fast: 1, slow: 3, quantity: 1 } });
    expect(signal).toMatchObject({ size: { quantity: 0 }, reason: expect.stringContaining('not above') });
  });

  test('signals of a coin that costs a hundred-thousandth what it signals of an expensive one', () => {
    const closes = [1231, 1233, 1234, 1230, 1229, 1229, 1229, 1229, 1231];
    const goals = (scale: number, decimals: number) =>
      closes.map((_, last) => {
        const empty: Klines = klines({ interval: '1min', from: scale, decimals });
        const series = closes
          .slice(0, last + 1)
          .reduce((so, close) => so.kline({ open: close * scale, close: close * scale }), empty);
        return sizeAt(series, { fast: 1, slow: 3, quantity: 2 });
      });
    expect(goals(1e-8, 8)).toEqual(goals(1, 2));
    expect(goals(1, 2)).toContainEqual({ quantity: 2 });
  });

  test('takes averages for equal that differ by the noise of prices a hundred times as high', () => {
    // A day of minutes at changing prices, then one price, at which nothing differs but what the sums remember.
    const changing = Array.from({ length: 1_380 }, (_, at) => 12.34 + ((at * 7) % 13) / 100);
    const empty: Klines = klines({ interval: '1min', from: 12.34 });
    const series = changing.reduce((so, close) => so.kline({ open: close, close }), empty).kline({ open: 0.1 });
    for (const more of [49, 55, 59]) expect(sizeAt(series.flat(more), { quantity: 2 })).toEqual({ quantity: 0 });
  });

  test('holds a share of equity when no quantity is given', () => {
    expect(sizeAt(start.rise(1), { fast: 1, slow: 2, share: 0.5 })).toBeUndefined();
    expect(sizeAt(start.rise(2), { fast: 1, slow: 2, share: 0.5 })).toEqual({ share: 0.5 });
  });

  test('carries a trailing stop only when one is asked for', () => {
    expect(decide(smaCross, start.rise(2), { params: { fast: 1, slow: 2 } })).not.toHaveProperty('trailing');
    expect(decide(smaCross, start.rise(2), { params: { fast: 1, slow: 2, stop: 0.05 } })).toHaveProperty(
      'trailing',
      0.05,
    );
  });

  test('refuses a fast average that is not faster', () => {
    expect(() => decide(smaCross, start.rise(2), { params: { fast: 50, slow: 50 } })).toThrow(
      'fast (50) must be below slow (50)',
    );
  });

  test('buys a rise and sells the fall after it', async () => {
    const data = start.flat(60).rise(30).fall(60);
    const { fills } = await backtest({ strategy: smaCross, data, cash: '10000', rules: 'plain' });
    expect(fills.map(({ side }) => side)).toEqual(['BUY', 'SELL']);
  });
});
