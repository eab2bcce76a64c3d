/** Volume that is counted with its direction. */
import type { Indicator } from '../indicator.ts';
import { calculated } from './calculated.ts';

/** Adds numbers and keeps what rounding takes off (Neumaier 1974). */
class ExactTotal {
  #sum = 0;
  #rest = 0;

  /** Returns the sum with this value. */
  add(value: number): number {
    const sum = this.#sum + value;
    this.#rest += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum;
    this.#sum = sum;
    return sum + this.#rest;
  }
}

/**
 * On-balance volume (Granville 1963), in base: the volume of klines that close higher than the one before, minus that of those that close
 * lower. It begins with the first volume, as in TA-Lib. Its level depends on where the klines begin, its changes do not.
 */
export const obv = (): Indicator =>
  calculated({
    ...{ name: 'obv', prices: ['close', 'volume'], warmup: 1 },
    begin() {
      const total = new ExactTotal();
      let before = Number.NEGATIVE_INFINITY;
      return ([close, volume], [out], count) => {
        for (let row = 0; row < count; row++) {
          const price = close[row] as number;
          const direction = price > before ? 1 : price < before ? -1 : 0;
          out[row] = total.add(direction * (volume[row] as number));
          before = price;
        }
      };
    },
  });

/** Of a kline's volume, the part that its close says was bought, minus the rest: from -volume at the low to volume at the high. */
const flowOf = (high: number, low: number, close: number, volume: number): number =>
  high > low ? ((close - low - (high - close)) / (high - low)) * volume : 0;

/**
 * Accumulation/distribution line (Chaikin), in base: the sum of volumes, each times where its close lies between the low (-1) and the high (1);
 * 0 for a kline without range. Its level depends on where the klines begin, its changes do not.
 */
export const accumulationDistribution = (): Indicator =>
  calculated({
    ...{ name: 'accumulationDistribution', prices: ['high', 'low', 'close', 'volume'], warmup: 1 },
    begin() {
      const total = new ExactTotal();
      return ([high, low, close, volume], [out], count) => {
        for (let row = 0; row < count; row++)
          out[row] = total.add(
            flowOf(high[row] as number, low[row] as number, close[row] as number, volume[row] as number),
          );
      };
    },
  });

/**
 * Chaikin oscillator, in base: the EMA of the accumulation/distribution line over `fast` klines minus that over `slow` ones; both start at its
 * first value, as in TA-Lib. Both are kept as distances from the line, so its level does not matter. The start counts less than 1e-9
 * of the volumes after 10.4 × (`slow` + 1) klines.
 */
export const chaikinOscillator = (fast = 3, slow = 10): Indicator =>
  calculated({
    ...{ name: 'chaikinOscillator', prices: ['high', 'low', 'close', 'volume'] },
    ...{ periods: { 'fast period': fast, 'slow period': slow }, warmup: Math.max(fast, slow) },
    begin() {
      const keptFast = 1 - 2 / (fast + 1);
      const keptSlow = 1 - 2 / (slow + 1);
      const longest = Math.max(fast, slow);
      let [seen, lastFast, lastSlow] = [0, 0, 0];
      return ([high, low, close, volume], [out], count) => {
        let gapFast = lastFast;
        let gapSlow = lastSlow;
        for (let row = 0; row < count; row++) {
          const flow = flowOf(high[row] as number, low[row] as number, close[row] as number, volume[row] as number);
          if (seen > 0) {
            gapFast = keptFast * (gapFast + flow);
            gapSlow = keptSlow * (gapSlow + flow);
          }
          seen++;
          out[row] = seen < longest ? Number.NaN : gapSlow - gapFast;
        }
        [lastFast, lastSlow] = [gapFast, gapSlow];
      };
    },
  });
