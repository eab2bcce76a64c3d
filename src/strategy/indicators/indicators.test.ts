import { describe, expect, test } from 'vitest';
import { fc, property } from '../../../test/kit/properties.ts';
import { atr, type Columns, ema, highest, type Indicator, lowest, rsi, sma, stdev } from '../indicators.ts';

const columnsOf = (rows: readonly (readonly [open: number, high: number, low: number, close: number])[]): Columns => {
  const column = (pick: 0 | 1 | 2 | 3): Float64Array => Float64Array.from(rows, (row) => row[pick]);
  return {
    openTime: Float64Array.from(rows, (_, index) => index * 60_000),
    open: column(0),
    high: column(1),
    low: column(2),
    close: column(3),
    volume: column(3),
  };
};
const closes = (values: readonly number[]): Columns => columnsOf(values.map((value) => [value, value, value, value]));

function streamed(indicator: Indicator, klines: Columns): Float64Array {
  const next = indicator.stream('1min');
  return Float64Array.from(klines.close, (close, at) =>
    next({
      openTime: klines.openTime[at] ?? 0,
      open: klines.open[at] ?? 0,
      high: klines.high[at] ?? 0,
      low: klines.low[at] ?? 0,
      close,
      volume: klines.volume[at] ?? 0,
    }),
  );
}

const price = fc.double({ min: 0.01, max: 100_000, noNaN: true });
const rows = fc.array(
  fc.tuple(price, price, price, price).map(([a, b, c, d]) => {
    const sorted = [a, b, c, d].sort((x, y) => x - y) as [number, number, number, number];
    return [sorted[1], sorted[3], sorted[0], sorted[2]] as const;
  }),
  { maxLength: 60 },
);
const period = fc.integer({ min: 1, max: 12 });

describe.each([
  ['sma', (length: number) => sma('close', length)],
  ['sma of volume', (length: number) => sma('volume', length)],
  ['ema', (length: number) => ema('high', length)],
  ['atr', (length: number) => atr(length)],
  ['rsi', (length: number) => rsi('close', length)],
  ['highest', (length: number) => highest('high', length)],
  ['lowest', (length: number) => lowest('low', length)],
  ['stdev', (length: number) => stdev('close', length)],
])('%s', (_, make) => {
  property.prop([rows, period])('gives the same bits as a column and as a stream', (given, length) => {
    const klines = columnsOf(given);
    expect(streamed(make(length), klines)).toEqual(make(length).column(klines, '1min'));
  });

  property.prop([rows, period, fc.integer({ min: 1, max: 70 })])(
    'gives the same bits in pieces',
    (given, length, rowsAtOnce) => {
      const klines = columnsOf(given);
      const { column } = make(length);
      const piece = column.pieces?.(klines, '1min');
      const values: number[] = [];
      for (let from = 0; from < given.length; from += rowsAtOnce) {
        const to = Math.min(from + rowsAtOnce, given.length);
        const into = new Float64Array(rowsAtOnce);
        piece?.(into, from, to);
        values.push(...into.subarray(0, to - from));
      }
      expect(Float64Array.from(values)).toEqual(column(klines, '1min'));
    },
  );

  property.prop([rows, period])('has no value before it is warm and always one after', (given, length) => {
    const column = make(length).column(columnsOf(given), '1min');
    column.forEach((value, at) => {
      expect(Number.isNaN(value)).toBe(at < make(length).warmup - 1);
    });
  });

  test('starts anew with each stream', () => {
    const klines = columnsOf([[1, 4, 1, 2] as const, [2, 5, 2, 3] as const, [3, 9, 2, 4] as const]);
    const indicator = make(2);
    expect(streamed(indicator, klines)).toEqual(streamed(indicator, klines));
  });
});

property.prop([fc.array(price, { minLength: 1, maxLength: 40 }), period])(
  'a simple average is the mean of the last values',
  (values, length) => {
    const column = sma('close', length).column(closes(values), '1min');
    for (let at = length - 1; at < values.length; at++) {
      const window = values.slice(at - length + 1, at + 1);
      const mean = window.reduce((sum, value) => sum + value, 0) / length;
      expect(Math.abs((column[at] ?? Number.NaN) - mean)).toBeLessThan(1e-6 * 100_000);
    }
  },
);

property.prop([fc.array(price, { minLength: 1, maxLength: 80 }), period])(
  'extremes and the deviation are those of the last values',
  (values, length) => {
    const klines = closes(values);
    const [top, low, spread] = [highest, lowest, stdev].map((make) => make('close', length).column(klines, '1min'));
    for (let at = length - 1; at < values.length; at++) {
      const window = values.slice(at - length + 1, at + 1);
      expect([top?.[at], low?.[at]]).toEqual([Math.max(...window), Math.min(...window)]);
      const mean = window.reduce((sum, value) => sum + value, 0) / length;
      const exact = Math.sqrt(window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length);
      expect(Math.abs((spread?.[at] ?? Number.NaN) - exact)).toBeLessThan(1e-3);
    }
  },
);

const windowed = [
  ['sma', (length: number) => sma('close', length)],
  ['stdev', (length: number) => stdev('close', length)],
  ['highest', (length: number) => highest('close', length)],
  ['lowest', (length: number) => lowest('close', length)],
] as const;
/** Prices and volumes of all sizes, with many digits or few, in runs of equal ones. */
const sized = fc.tuple(fc.double({ min: 1, max: 10, noNaN: true }), fc.integer({ min: -8, max: 14 }));
const anyValues = fc
  .array(
    fc.tuple(
      fc.oneof(
        price,
        sized.map(([digits, power]) => digits * 10 ** power),
        fc.integer({ min: 0, max: 9_999_999 }).map((cents) => cents / 100),
        fc.constantFrom(0, 1e17),
      ),
      fc.integer({ min: 1, max: 30 }),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((runs) => runs.flatMap(([value, times]) => new Array<number>(times).fill(value)));

describe.each(windowed)('%s over a window', (_, make) => {
  property.prop([anyValues, fc.integer({ min: 1, max: 40 })])(
    'does not depend on where the data begin',
    (all, length) => {
      const whole = make(length).column(closes(all), '1min');
      const live = streamed(make(length), closes(all));
      for (let at = length - 1; at < all.length; at++) {
        const window = make(length).column(closes(all.slice(at - length + 1, at + 1)), '1min');
        expect([whole[at], live[at]]).toEqual([window[length - 1], window[length - 1]]);
      }
    },
  );
});

property.prop([anyValues, price, fc.integer({ min: 1, max: 300 })])(
  'equal values have exactly their own average and exactly no deviation, whatever came before them',
  (before, value, length) => {
    const klines = closes([...before, ...new Array<number>(length).fill(value)]);
    expect(sma('close', length).column(klines, '1min').at(-1)).toBe(value);
    expect(stdev('close', length).column(klines, '1min').at(-1)).toBe(0);
  },
);

const cents = fc
  .tuple(fc.integer({ min: 1, max: 9_999_999 }), fc.integer({ min: 1, max: 1_000_000 }))
  .chain(([base, most]) => fc.array(fc.integer({ min: base, max: base + most }), { minLength: 300, maxLength: 300 }));

property.prop([cents, fc.constantFrom(20, 100, 300)])(
  'averages have fourteen digits right and deviations eight, of prices that hardly move, too',
  (all, length) => {
    const klines = closes(all.map((value) => value / 100));
    const [average = 0, spread = 0] = [sma, stdev].map((make) => make('close', length).column(klines, '1min').at(-1));
    const window = all.slice(-length);
    const sum = window.reduce((before, value) => before + value, 0);
    const squares = window.reduce((before, value) => before + BigInt(length * value - sum) ** 2n, 0n);
    const exact = Math.sqrt(Number(squares) / length ** 3) / 100;
    expect(Math.abs(average - sum / length / 100)).toBeLessThanOrEqual(1e-14 * average);
    expect(Math.abs(spread - exact)).toBeLessThanOrEqual(1e-8 * exact);
  },
);

test('the deviation is that of all values, and does not drift on a price far from 0', () => {
  expect([...stdev('close', 8).column(closes([2, 4, 4, 4, 5, 5, 7, 9]), '1min')].at(-1)).toBe(2);
  const values = Array.from({ length: 100_000 }, (_, at) => 1e9 + (at % 2));
  const column = stdev('close', 20).column(closes(values), '1min');
  for (const at of [19, 1_000, 50_001, 99_999]) expect(column[at]).toBeCloseTo(0.5, 6);
});

test('an exponential average starts at the simple one and moves by 2 / (period + 1)', () => {
  expect([...ema('close', 3).column(closes([1, 2, 3, 10, 4]), '1min')]).toEqual([Number.NaN, Number.NaN, 2, 6, 5]);
});

test('the average true range counts gaps and smooths as Wilder does', () => {
  const klines = columnsOf([
    [10, 12, 9, 11],
    [15, 16, 14, 15],
    [14, 14, 13, 13],
    [13, 17, 13, 16],
  ]);
  // True ranges: none of the first kline; 16 - 11 = 5; 15 - 13 = 2; 17 - 13 = 4.
  expect([...atr(2).column(klines, '1min')]).toEqual([Number.NaN, Number.NaN, 3.5, 3.75]);
});

test('the relative strength is 100 where only rises were, 0 where only falls, 50 where nothing moved', () => {
  const last = (values: readonly number[]): number | undefined => rsi('close', 3).column(closes(values), '1min').at(-1);
  expect(last([1, 2, 3, 4, 5])).toBe(100);
  expect(last([5, 4, 3, 2, 1])).toBe(0);
  expect(last([5, 5, 5, 5, 5])).toBe(50);
});

// The seventeen closes by which the index is often explained, in whole cents; the values are Wilder's method worked out by hand.
test('the relative strength is the one of an often used example', () => {
  const example = [
    44.34, 44.09, 44.15, 43.61, 44.33, 44.83, 45.1, 45.42, 45.84, 46.08, 45.89, 46.03, 45.61, 46.28, 46.28, 46.0, 46.03,
  ];
  const [first, second, third] = rsi('close', 14).column(closes(example), '1min').slice(14);
  expect(first).toBeCloseTo(70.46, 2);
  expect(second).toBeCloseTo(66.25, 2);
  expect(third).toBeCloseTo(66.48, 2);
});
