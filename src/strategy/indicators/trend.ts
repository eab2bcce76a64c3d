/** The direction of a market and how strong it is. */
import type { Indicator } from '../indicator.ts';
import { calculated, growing, linesOf } from './calculated.ts';
import { averageRanges, rangeOf } from './ranges.ts';

/**
 * Average directional index, 0 to 100, and its directional indicators, 0 to 100 (Wilder 1978). As in TA-Lib, sums of movements and ranges
 * start at those of `period` - 1 klines, and each kline then replaces 1 / `period` of them. `adx` starts at the mean of the first `period`
 * directional indices; it stays where nothing ever moved in either direction. The start counts less than 1e-9 after 20.8 × `period` klines,
 * for `adx` after 25 × `period`.
 */
export const adx = (period = 14): Readonly<Record<'adx' | 'plusDI' | 'minusDI', Indicator>> =>
  linesOf({
    ...{ name: 'adx', prices: ['high', 'low', 'close'], periods: { period }, minPeriod: 2 },
    lines: { adx: 2 * period, plusDI: period + 1, minusDI: period + 1 },
    begin() {
      const kept = 1 - 1 / period;
      let seen = 0;
      let sum = 0;
      let lastShrunk = 1;
      let lastAdx = Number.NaN;
      let lastHigh = 0;
      let lastLow = 0;
      let lastClose = 0;
      let lastPlus = 0;
      let lastMinus = 0;
      let lastRange = 0;
      return ([highs, lows, closes], [out, plusOut, minusOut], count) => {
        let high = lastHigh;
        let low = lastLow;
        let close = lastClose;
        let plus = lastPlus;
        let minus = lastMinus;
        let range = lastRange;
        let index = lastAdx;
        let shrunk = lastShrunk;
        for (let row = 0; row < count; row++) {
          const newHigh = highs[row] as number;
          const newLow = lows[row] as number;
          if (seen > 0) {
            const up = newHigh - high;
            const down = low - newLow;
            const factor = seen < period ? 1 : kept;
            const ownRange = rangeOf(newHigh, newLow, close);
            // Without a range all three only shrink: their ratios stay exactly what they were.
            if (ownRange === 0) shrunk *= factor;
            else {
              const left = factor * shrunk;
              plus = left * plus + (up > down && up > 0 ? up : 0);
              minus = left * minus + (down > up && down > 0 ? down : 0);
              range = left * range + ownRange;
              shrunk = 1;
            }
          }
          high = newHigh;
          low = newLow;
          close = closes[row] as number;
          if (seen >= period) {
            plusOut[row] = range === 0 ? 0 : (100 * plus) / range;
            minusOut[row] = range === 0 ? 0 : (100 * minus) / range;
            const all = plus + minus;
            const directional = all === 0 ? Number.NaN : (100 * Math.abs(plus - minus)) / all;
            if (seen < 2 * period) {
              sum += all === 0 ? 0 : directional;
              if (seen === 2 * period - 1) index = sum / period;
            } else if (all !== 0) index = (index * (period - 1) + directional) / period;
            out[row] = index;
          } else {
            out[row] = Number.NaN;
            plusOut[row] = Number.NaN;
            minusOut[row] = Number.NaN;
          }
          seen++;
        }
        [lastHigh, lastLow, lastClose] = [high, low, close];
        [lastPlus, lastMinus, lastRange, lastAdx, lastShrunk] = [plus, minus, range, index, shrunk];
      };
    },
  });

/**
 * Aroon (Chande 1995), 0 to 100: `up` is 100 at a new highest high of the last `period` + 1 klines and falls by 100 / `period` with each kline
 * since; `down` is that of lowest lows; of equal ones the latest counts. `oscillator` is up - down. It depends on its window alone.
 */
export const aroon = (period = 14): Readonly<Record<'up' | 'down' | 'oscillator', Indicator>> =>
  linesOf({
    ...{ name: 'aroon', prices: ['high', 'low'], periods: { period } },
    lines: { up: period + 1, down: period + 1, oscillator: period + 1 },
    begin() {
      const ofHigh = ages(period + 1, 1);
      const ofLow = ages(period + 1, -1);
      return ([high, low], [up, down, oscillator], count) => {
        ofHigh(high, up, count);
        ofLow(low, down, count);
        for (let row = 0; row < count; row++) {
          const newest = up[row] as number;
          const lowest = down[row] as number;
          up[row] = (100 * (period - newest)) / period;
          down[row] = (100 * (period - lowest)) / period;
          oscillator[row] = (100 * (lowest - newest)) / period;
        }
      };
    },
  });

/**
 * How many values ago the highest (`sign` 1) or lowest (-1) of the last `period` was. A value is dropped as soon as a later one is at least as
 * large. So the kept ones fall from first to last, and each is compared twice at most.
 */
function ages(period: number, sign: 1 | -1): (values: Float64Array, into: Float64Array, count: number) => void {
  const kept = new Float64Array(period);
  const rows = new Float64Array(period);
  let [first, size, row] = [0, 0, 0];
  return (values, into, count) => {
    for (let next = 0; next < count; next++) {
      const own = sign * (values[next] as number);
      if (size > 0 && (rows[first] as number) <= row - period) {
        first = first + 1 === period ? 0 : first + 1;
        size--;
      }
      while (size > 0 && (kept[(first + size - 1) % period] as number) <= own) size--;
      const end = (first + size) % period;
      kept[end] = own;
      rows[end] = row;
      size++;
      into[next] = row < period - 1 ? Number.NaN : row - (rows[first] as number);
      row++;
    }
  };
}

/**
 * Supertrend (Seban): hl2 ± `multiplier` × `atr(period)`, of which the lower band only rises and the upper one only falls until a close crosses
 * it. `line` is the lower band in a rise (`direction` 1) and the upper one in a fall (-1). It begins as a rise, as in TA-Lib. From
 * other starts it is the same once `atr` is and both have changed direction at the same kline.
 */
export const supertrend = (period = 10, multiplier = 3): Readonly<Record<'line' | 'direction', Indicator>> =>
  linesOf({
    ...{ name: 'supertrend', prices: ['high', 'low', 'close'], periods: { period }, factors: { multiplier } },
    lines: { line: period + 1, direction: period + 1 },
    begin() {
      const rangesOf = averageRanges(period);
      const buffer = growing();
      let [lastUpper, lastLower, lastClose, lastDirection] = [Number.NaN, Number.NaN, Number.NaN, 1];
      return ([high, low, close], [line, directions], count) => {
        const ranges = buffer(count);
        rangesOf(high, low, close, ranges, count);
        let upper = lastUpper;
        let lower = lastLower;
        let before = lastClose;
        let direction = lastDirection;
        for (let row = 0; row < count; row++) {
          const half = multiplier * (ranges[row] as number);
          const middle = ((high[row] as number) + (low[row] as number)) / 2;
          const now = close[row] as number;
          // Comparisons with NaN are false: the first bands are kept as they are.
          if (!(middle + half >= upper && before <= upper)) upper = middle + half;
          if (!(middle - half <= lower && before >= lower)) lower = middle - half;
          if (direction === 1 ? now < lower : now > upper) direction = -direction;
          before = now;
          line[row] = direction === 1 ? lower : upper;
          directions[row] = Number.isNaN(half) ? Number.NaN : direction;
        }
        [lastUpper, lastLower, lastClose, lastDirection] = [upper, lower, before, direction];
      };
    },
  });

/**
 * Parabolic SAR, the stop of a trend (Wilder 1978): it moves towards the extreme price of the trend by `acceleration`, and by as much more with
 * each new extreme, up to `maximum` of the distance. A kline that touches it turns the trend. It begins as a rise unless the second kline
 * falls, as in TA-Lib. From other starts it is the same once both have turned at the same kline after the same extreme.
 */
export const parabolicSar = (acceleration = 0.02, maximum = 0.2): Indicator =>
  calculated({
    ...{ name: 'parabolicSar', prices: ['high', 'low'], factors: { acceleration, maximum }, warmup: 2 },
    begin() {
      const step = Math.min(acceleration, maximum);
      let [lastSign, lastStop, lastExtreme, lastSpeed, seen, highBefore, lowBefore] = [1, 0, 0, step, 0, 0, 0];
      return ([highs, lows], [out], count) => {
        // 1 in a rise, -1 in a fall, where prices are taken times -1: then a fall is a rise, too.
        let sign = lastSign;
        let stop = lastStop;
        let extreme = lastExtreme;
        let speed = lastSpeed;
        let lastHigh = highBefore;
        let lastLow = lowBefore;
        for (let row = 0; row < count; row++, seen++) {
          const high = highs[row] as number;
          const low = lows[row] as number;
          if (seen === 1) {
            sign = lastLow - low > 0 && lastLow - low > high - lastHigh ? -1 : 1;
            stop = sign === 1 ? lastLow : -lastHigh;
            extreme = sign === 1 ? high : -low;
          }
          if (seen < 2) {
            // The first stop moves by the second kline alone.
            lastHigh = high;
            lastLow = low;
          }
          if (seen === 0) {
            out[row] = Number.NaN;
            continue;
          }
          const top = sign === 1 ? high : -low;
          const bottom = sign === 1 ? low : -high;
          if (bottom <= stop) {
            // The trend turns: its extreme becomes the stop of the new one, beyond both klines.
            sign = -sign;
            stop = -Math.max(extreme, top, sign === 1 ? -lastLow : lastHigh);
            out[row] = sign * stop;
            extreme = -bottom;
            speed = step;
          } else {
            out[row] = sign * stop;
            if (top > extreme) {
              extreme = top;
              speed = Math.min(speed + step, maximum);
            }
          }
          const lowest = Math.min(sign === 1 ? lastLow : -lastHigh, sign === 1 ? low : -high);
          stop = Math.min(stop + speed * (extreme - stop), lowest);
          lastHigh = high;
          lastLow = low;
        }
        [lastSign, lastStop, lastExtreme, lastSpeed, highBefore, lowBefore] = [
          ...[sign, stop, extreme],
          ...[speed, lastHigh, lastLow],
        ] as [number, number, number, number, number, number];
      };
    },
  });
