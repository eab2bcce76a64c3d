/** A market with no other participant: only users trade, and klines are made of what they trade. */
import type { Instrument } from '../../domain/instrument.ts';
import { emptyBook } from '../core/displayed-depth.ts';
import type { Market, MarketPast } from './market.ts';
import { printedMinutes } from './printed-minutes.ts';

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
