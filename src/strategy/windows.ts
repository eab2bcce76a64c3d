/** Indicators that look at the last values themselves: extremes and the standard deviation. */

import { type Indicator, type Prices, refuseOdd, type Source } from './indicators.ts';
import { inPieces } from './pieces.ts';

/** Takes one value after another and gives what they come to; NaN until `period` of them were there. */
type Machine = () => (value: number) => number;

/** A column and a stream of one machine. */
function overLast(name: string, source: Source, period: number, machine: Machine): Indicator {
  refuseOdd(name, period, `${source}`);
  return {
    warmup: period,
    column: inPieces(`${name} ${source} ${period}`, (klines) => {
      const values = klines[source];
      const next = machine();
      return (into, from, to) => {
        for (let at = from; at < to; at++) into[at - from] = next(values[at] as number);
      };
    }),
    stream() {
      const next = machine();
      return (prices: Prices) => next(prices[source]);
    },
  };
}

/** The highest of the last `period` values: of highs, the upper band of Donchian. */
export const highest = (source: Source, period: number): Indicator =>
  overLast('highest', source, period, greatest(period, 1));

/** The lowest of the last `period` values: of lows, the lower band of Donchian. */
export const lowest = (source: Source, period: number): Indicator =>
  overLast('lowest', source, period, greatest(period, -1));

/**
 * The greatest of values times `sign`, times `sign` again. Those that a later one hides, because it is no smaller, are forgotten at once:
 * what is left falls from the first on, and each value is looked at twice at most.
 */
const greatest =
  (period: number, sign: 1 | -1): Machine =>
  () => {
    const values = new Float64Array(period);
    const rows = new Float64Array(period);
    let first = 0;
    let count = 0;
    let row = 0;
    return (value) => {
      const own = sign * value;
      if (count > 0 && (rows[first] as number) <= row - period) {
        first = first + 1 === period ? 0 : first + 1;
        count--;
      }
      while (count > 0 && (values[(first + count - 1) % period] as number) <= own) count--;
      const at = (first + count) % period;
      values[at] = own;
      rows[at] = row;
      count++;
      row++;
      return row < period ? Number.NaN : sign * (values[first] as number);
    };
  };

/** The standard deviation of the last `period` values, of all of them and not of a sample, as TA-Lib's STDDEV and Bollinger's bands have it. */
export const stdev = (source: Source, period: number): Indicator =>
  overLast('stdev', source, period, () => {
    const ring = new Float64Array(period);
    let seen = 0;
    let at = 0;
    let mean = 0;
    let squares = 0;
    return (value) => {
      const gone = ring[at] as number;
      ring[at] = value;
      at = at + 1 === period ? 0 : at + 1;
      if (seen < period) seen++;
      if (seen < period) return Number.NaN;
      if (at === 0) {
        // Anew whenever the ring is through: what moving the sums leaves by rounding does not add up.
        mean = ring.reduce((sum, one) => sum + one, 0) / period;
        squares = ring.reduce((sum, one) => sum + (one - mean) ** 2, 0);
      } else {
        const before = mean;
        mean += (value - gone) / period;
        squares += (value - gone) * (value - mean + gone - before);
      }
      return Math.sqrt(Math.max(0, squares) / period);
    };
  });
