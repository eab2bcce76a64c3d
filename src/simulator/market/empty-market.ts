/** A market with no other participant: only users trade, and klines are made of what they trade. */
import type { Instrument } from '../../domain/instrument.ts';
import { openTimeOf } from '../../domain/interval.ts';
import { priceNumber, quantityNumber } from '../../domain/money.ts';
import { emptyBook } from '../core/displayed-depth.ts';
import type { Print } from '../core/order.ts';
import type { Market, MarketPast, MinuteRow, Minutes } from './market.ts';

/** Goes on where an earlier run ended, if there was one. */
export function emptyMarket(instrument: Instrument, past: MarketPast = { prints: [], minutes: [] }): Market {
  const minutes = printedMinutes(instrument, past.minutes);
  if (past.minutes.length === 0) for (const print of past.prints) minutes.add(print);
  return {
    symbol: instrument.symbol,
    isMadeOfPrints: true,
    recent: past.prints.slice(-1_000),
    minutes,
    nextAt: () => Number.POSITIVE_INFINITY,
    next: () => ({}),
    book: () => emptyBook,
    traded: minutes.add,
  };
}

/** Closed minutes kept: a fortnight; older klines are no longer served. */
const minuteLimit = 20_160;

export interface PrintedMinutes extends Minutes {
  readonly add: (print: Print) => void;
}

/** Minutes made of prints. Goes on after those of an earlier run, of which the last may not have closed. */
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
