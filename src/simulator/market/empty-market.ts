/** A market with no other participant: only users trade, and klines are made of what they trade. */
import type { Instrument } from '../../domain/instrument.ts';
import { emptyBook } from '../core/displayed.ts';
import type { Print } from '../core/order.ts';
import type { Market } from './market.ts';
import { printedMinutes } from './printed-minutes.ts';

/** `before` are the trades of an earlier run, the oldest first. */
export function emptyMarket(instrument: Instrument, before: readonly Print[] = []): Market {
  const minutes = printedMinutes(instrument);
  for (const print of before) minutes.add(print);
  return {
    symbol: instrument.symbol,
    recent: before.slice(-1_000),
    minutes,
    nextAt: () => Number.POSITIVE_INFINITY,
    next: () => ({}),
    book: () => emptyBook,
    traded: minutes.add,
  };
}
