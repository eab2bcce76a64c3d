/** Minutes made of prints, for markets that have no recorded klines. */
import type { Instrument } from '../../domain/instrument.ts';
import { openTimeOf } from '../../domain/interval.ts';
import { priceNumber, quantityNumber } from '../../domain/money.ts';
import type { Print } from '../core/order.ts';
import type { MinuteRow, Minutes } from './market.ts';

/** Closed minutes kept: a fortnight; older klines are no longer served. */
const minuteLimit = 20_160;

export interface PrintedMinutes extends Minutes {
  readonly add: (print: Print) => void;
}

/** Goes on after the minutes of an earlier run, of which the last may not have closed. */
export function printedMinutes(at: Instrument, before: readonly MinuteRow[] = []): PrintedMinutes {
  const closed = before.slice(-minuteLimit - 1, -1);
  let forming = before.at(-1);
  return {
    get count() {
      return closed.length;
    },
    row: (index) => closed[index] as MinuteRow,
    get forming() {
      return forming;
    },
    add(print) {
      const openTime = openTimeOf('1min', print.time);
      const price = priceNumber(print.price, at);
      const volume = quantityNumber(print.quantity, at);
      if (forming !== undefined && forming.openTime !== openTime) {
        closed.push(forming);
        if (closed.length > minuteLimit) closed.shift();
        forming = undefined;
      }
      forming = withPrint(forming, openTime, price, volume);
    },
  };
}

/** A forming minute with one more print in it. */
export const withPrint = (
  forming: MinuteRow | undefined,
  openTime: number,
  price: number,
  volume: number,
): MinuteRow => ({
  openTime,
  open: forming?.open ?? price,
  high: Math.max(forming?.high ?? price, price),
  low: Math.min(forming?.low ?? price, price),
  close: price,
  volume: (forming?.volume ?? 0) + volume,
});
