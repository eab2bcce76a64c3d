/** Series of whole numbers of 2^-512: so exact that a double cannot tell them from rational arithmetic. */
export const bits = 512n;
export const one = 1n << bits;

/** A number, or undefined where there is none yet. */
export type Maybe = bigint | undefined;
export type Series = readonly Maybe[];

/** The exact value of a double; what is smaller than 2^-512 is dropped. */
export function exactly(value: number): bigint {
  if (value === 0) return 0n;
  const power = 60 - Math.floor(Math.log2(Math.abs(value)));
  // In two steps: a power of two beyond 2^1023 is no double.
  const whole = BigInt(value * 2 ** Math.min(power, 1_000) * 2 ** Math.max(0, power - 1_000));
  const shift = bits - BigInt(power);
  return shift >= 0n ? whole << shift : whole >> -shift;
}

export const times = (a: bigint, b: bigint): bigint => (a * b) >> bits;
export const over = (a: bigint, b: bigint): bigint => (a << bits) / b;
export const fraction = (a: number, b: number): bigint => (BigInt(a) << bits) / BigInt(b);
export const abs = (a: bigint): bigint => (a < 0n ? -a : a);
export const sum = (values: readonly bigint[]): bigint => values.reduce((all, value) => all + value, 0n);
export const mean = (values: readonly bigint[]): bigint => sum(values) / BigInt(values.length);
export const sorted = (values: readonly bigint[]): readonly bigint[] =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
export const max = (values: readonly bigint[]): bigint => sorted(values).at(-1) as bigint;
export const min = (values: readonly bigint[]): bigint => sorted(values)[0] as bigint;

export function root(value: bigint): bigint {
  if (value === 0n) return 0n;
  const square = value << bits;
  let guess = 1n << BigInt((square.toString(2).length / 2 + 1) | 0);
  for (;;) {
    const next = (guess + square / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** What `make` says of the values from the first known one on. */
export function known(values: Series, make: (values: readonly bigint[]) => Series): Series {
  const first = values.findIndex((value) => value !== undefined);
  if (first < 0) return values;
  return [...values.slice(0, first), ...make(values.slice(first) as bigint[])];
}

export const windows = (values: Series, period: number, make: (window: readonly bigint[]) => bigint): Series =>
  known(values, (all) =>
    all.map((_, row) => (row < period - 1 ? undefined : make(all.slice(row - period + 1, row + 1)))),
  );

/** By row, of series of which all are known. */
export const rows = (series: readonly Series[], make: (...values: bigint[]) => bigint): Series =>
  (series[0] as Series).map((_, row) => {
    const values = series.map((one) => one[row]);
    return values.includes(undefined) ? undefined : make(...(values as bigint[]));
  });

export const changes = (values: Series): Series =>
  values.map((value, row) => {
    const before = values[row - 1];
    return value === undefined || before === undefined ? undefined : value - before;
  });

/** Averages by `weight`, which start at the mean of the first `period` values. */
export const smoothed = (values: Series, period: number, weight: bigint): Series =>
  known(values, (all) => {
    let average: Maybe;
    return all.map((value, row) => {
      if (row === period - 1) average = mean(all.slice(0, period));
      else if (average !== undefined) average += times(weight, value - average);
      return average;
    });
  });

export const ema = (values: Series, period: number): Series => smoothed(values, period, fraction(2, period + 1));
export const wilder = (values: Series, period: number): Series => smoothed(values, period, fraction(1, period));
export const sma = (values: Series, period: number): Series => windows(values, period, mean);
export const wma = (values: Series, period: number): Series =>
  windows(
    values,
    period,
    (window) => sum(window.map((value, at) => value * BigInt(at + 1))) / BigInt((period * (period + 1)) / 2),
  );
export const deviation = (window: readonly bigint[]): bigint => {
  const middle = mean(window);
  return root(mean(window.map((value) => times(value - middle, value - middle))));
};

export interface ExactKlines {
  readonly open: Series;
  readonly high: Series;
  readonly low: Series;
  readonly close: Series;
  readonly volume: Series;
}

export type Lines = Readonly<Record<string, Series>>;

export const ranges = ({ high, low, close }: ExactKlines): Series =>
  rows(
    [high, low, [undefined, ...close.slice(0, -1)]],
    (top, bottom, before) => max([top, before]) - min([bottom, before]),
  );
export const typical = ({ high, low, close }: ExactKlines): Series =>
  rows([high, low, close], (...prices) => sum(prices) / 3n);
