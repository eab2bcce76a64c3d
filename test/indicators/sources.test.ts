/** Indicators over other indicators, over means of prices, over larger klines, and since a time. */
import { describe, expect, test } from 'vitest';
import {
  anchoredVwap,
  atr,
  bollinger,
  correlation,
  ema,
  highest,
  type Indicator,
  macd,
  rollingVwap,
  rsi,
  sessionVwap,
  sma,
  stdev,
} from '../../src/strategy/indicators.ts';
import { aggregate, on, ownWarmup } from '../../src/strategy/larger-klines.ts';
import { flattened, minutes, rowsOf, streamed } from './klines.ts';

const klines = minutes(3_000);
const column = (indicator: Indicator, of = klines): Float64Array => indicator.column(of, '1min');
const user: Indicator = {
  warmup: 3,
  column: ({ close }) => close.map((price, row) => (row < 2 ? Number.NaN : price - (close[row - 2] as number))),
  stream() {
    const last: number[] = [];
    return ({ close }) => {
      last.push(close);
      return last.length < 3 ? Number.NaN : close - (last.shift() as number);
    };
  },
};

describe('an indicator over another', () => {
  test('is the one that a library calculates as a line of its own', () => {
    const { line, signal } = macd('close', 12, 26, 9);
    const own = ema(line, 9);
    expect(own.warmup).toBe(signal.warmup);
    expect(column(own)).toEqual(column(signal));
  });

  test('starts with the first value of the other, and adds its warm-up', () => {
    const moves = sma(user, 5);
    expect(moves.warmup).toBe(7);
    const values = column(moves);
    expect(values.findIndex((value) => !Number.isNaN(value))).toBe(6);
    const firsts = column(user).subarray(2, 7);
    expect(values[6]).toBeCloseTo(firsts.reduce((sum, value) => sum + value, 0) / 5, 9);
    expect(streamed(moves, klines)).toEqual(values);
  });

  test('is itself a source, however deep', () => {
    const deep = sma(ema(rsi(atr(14), 10), 5), 3);
    expect(deep.warmup).toBe(15 + 11 + 5 + 3 - 3);
    const values = column(deep);
    expect(values.findIndex((value) => !Number.isNaN(value))).toBe(deep.warmup - 1);
    expect(streamed(deep, klines)).toEqual(values);
  });

  test('leaves out the rows at which the other has no value', () => {
    const holes: Indicator = {
      warmup: 1,
      column: ({ close }) => close.map((price, row) => (row % 3 === 1 ? Number.NaN : price)),
      stream() {
        let row = 0;
        return ({ close }) => (row++ % 3 === 1 ? Number.NaN : close);
      },
    };
    const values = column(highest(holes, 2));
    expect([values[4], values[7]]).toEqual([Number.NaN, Number.NaN]);
    expect(values[5]).toBe(Math.max(klines.close[3] as number, klines.close[5] as number));
    expect(streamed(highest(holes, 2), klines)).toEqual(values);
  });

  test('has a key of the other, by which its columns are shared, and none where the other has none', () => {
    expect(ema('close', 20).column.key).toBe('ema close 20');
    expect(ema(sma('hlc3', 5), 20).column.key).toBe('ema (sma hlc3 5) 20');
    expect(macd('close').signal.column.key).toBe('macd close 12 26 9 signal');
    expect(ema(macd('open').line, 9).column.key).toBe('ema (macd open 12 26 9 line) 9');
    expect(ema(user, 20).column.key).toBeUndefined();
  });

  test('of two sources begins where both have a value', () => {
    const both = correlation(sma('close', 40), 'volume', 10);
    expect(both.warmup).toBe(49);
    expect(column(both).findIndex((value) => !Number.isNaN(value))).toBe(48);
  });
});

test('the mean prices of klines are sources', () => {
  const { open, high, low, close } = klines;
  const at = (name: 'hl2' | 'hlc3' | 'ohlc4', row: number): number => column(sma(name, 1))[row] as number;
  const [o, h, l, c] = [open, high, low, close].map((prices) => prices[77] as number) as [
    number,
    number,
    number,
    number,
  ];
  expect(at('hl2', 77)).toBe((h + l) / 2);
  expect(at('hlc3', 77)).toBeCloseTo((h + l + c) / 3, 9);
  expect(at('ohlc4', 77)).toBe((o + h + l + c) / 4);
  expect(streamed(sma('hlc3', 7), klines)).toEqual(column(sma('hlc3', 7)));
});

describe('over larger klines', () => {
  test('an indicator is calculated once for each of them, wherever the interval is named', () => {
    const inside = ema(on('60min', sma('close', 5)), 3);
    const outside = on('60min', ema(sma('close', 5), 3));
    expect([inside.of, inside.warmup]).toEqual(['60min', 7]);
    expect(column(inside)).toEqual(column(outside));
    expect(inside.column.key).toBe(outside.column.key);
    expect(streamed(inside, klines)).toEqual(column(inside));
    const hours = aggregate('1min', '60min', klines).columns;
    expect(column(inside).at(-1)).toBe(ema(sma('close', 5), 3).column(hours, '60min').at(-1));
  });

  test('the lines of an indicator are of that interval, too', () => {
    const { upper } = bollinger(on('60min', rsi('close', 5)), 4);
    expect(upper.of).toBe('60min');
    expect(column(upper)).toEqual(column(on('60min', bollinger(rsi('close', 5), 4).upper)));
  });

  test('sources of different intervals are refused, and so is an interval of a user’s own', () => {
    const hours = on('60min', sma('close', 5));
    expect(() => correlation(hours, 'close', 5)).toThrow(
      "correlation(…): its sources are of 60min and of the strategy's own interval; name one interval, around it",
    );
    expect(() => correlation(hours, on('1day', sma('close', 5)), 5)).toThrow('of 60min and of 1day');
    expect(() => ema({ ...user, of: '60min' }, 5)).toThrow('60min klines that on() did not make');
    expect(() => on('1day', ema(hours, 3))).toThrow('of 60min already');
  });
});

describe('a volume-weighted average price', () => {
  const { openTime, high, low, close, volume } = klines;
  /** From row `from` to row `to`. */
  const byHand = (from: number, to: number): number => {
    let [amount, traded] = [0, 0];
    for (let row = from; row <= to; row++) {
      amount += (((high[row] as number) + (low[row] as number) + (close[row] as number)) / 3) * (volume[row] as number);
      traded += volume[row] as number;
    }
    return amount / traded;
  };

  test('of a session begins at midnight UTC, or at the hour that is named', () => {
    expect(column(sessionVwap())[2_000]).toBeCloseTo(byHand(1_440, 2_000), 8);
    expect(column(sessionVwap(8))[2_000]).toBeCloseTo(byHand(1_440 + 480, 2_000), 8);
    expect(column(sessionVwap(8))[1_500]).toBeCloseTo(byHand(480, 1_500), 8);
  });

  test('of a session needs a day of klines before its first value, and what is over it needs its own beside them', () => {
    expect(ownWarmup(sessionVwap(), '1min')).toBe(1_440);
    expect(ownWarmup(sessionVwap(), '15min')).toBe(96);
    expect(ownWarmup(ema(sessionVwap(), 20), '1min')).toBe(1_459);
    expect(ownWarmup(on('60min', sessionVwap()), '1min')).toBe(1_439 + 119);
    for (const start of [0, 1, 700, 1_439])
      expect(column(sessionVwap(), rowsOf(klines, start, start + 1_440)).at(-1)).not.toBeNaN();
  });

  test('since a time has no value before, and none where the klines begin later', () => {
    const since = openTime[100] as number;
    const values = column(anchoredVwap(since));
    expect(values.findIndex((value) => !Number.isNaN(value))).toBe(100);
    expect(values[900]).toBeCloseTo(byHand(100, 900), 8);
    expect(column(anchoredVwap('2020-02-01T01:40Z'))).toEqual(values);
    expect(column(anchoredVwap(since), rowsOf(klines, 101, 500)).every(Number.isNaN)).toBe(true);
  });

  test('where nothing is traded is the price', () => {
    const quiet = flattened(klines, 1_430, 1_500);
    const price = quiet.close[1_440] as number;
    expect(
      column(sessionVwap(), quiet)
        .subarray(1_440, 1_500)
        .every((value) => value === price),
    ).toBe(true);
    expect(column(rollingVwap(10), quiet)[1_460]).toBe(price);
  });
});

test('what compares rises with falls says the same after a week without a trade as at its start', () => {
  const quiet = flattened(minutes(15_000), 2_000, 14_000);
  for (const make of [rsi('close', 14), rsi('close', 2)]) {
    const values = column(make, quiet);
    expect(new Set(values.subarray(2_000, 14_000)).size).toBe(1);
  }
  expect(column(stdev('close', 20), quiet)[13_999]).toBe(0);
});
