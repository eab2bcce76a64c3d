/** Indicators by their definitions, in exact arithmetic. Written for reading, not for speed, and without anything of ours. */
import {
  abs,
  bits,
  changes,
  deviation,
  type ExactKlines,
  ema,
  fraction,
  type Lines,
  type Maybe,
  max,
  mean,
  min,
  one,
  over,
  ranges,
  root,
  rows,
  type Series,
  sma,
  smoothed,
  sum,
  times,
  typical,
  wilder,
  windows,
  wma,
} from './exact-series.ts';

const percent = (part: bigint, whole: bigint, none: bigint): bigint => (whole === 0n ? none : over(100n * part, whole));
const rise = (move: bigint): bigint => (move > 0n ? move : 0n);
const fall = (move: bigint): bigint => (move < 0n ? -move : 0n);

function strength(values: Series, period: number): readonly [rises: Series, falls: Series] {
  const moves = changes(values);
  return [wilder(rows([moves], rise), period), wilder(rows([moves], fall), period)];
}

const rsi = (values: Series, period: number): Series =>
  rows(strength(values, period), (up, down) => percent(up, up + down, 50n * one));

function convergence(fast: Series, slow: Series, signal: number, isPercent: boolean): Lines {
  const line = rows([fast, slow], (a, b) => (isPercent ? percent(a - b, b, 0n) : a - b));
  const signals = ema(line, signal);
  return { line, signal: signals, histogram: rows([line, signals], (a, b) => a - b) };
}

function regression(window: readonly bigint[]): readonly [value: bigint, slope: bigint, r2: bigint] {
  const size = BigInt(window.length);
  // 12 × the sum of the squared distances of the klines from the middle one.
  const spread = size * (size * size - 1n);
  const middle = mean(window);
  // Twice the distance of each from the middle kline, a whole number.
  const products = sum(window.map((value, at) => (value - middle) * (2n * BigInt(at) - size + 1n)));
  const slope = (6n * products) / spread;
  const squares = sum(window.map((value) => times(value - middle, value - middle)));
  const r2 = squares === 0n ? 0n : over((times(slope, slope) * spread) / 12n, squares);
  return [middle + (slope * (size - 1n)) / 2n, slope, r2];
}

const regressions = (values: Series, period: number): Lines => ({
  value: windows(values, period, (window) => regression(window)[0]),
  slope: windows(values, period, (window) => regression(window)[1]),
  r2: windows(values, period, (window) => regression(window)[2]),
});

/** Sums of squares and products around the means. */
function around(a: readonly bigint[], b: readonly bigint[]): readonly [a: bigint, b: bigint, products: bigint] {
  const [middleA, middleB] = [mean(a), mean(b)];
  const products = (x: readonly bigint[], mx: bigint, y: readonly bigint[], my: bigint): bigint =>
    sum(x.map((value, at) => times(value - mx, (y[at] as bigint) - my)));
  return [products(a, middleA, a, middleA), products(b, middleB, b, middleB), products(a, middleA, b, middleB)];
}

const pairs = (
  a: Series,
  b: Series,
  period: number,
  make: (a: readonly bigint[], b: readonly bigint[]) => bigint,
): Series =>
  a.map((_, row) => {
    const last = (values: Series): Series => values.slice(Math.max(0, row - period + 1), row + 1);
    const [x, y] = [last(a), last(b)];
    return x.length < period || x.includes(undefined) ? undefined : make(x as bigint[], y as bigint[]);
  });

function kama(values: readonly bigint[], period: number): Series {
  let average = values[period - 1] as bigint;
  const [slowest, fastest] = [fraction(2, 31), fraction(2, 3)];
  return values.map((value, row) => {
    if (row < period) return undefined;
    const moved = abs(value - (values[row - period] as bigint));
    const sizes = sum(
      values.slice(row - period + 1, row + 1).map((one, at) => abs(one - (values[row - period + at] as bigint))),
    );
    const speed = times(sizes === 0n ? one : over(moved, sizes), fastest - slowest) + slowest;
    average += times(times(speed, speed), value - average);
    return average;
  });
}

function directional(klines: ExactKlines, period: number): Lines {
  const moves = (up: boolean): Series =>
    rows([changes(klines.high), changes(klines.low)], (high, low) => {
      const [own, other] = up ? [high, -low] : [-low, high];
      return own > other && own > 0n ? own : 0n;
    });
  // Sums of the first period - 1, of which each kline then replaces 1 / period.
  const total = (values: Series): Series => {
    let all = 0n;
    return values.map((value, row) => {
      if (value === undefined) return undefined;
      all = row < period ? all + value : all - all / BigInt(period) + value;
      return row < period ? undefined : all;
    });
  };
  const [plus, minus, range] = [moves(true), moves(false), ranges(klines)].map(total) as [Series, Series, Series];
  const index = rows([plus, minus], (up, down) => percent(abs(up - down), up + down, 0n));
  return {
    plusDI: rows([plus, range], (part, whole) => percent(part, whole, 0n)),
    minusDI: rows([minus, range], (part, whole) => percent(part, whole, 0n)),
    adx: wilder(index, period),
  };
}

function ages(values: Series, period: number, best: (values: readonly bigint[]) => bigint): Series {
  return windows(values, period, (window) => BigInt(window.length - 1 - window.lastIndexOf(best(window))));
}

function flows({ high, low, close, volume }: ExactKlines): Series {
  return rows([high, low, close, volume], (top, bottom, last, size) =>
    top === bottom ? 0n : times(over(2n * last - bottom - top, top - bottom), size),
  );
}

const totals = (values: Series): Series => {
  let all = 0n;
  return values.map((value) => {
    all += value as bigint;
    return all;
  });
};

function moneyFlow(klines: ExactKlines, period: number): Series {
  const price = typical(klines);
  const part = (test: (move: bigint) => boolean): Series =>
    windows(
      rows([changes(price), price, klines.volume], (move, value, size) => (test(move) ? times(value, size) : 0n)),
      period,
      sum,
    );
  return rows([part((move) => move > 0n), part((move) => move < 0n)], (up, down) => percent(up, up + down, 50n * one));
}

function ultimate(klines: ExactKlines): Series {
  const { low, close } = klines;
  const before: Series = [undefined, ...close.slice(0, -1)];
  const pressure = rows([low, close, before], (bottom, last, past) => last - min([bottom, past]));
  const part = (period: number): Series =>
    rows([windows(pressure, period, sum), windows(ranges(klines), period, sum)], (a, b) =>
      b === 0n ? one / 2n : over(a, b),
    );
  return rows([part(7), part(14), part(28)], (a, b, c) => (100n * (4n * a + 2n * b + c)) / 7n);
}

function weightedBy(prices: Series, volume: Series, period: number): Series {
  return pairs(prices, volume, period, (price, size) =>
    sum(size) === 0n ? mean(price) : over(sum(price.map((one, at) => times(one, size[at] as bigint))), sum(size)),
  );
}

function stochastic(values: Series, high: Series, low: Series, period: number, k: number, d: number): Lines {
  const raw = rows([values, windows(high, period, max), windows(low, period, min)], (value, top, bottom) =>
    percent(value - bottom, top - bottom, 50n * one),
  );
  return { k: sma(raw, k), d: sma(sma(raw, k), d) };
}

function bollinger(values: Series, period: number): Lines {
  const [middle, spread] = [sma(values, period), windows(values, period, deviation)];
  const upper = rows([middle, spread], (a, b) => a + 2n * b);
  const lower = rows([middle, spread], (a, b) => a - 2n * b);
  return {
    ...{ upper, middle, lower },
    percentB: rows([values, upper, lower], (value, a, b) => (a === b ? one / 2n : over(value - b, a - b))),
    width: rows([upper, lower, middle], (a, b, c) => over(a - b, c)),
  };
}

function heikinAshi({ open, high, low, close }: ExactKlines): Lines {
  const closes = rows([open, high, low, close], (...prices) => sum(prices) / 4n);
  let middle: Maybe;
  const opens = open.map((value, row) => {
    const own = middle ?? ((value as bigint) + (close[row] as bigint)) / 2n;
    middle = (own + (closes[row] as bigint)) / 2n;
    return own;
  });
  return {
    ...{ open: opens, close: closes },
    high: rows([high, opens, closes], (...prices) => max(prices)),
    low: rows([low, opens, closes], (...prices) => min(prices)),
  };
}

const lagged = (values: Series, count: number): Series => [
  ...new Array<undefined>(count).fill(undefined),
  ...values.slice(0, values.length - count),
];

/** An EMA, its EMA, and that of it. */
function chain(values: Series, period: number): readonly [Series, Series, Series] {
  const first = ema(values, period);
  const second = ema(first, period);
  return [first, second, ema(second, period)];
}

type Calls = Readonly<Record<string, () => Lines>>;

function averages(klines: ExactKlines): Calls {
  const { close, volume } = klines;
  return {
    "sma('close', 20)": () => ({ value: sma(close, 20) }),
    "sma('volume', 50)": () => ({ value: sma(volume, 50) }),
    "ema('close', 20)": () => ({ value: ema(close, 20) }),
    "wma('close', 20)": () => ({ value: wma(close, 20) }),
    "wma('close', 200)": () => ({ value: wma(close, 200) }),
    "sma(roc('close', 10), 20)": () => ({
      value: sma(
        rows([close, lagged(close, 10)], (a, b) => percent(a - b, b, 0n)),
        20,
      ),
    }),
    "dema('close', 20)": () => ({ value: rows(chain(close, 20).slice(0, 2), (a, b) => 2n * a - b) }),
    "tema('close', 20)": () => ({ value: rows(chain(close, 20), (a, b, c) => 3n * a - 3n * b + c) }),
    "hma('close', 20)": () => ({
      value: wma(
        rows([wma(close, 10), wma(close, 20)], (a, b) => 2n * a - b),
        4,
      ),
    }),
    "kama('close', 10)": () => ({ value: kama(close as bigint[], 10) }),
    "vwma('close', 20)": () => ({ value: weightedBy(close, volume, 20) }),
    'rollingVwap(20)': () => ({ value: weightedBy(typical(klines), volume, 20) }),
  };
}

function bands(klines: ExactKlines): Calls {
  const { high, low, close } = klines;
  const middleOf = (period: number): Series =>
    rows([windows(high, period, max), windows(low, period, min)], (a, b) => (a + b) / 2n);
  const leads = (): readonly [Series, Series] => [
    rows([middleOf(9), middleOf(26)], (a, b) => (a + b) / 2n),
    middleOf(52),
  ];
  return {
    "bollinger('close', 20, 2)": () => bollinger(close, 20),
    "keltner('hlc3', 20, 10, 2)": () => {
      const middle = ema(typical(klines), 20);
      // The range starts with the average, of the ten klines up to there.
      const range = wilder([...new Array<undefined>(10).fill(undefined), ...ranges(klines).slice(10)], 10);
      return {
        middle,
        upper: rows([middle, range], (a, b) => a + 2n * b),
        lower: rows([middle, range], (a, b) => a - 2n * b),
      };
    },
    'donchian(20)': () => ({ upper: windows(high, 20, max), lower: windows(low, 20, min), middle: middleOf(20) }),
    'ichimoku(9, 26, 52, 26)': () => {
      const [leadA, leadB] = leads();
      return {
        ...{ conversion: middleOf(9), base: middleOf(26), leadA, leadB },
        ...{ spanA: lagged(leadA, 25), spanB: lagged(leadB, 25) },
      };
    },
    'trueRange()': () => ({ value: ranges(klines) }),
    'atr(14)': () => ({ value: wilder(ranges(klines), 14) }),
    'natr(14)': () => ({ value: rows([wilder(ranges(klines), 14), close], (a, b) => percent(a, b, 0n)) }),
    "highest('high', 20)": () => ({ value: windows(high, 20, max) }),
    "lowest('low', 20)": () => ({ value: windows(low, 20, min) }),
  };
}

function oscillators(klines: ExactKlines): Calls {
  const { high, low, close } = klines;
  return {
    'aroon(14)': () => {
      const up = rows([ages(high, 15, max)], (age) => over((100n * (14n - age)) << bits, 14n << bits));
      const down = rows([ages(low, 15, min)], (age) => over((100n * (14n - age)) << bits, 14n << bits));
      return { up, down, oscillator: rows([up, down], (a, b) => a - b) };
    },
    'stochastic(14, 3, 3)': () => stochastic(close, high, low, 14, 3, 3),
    "stochRsi('close', 14, 5, 1, 3)": () => {
      // Where nothing moves, it stays; the last digits of our fractions do not.
      const strengths = rows([rsi(close, 14)], (value) => ((value + (1n << 399n)) >> 400n) << 400n);
      return stochastic(strengths, strengths, strengths, 5, 1, 3);
    },
    'williamsR(14)': () => ({
      value: rows([close, windows(high, 14, max), windows(low, 14, min)], (value, top, bottom) =>
        percent(value - top, top - bottom, -50n * one),
      ),
    }),
    "cci('hlc3', 20)": () => ({
      value: windows(typical(klines), 20, (window) => {
        const middle = mean(window);
        const apart = mean(window.map((value) => abs(value - middle)));
        return apart === 0n ? 0n : over(((window.at(-1) as bigint) - middle) * 1_000n, apart * 15n);
      }),
    }),
    'mfi(14)': () => ({ value: moneyFlow(klines, 14) }),
    "cmo('close', 14)": () => ({
      value: rows(strength(close, 14), (up, down) => percent(up - down, up + down, 0n)),
    }),
    "cmo('close', 14, 'sum')": () => ({
      value: windows(changes(close), 14, (moves) => percent(sum(moves), sum(moves.map(abs)), 0n)),
    }),
    "roc('close', 10)": () => ({ value: rows([close, lagged(close, 10)], (a, b) => percent(a - b, b, 0n)) }),
    "momentum('close', 10)": () => ({ value: rows([close, lagged(close, 10)], (a, b) => a - b) }),
    "trix('close', 15)": () => {
      const third = chain(close, 15)[2];
      return { value: rows([changes(third), lagged(third, 1)], (move, before) => percent(move, before, 0n)) };
    },
    "macd('close', 12, 26, 9)": () =>
      // The fast average starts with the slow one, of the twelve values up to there.
      convergence(ema([...new Array<undefined>(14).fill(undefined), ...close.slice(14)], 12), ema(close, 26), 9, false),
    "ppo('close', 12, 26, 9)": () => convergence(ema(close, 12), ema(close, 26), 9, true),
    'adx(14)': () => directional(klines, 14),
    'ultimateOscillator(7, 14, 28)': () => ({ value: ultimate(klines) }),
    "rsi('close', 14)": () => ({ value: rsi(close, 14) }),
  };
}

function others(klines: ExactKlines): Calls {
  const { open, high, close, volume } = klines;
  const returns = (values: Series): Series =>
    rows([changes(values), lagged(values, 1)], (move, before) => over(move, before));
  return {
    'obv()': () => ({
      value: totals(
        volume.map((size, row) => {
          const move = row === 0 ? 1n : (close[row] as bigint) - (close[row - 1] as bigint);
          return move > 0n ? size : move < 0n ? -(size as bigint) : 0n;
        }),
      ),
    }),
    'accumulationDistribution()': () => ({ value: totals(flows(klines)) }),
    'chaikinOscillator(3, 10)': () => {
      const line = totals(flows(klines));
      const average = (period: number): Series => smoothed(line, 1, fraction(2, period + 1));
      const both = rows([average(3), average(10)], (a, b) => a - b);
      return { value: both.map((value, row) => (row < 9 ? undefined : value)) };
    },
    "linearRegression('close', 14)": () => regressions(close, 14),
    "linearRegression('close', 150)": () => regressions(close, 150),
    "zScore('close', 20)": () => ({
      value: windows(close, 20, (window) => {
        const spread = deviation(window);
        return spread === 0n ? 0n : over((window.at(-1) as bigint) - mean(window), spread);
      }),
    }),
    "stdev('close', 20)": () => ({ value: windows(close, 20, deviation) }),
    "correlation('high', 'volume', 30)": () => ({
      value: pairs(high, volume, 30, (a, b) => {
        const [ofA, ofB, products] = around(a, b);
        return ofA === 0n || ofB === 0n ? 0n : over(products, root(times(ofA, ofB)));
      }),
    }),
    "beta('close', 'open', 10)": () => ({
      value: pairs(returns(close), returns(open), 10, (a, b) => {
        const [, ofB, products] = around(a, b);
        return ofB === 0n ? 0n : over(products, ofB);
      }),
    }),
    "percentRank('close', 100)": () => ({
      value: windows(close, 101, (window) => {
        const last = window.at(-1) as bigint;
        return BigInt(window.filter((value) => value < last).length) * one;
      }),
    }),
    'heikinAshi()': () => heikinAshi(klines),
  };
}

/** The lines of each indicator, by the text of its call. */
export const exactLines = (klines: ExactKlines): Calls => ({
  ...averages(klines),
  ...bands(klines),
  ...oscillators(klines),
  ...others(klines),
});
