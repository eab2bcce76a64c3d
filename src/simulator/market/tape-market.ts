/** A market that replays recorded trades and depth snapshots at their times; at the end they begin anew, time going on. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Depth, Level, Trade } from '../../domain/market.ts';
import { lotsOf, ticksOf } from '../../domain/money.ts';
import { type DisplayedBook, type DisplayedLevel, emptyBook } from '../core/displayed.ts';
import type { Print } from '../core/order.ts';
import type { Market, MarketEvent } from './market.ts';
import { printedMinutes } from './printed-minutes.ts';

/** Recorded prints and books, each in order of time (UTC ms). */
export interface Tape {
  readonly trades: readonly Pick<Trade, 'time' | 'price' | 'quantity' | 'side'>[];
  readonly depth: readonly Pick<Depth, 'time' | 'bids' | 'asks'>[];
}

export interface TapeMarketOptions {
  readonly instrument: Instrument;
  readonly tape: Tape;
  /** Exchange time at which the tape begins. */
  readonly anchor: number;
  /** Exchange time to begin at, at or after the anchor. */
  readonly now: number;
}

/** Between the last entry and the first one of the next round. */
const pauseMs = 1_000;
/** Prints shown as recent after a restart. */
const recentLimit = 1_000;

/** When the tape begins, UTC ms of the recording. */
export const tapeStart = ({ trades, depth }: Tape): number =>
  Math.min(trades[0]?.time ?? Number.POSITIVE_INFINITY, depth[0]?.time ?? Number.POSITIVE_INFINITY);

export function tapeMarket({ instrument, tape, anchor, now }: TapeMarketOptions): Market {
  const { trades, depth } = tape;
  const start = tapeStart(tape);
  if (start === Number.POSITIVE_INFINITY) throw new RangeError(`${instrument.symbol}: the tape is empty`);
  const end = Math.max(trades[trades.length - 1]?.time ?? start, depth[depth.length - 1]?.time ?? start);
  const cycleMs = end - start + pauseMs;
  const minutes = printedMinutes(instrument);
  // Whole rounds before `now` are skipped; the round that is under way is read again, so that its minutes are there.
  let cycle = Math.max(0, Math.floor((now - anchor) / cycleMs));
  let shift = anchor - start + cycle * cycleMs;
  let nextTrade = 0;
  let nextDepth = 0;
  let book: DisplayedBook = emptyBook;

  const tradeAt = (): number => trades[nextTrade]?.time ?? Number.POSITIVE_INFINITY;
  const depthAt = (): number => depth[nextDepth]?.time ?? Number.POSITIVE_INFINITY;
  const level = ([price, quantity]: Level): DisplayedLevel => ({
    price: ticksOf(price, instrument, 'down'),
    quantity: lotsOf(quantity, instrument),
  });

  function nextAt(): number {
    const at = Math.min(tradeAt(), depthAt());
    return shift + (at === Number.POSITIVE_INFINITY ? start + cycleMs : at);
  }

  function next(): MarketEvent {
    if (nextTrade === trades.length && nextDepth === depth.length) {
      nextTrade = 0;
      nextDepth = 0;
      cycle++;
      shift += cycleMs;
      return { looped: cycle };
    }
    if (tradeAt() <= depthAt()) return { print: print() };
    const snapshot = depth[nextDepth++] as Tape['depth'][number];
    book = { bids: snapshot.bids.map(level), asks: snapshot.asks.map(level) };
    return { book };
  }

  function print(): Print {
    const { time, price, quantity, side } = trades[nextTrade++] as Tape['trades'][number];
    const made: Print = {
      time: time + shift,
      price: ticksOf(price, instrument, 'down'),
      quantity: lotsOf(quantity, instrument),
      side,
    };
    minutes.add(made);
    return made;
  }

  const recent: Print[] = [];
  while (nextAt() <= now) {
    const event = next();
    if (event.print !== undefined) recent.push(event.print);
    if (recent.length > recentLimit) recent.shift();
  }
  return { symbol: instrument.symbol, recent, minutes, nextAt, next, book: () => book, traded: minutes.add };
}
