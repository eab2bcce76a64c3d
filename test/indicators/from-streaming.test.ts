/** Indicators of other libraries: those of trading-signals, which the docs name, and what others might be. */
import { ATR, BollingerBands, EMA, RSI } from 'trading-signals';
import { describe, expect, test } from 'vitest';
import { atr, bollinger, ema, fromStreaming, type Indicator, rsi, sma } from '../../src/strategy/indicators.ts';
import { minutes, streamed } from './klines.ts';

const klines = minutes(2_000);
const column = (indicator: Indicator): Float64Array => indicator.column(klines, '1min');

/** Up to rounding, from a row on. */
function expectClose(given: Float64Array, expected: Float64Array, from: number): void {
  for (let row = from; row < given.length; row++)
    expect(Math.abs((given[row] as number) - (expected[row] as number))).toBeLessThan(1e-6);
}

describe('a class of trading-signals', () => {
  test('has the values of the library, as a column and as a stream', () => {
    const theirs = fromStreaming(() => new RSI(14), { warmup: 15 });
    const own = new RSI(14);
    expect(column(theirs)).toEqual(klines.close.map((price) => own.add(price) ?? Number.NaN));
    expect(streamed(theirs, klines)).toEqual(column(theirs));
    expectClose(column(theirs), column(rsi('close', 14)), 1_000);
  });

  test('takes whole klines, other prices and other indicators', () => {
    expectClose(column(fromStreaming(() => new ATR(14), { warmup: 15, source: 'kline' })), column(atr(14)), 1_000);
    expectClose(column(fromStreaming(() => new EMA(9), { warmup: 9, source: 'high' })), column(ema('high', 9)), 500);
    const over = fromStreaming(() => new EMA(9), { warmup: 9, source: rsi('close', 14) });
    expect(over.warmup).toBe(23);
    expectClose(column(over), column(ema(rsi('close', 14), 9)), 500);
  });

  test('has lines by name', () => {
    const { upper, lower } = fromStreaming(() => new BollingerBands(20, 2), { warmup: 20, lines: ['upper', 'lower'] });
    const ours = bollinger('close', 20, 2);
    expectClose(column(upper), column(ours.upper), 20);
    expectClose(column(lower), column(ours.lower), 20);
  });

  test('is the source of another', () => {
    const smooth = sma(
      fromStreaming(() => new RSI(14), { warmup: 15 }),
      5,
    );
    expect(smooth.warmup).toBe(19);
    expect(streamed(smooth, klines)).toEqual(column(smooth));
  });
});

test('an object with update(), or with any method that is named, is taken alike', () => {
  const counting = () => {
    let seen = 0;
    return { update: (value: number) => (++seen < 3 ? null : value * 2) };
  };
  const doubled = fromStreaming(counting, { warmup: 3 });
  expect([...column(doubled).subarray(1, 3)]).toEqual([Number.NaN, 2 * (klines.close[2] as number)]);
  const other = { nextValue: (value: number) => value + 1 };
  const next = fromStreaming(() => other, { warmup: 1, next: (made, value: number) => made.nextValue(value) });
  expect(column(next)[7]).toBe((klines.close[7] as number) + 1);
});

test('is not shared between the runs of a grid: two of them may differ in what nobody can see', () => {
  expect(fromStreaming(() => new RSI(14), { warmup: 15 }).column.key).toBeUndefined();
});

test.each<readonly [make: () => Indicator, message: string]>([
  [() => fromStreaming(() => ({ value: 1 }), { warmup: 1 }), 'has neither add() nor update()'],
  [
    () => fromStreaming(() => new BollingerBands(2), { warmup: 2 }),
    'instead of a number: name the lines that you need',
  ],
  [() => fromStreaming(() => new BollingerBands(2), { warmup: 2, lines: ['top'] }).top, 'of which top is not a number'],
])('%# is told when it is used', (make, message) => {
  expect(() => column(make())).toThrow(message);
});
