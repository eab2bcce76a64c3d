/** Heikin-Ashi klines. */
import type { Indicator } from '../indicator.ts';
import { linesOf } from './calculated.ts';

/**
 * Heikin-Ashi klines (Valcu 2004), in quote: `close` is the mean of the four prices, `open` the middle of the last Heikin-Ashi kline, at first
 * that of open and close; `high` and `low` contain both. The start counts less than 1e-9 after 30 klines.
 */
export const heikinAshi = (): Readonly<Record<'open' | 'high' | 'low' | 'close', Indicator>> =>
  linesOf({
    ...{ name: 'heikinAshi', prices: ['open', 'high', 'low', 'close'] },
    lines: { open: 1, high: 1, low: 1, close: 1 },
    begin() {
      let last = Number.NaN;
      return ([opens, highs, lows, closes], [openOut, highOut, lowOut, closeOut], count) => {
        let middle = last;
        for (let row = 0; row < count; row++) {
          const open = opens[row] as number;
          const high = highs[row] as number;
          const low = lows[row] as number;
          const close = closes[row] as number;
          const ownOpen = Number.isNaN(middle) ? (open + close) / 2 : middle;
          const ownClose = (open + high + low + close) / 4;
          openOut[row] = ownOpen;
          highOut[row] = Math.max(high, ownOpen, ownClose);
          lowOut[row] = Math.min(low, ownOpen, ownClose);
          closeOut[row] = ownClose;
          middle = (ownOpen + ownClose) / 2;
        }
        last = middle;
      };
    },
  });
