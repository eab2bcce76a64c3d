/**
 * Differences of exponential averages. Each average is kept as its distance from the newest value. So the difference of two averages keeps its
 * digits in long flat stretches, in which both come ever closer to the price.
 */
import type { Indicator, Source } from '../indicator.ts';
import { calculated, linesOf } from './calculated.ts';

type Lines = Readonly<Record<'line' | 'signal' | 'histogram', Indicator>>;

/**
 * MACD (Appel 1979): `line` is the EMA over `fast` values minus that over `slow` ones, `signal` the EMA of the line, `histogram` the line
 * minus its signal; all in units of the source. Both averages start at simple averages at the same kline, as in TA-Lib. The start counts
 * less than 1e-9 of the price after 10.4 × (`slow` + 1) klines, and for `signal` and `histogram` after 12.5 × (`slow` + 1).
 */
export const macd = (source: Source, fast = 12, slow = 26, signal = 9): Lines =>
  convergence('macd', source, fast, slow, signal);

/**
 * Percentage price oscillator: as `macd`, with a `line` in percent of the slow average. Each average starts as that of `ema` does, as in TA-Lib.
 */
export const ppo = (source: Source, fast = 12, slow = 26, signal = 9): Lines =>
  convergence('ppo', source, fast, slow, signal);

const convergence = (name: 'macd' | 'ppo', source: Source, fast: number, slow: number, signal: number): Lines => {
  const first = Math.max(fast, slow);
  return linesOf({
    ...{ name, sources: [source], lines: { line: first, signal: first + signal - 1, histogram: first + signal - 1 } },
    periods: { 'fast period': fast, 'slow period': slow, 'signal period': signal },
    begin() {
      const weightFast = 2 / (fast + 1);
      const weightSlow = 2 / (slow + 1);
      const weightSignal = 2 / (signal + 1);
      const keptFast = 1 - weightFast;
      const keptSlow = 1 - weightSlow;
      const keptSignal = 1 - weightSignal;
      const seeds = new Float64Array(first);
      const isPercent = name === 'ppo';
      const [firstFast, firstSlow] = isPercent ? [fast, slow] : [first, first];
      let seen = 0;
      let lastValue = 0;
      let lastFast = 0;
      let lastSlow = 0;
      let sum = 0;
      let lastAverage = Number.NaN;
      return ([values], [line, signals, histogram], count) => {
        let before = lastValue;
        let gapFast = lastFast;
        let gapSlow = lastSlow;
        let average = lastAverage;
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          const move = value - before;
          before = value;
          gapFast = keptFast * (gapFast + move);
          gapSlow = keptSlow * (gapSlow + move);
          if (seen < first) {
            seeds[seen] = value;
            if (seen + 1 === firstFast) gapFast = gapOf(seeds.subarray(firstFast - fast, firstFast));
            if (seen + 1 === firstSlow) gapSlow = gapOf(seeds.subarray(firstSlow - slow, firstSlow));
          }
          seen++;
          const apart = gapSlow - gapFast;
          const now = seen < first ? Number.NaN : isPercent ? (100 * apart) / (value - gapSlow) : apart;
          if (seen >= first + signal) average = keptSignal * average + weightSignal * now;
          else if (seen >= first) {
            sum += now;
            if (seen === first + signal - 1) average = sum / signal;
          }
          line[row] = now;
          signals[row] = average;
          histogram[row] = now - average;
        }
        [lastValue, lastFast, lastSlow, lastAverage] = [before, gapFast, gapSlow, average];
      };
    },
  });
};

/** How far the last value lies above the mean of these. */
function gapOf(values: Float64Array): number {
  const last = values.at(-1) as number;
  let sum = 0;
  for (const value of values) sum += last - value;
  return sum / values.length;
}

/** An exponential average as its distance from the newest value. */
class Gap {
  readonly #seeds: Float64Array;
  readonly #weight: number;
  #seen = 0;
  /** Value - average; NaN until as many values as the period were seen. */
  gap = Number.NaN;

  constructor(period: number) {
    this.#seeds = new Float64Array(period);
    this.#weight = 2 / (period + 1);
  }

  /** Takes a value and its difference from the one before. Returns by how much the average moves; NaN until it did. */
  move(value: number, move: number): number {
    if (this.#seen < this.#seeds.length) {
      this.#seeds[this.#seen++] = value;
      if (this.#seen === this.#seeds.length) this.gap = gapOf(this.#seeds);
      return Number.NaN;
    }
    const apart = this.gap + move;
    this.gap = (1 - this.#weight) * apart;
    return this.#weight * apart;
  }
}

/**
 * TRIX (Hutson 1983): the change of a triple exponential average from the kline before, in percent. Each average starts at a simple one, as in
 * TA-Lib. The start counts less than 1e-9 of the price after 14.5 × (`period` + 1) klines. A signal line is `ema(trix('close', 15), 9)`.
 */
export const trix = (source: Source, period: number): Indicator =>
  calculated({
    ...{ name: 'trix', sources: [source], periods: { period }, warmup: 3 * period - 1 },
    begin() {
      const one = new Gap(period);
      const two = new Gap(period);
      const three = new Gap(period);
      let before = Number.NaN;
      return ([values], [out], count) => {
        for (let row = 0; row < count; row++) {
          const value = values[row] as number;
          const first = one.move(value, value - before);
          before = value;
          out[row] = Number.NaN;
          if (Number.isNaN(one.gap)) continue;
          const second = two.move(value - one.gap, first);
          if (Number.isNaN(two.gap)) continue;
          const third = three.move(value - one.gap - two.gap, second);
          if (Number.isNaN(third)) continue;
          const average = value - one.gap - two.gap - three.gap;
          out[row] = (100 * third) / (average - third);
        }
      };
    },
  });
