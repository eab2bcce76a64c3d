/** Replays recorded trades and depth snapshots at their times. At the end the recording restarts while time goes on. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Depth, Level, Trade } from '../../domain/market.ts';
import { lotsOf, ticksOf } from '../../domain/money.ts';
import { type DisplayedBook, type DisplayedLevel, emptyBook } from '../core/displayed-depth.ts';
import type { Print } from '../core/order.ts';
import { printedMinutes } from './empty-market.ts';
import type { Market, MarketEvent } from './market.ts';

/** Recorded prints and books, each in order of time (UTC ms). */
export interface Tape {
  readonly trades: readonly Pick<Trade, 'time' | 'price' | 'quantity' | 'side'>[];
  readonly depth: readonly Pick<Depth, 'time' | 'bids' | 'asks'>[];
}

interface TapeMarketOptions {
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
const never = Number.POSITIVE_INFINITY;

/** When the tape begins, UTC ms of the recording; infinite for an empty one. */
export const tapeStart = ({ trades, depth }: Tape): number =>
  Math.min(trades[0]?.time ?? never, depth[0]?.time ?? never);

export function tapeMarket({ instrument: at, tape, anchor, now }: TapeMarketOptions): Market {
  const start = tapeStart(tape);
  if (start === never) throw new RangeError(`${at.symbol}: the tape is empty`);
  const end = Math.max(tape.trades.at(-1)?.time ?? start, tape.depth.at(-1)?.time ?? start);
  const roundMs = end - start + pauseMs;
  const minutes = printedMinutes(at);
  // Whole rounds before `now` are skipped; the one under way is read again from its start, so that its minutes are there.
  let round = Math.max(0, Math.floor((now - anchor) / roundMs));
  /** What is added to recorded times in this round. */
  let shift = anchor - start + round * roundMs;
  let [nextTrade, nextDepth] = [0, 0];
  let book: DisplayedBook = emptyBook;

  const tradeAt = (): number => tape.trades[nextTrade]?.time ?? never;
  const depthAt = (): number => tape.depth[nextDepth]?.time ?? never;
  const level = ([price, quantity]: Level): DisplayedLevel => ({
    price: ticksOf(price, at, 'down'),
    quantity: lotsOf(quantity, at),
  });

  function nextAt(): number {
    const time = Math.min(tradeAt(), depthAt());
    return shift + (time === never ? start + roundMs : time);
  }

  function next(): MarketEvent {
    const trade = tape.trades[nextTrade];
    const snapshot = tape.depth[nextDepth];
    if (trade !== undefined && tradeAt() <= depthAt()) {
      nextTrade++;
      const print: Print = { ...level([trade.price, trade.quantity]), time: trade.time + shift, side: trade.side };
      minutes.add(print);
      return { print };
    }
    if (snapshot !== undefined) {
      nextDepth++;
      book = { bids: snapshot.bids.map(level), asks: snapshot.asks.map(level) };
      return { book };
    }
    [nextTrade, nextDepth] = [0, 0];
    shift += roundMs;
    return { looped: ++round };
  }

  const recent: Print[] = [];
  while (nextAt() <= now) {
    const { print } = next();
    if (print !== undefined) recent.push(print);
  }
  return {
    symbol: at.symbol,
    recent: recent.slice(-recentLimit),
    minutes,
    nextAt,
    next,
    book: () => book,
    // Klines of a tape are made of all its prints, users' trades among them.
    traded: minutes.add,
  };
}
