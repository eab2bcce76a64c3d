/** Wrong arguments get one message each. Strategy files are not type-checked. */
import { expect, test } from 'vitest';
import * as indicators from '../../src/strategy/indicators.ts';

const { adx, anchoredVwap, bollinger, cmo, correlation, ema, fromStreaming, hma, keltner, linearRegression, macd } =
  indicators;
const { parabolicSar, rollingVwap, sessionVwap, sma, stochRsi, supertrend, tema, ultimateOscillator } = indicators;
// biome-ignore lint/suspicious/noExplicitAny: what a file that is not type-checked may write
const wrong = (value: unknown): any => value;

test.each<readonly [make: () => unknown, message: string]>([
  [() => sma('close', 0), "sma('close', 0): the period must be a whole number of klines, 1 or more"],
  [() => ema('close', 2.5), "ema('close', 2.5): the period must be a whole number of klines, 1 or more"],
  [() => tema('close', Number.NaN), "tema('close', NaN): the period must be a whole number of klines, 1 or more"],
  [() => hma('close', 1), "hma('close', 1): the period must be a whole number of klines, 2 or more"],
  [() => rollingVwap(1e12), 'rollingVwap(1000000000000): the period must be a whole number of klines, 1 or more'],
  [
    () => sma(wrong('closing'), 5),
    "sma('closing', 5): a kline has no closing; there are open, high, low, close, volume, hl2, hlc3, ohlc4, and other indicators",
  ],
  [() => sma(wrong({}), 5), 'sma([object Object], 5): a kline has no {}'],
  [() => sma(wrong(undefined), 5), 'sma(undefined, 5): a kline has no undefined'],
  [() => correlation('close', wrong('x'), 5), "correlation('close', 'x', 5): a kline has no x"],
  [() => macd('close', 12, 0), "macd('close', 12, 0, 9): the slow period must be a whole number of klines"],
  [() => macd(ema('close', 3), -1), 'macd(…, -1, 26, 9): the fast period must be a whole number of klines'],
  [() => stochRsi('close', 14, 14, 0), "stochRsi('close', 14, 14, 0, 3): the smoothing of k must be a whole number"],
  [() => ultimateOscillator(7, 14, wrong('28')), "ultimateOscillator(7, 14, '28'): the slow period must be a whole"],
  [() => bollinger('close', 20, 0), "bollinger('close', 20, 0): the deviations must be a number above 0"],
  [() => keltner('close', 20, 10, -2), "keltner('close', 20, 10, -2): the number of ranges must be a number above 0"],
  [() => supertrend(10, Number.POSITIVE_INFINITY), 'supertrend(10, Infinity): the multiplier must be a number above 0'],
  [() => parabolicSar(0), 'parabolicSar(0, 0.2): the acceleration must be a number above 0'],
  [() => adx(1), 'adx(1): the period must be a whole number of klines, 2 or more'],
  [() => linearRegression('close', 1), "linearRegression('close', 1): the period must be a whole number of klines, 2"],
  [() => cmo('close', 14, wrong('plain')), "cmo('close', 14, 'plain'): the moves must be 'average' or 'sum'"],
  [() => sessionVwap(24), 'sessionVwap(24): the hour at which a session starts must be a whole number, 0 to 23'],
  [() => anchoredVwap('yesterday'), "anchoredVwap('yesterday'): the time must be UTC ms or a text such as"],
  [() => anchoredVwap('2026-01-01T00:00'), "anchoredVwap('2026-01-01T00:00'): the time must be UTC ms"],
  [() => fromStreaming(() => ({}), { warmup: 0 }), 'fromStreaming(…, { warmup: 0 }): it must be a whole number'],
])('%# is refused', (make, message) => {
  expect(make).toThrow(message);
});
