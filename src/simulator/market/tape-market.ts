/** A market that replays recorded trades and depth snapshots at their times; at the end they begin anew, time going on. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Depth, Level, Trade } from '../../domain/market.ts';
import { lotsOf, ticksOf } from '../../domain/money.ts';
import { type DisplayedBook, type DisplayedLevel, emptyBook } from '../core/displayed-depth.ts';
import type { Print } from '../core/order.ts';
import { type PrintedMinutes, printedMinutes } from './empty-market.ts';
import type { Market, MarketEvent } from './market.ts';

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
const never = Number.POSITIVE_INFINITY;

/** When the tape begins, UTC ms of the recording; infinite for an empty one. */
export const tapeStart = ({ trades, depth }: Tape): number =>
  Math.min(trades[0]?.time ?? never, depth[0]?.time ?? never);

export class TapeMarket implements Market {
  readonly symbol: string;
  readonly recent: readonly Print[];
  readonly minutes: PrintedMinutes;
  readonly #at: Instrument;
  readonly #tape: Tape;
  readonly #roundMs: number;
  /** What is added to recorded times in this round. */
  #shift: number;
  #round: number;
  #nextTrade = 0;
  #nextDepth = 0;
  #book: DisplayedBook = emptyBook;

  constructor({ instrument, tape, anchor, now }: TapeMarketOptions) {
    const start = tapeStart(tape);
    if (start === never) throw new RangeError(`${instrument.symbol}: the tape is empty`);
    const end = Math.max(tape.trades.at(-1)?.time ?? start, tape.depth.at(-1)?.time ?? start);
    this.symbol = instrument.symbol;
    this.minutes = printedMinutes(instrument);
    this.#at = instrument;
    this.#tape = tape;
    this.#roundMs = end - start + pauseMs;
    // Whole rounds before `now` are skipped; the one under way is read again from its start, so that its minutes are there.
    this.#round = Math.max(0, Math.floor((now - anchor) / this.#roundMs));
    this.#shift = anchor - start + this.#round * this.#roundMs;
    const recent: Print[] = [];
    while (this.nextAt() <= now) {
      const { print } = this.next();
      if (print !== undefined) recent.push(print);
    }
    this.recent = recent.slice(-recentLimit);
  }

  nextAt(): number {
    const at = Math.min(this.#tradeAt(), this.#depthAt());
    return this.#shift + (at === never ? tapeStart(this.#tape) + this.#roundMs : at);
  }

  next(): MarketEvent {
    const trade = this.#tape.trades[this.#nextTrade];
    const snapshot = this.#tape.depth[this.#nextDepth];
    if (trade !== undefined && this.#tradeAt() <= this.#depthAt()) {
      this.#nextTrade++;
      return { print: this.#print(trade) };
    }
    if (snapshot !== undefined) {
      this.#nextDepth++;
      this.#book = { bids: snapshot.bids.map(this.#level), asks: snapshot.asks.map(this.#level) };
      return { book: this.#book };
    }
    this.#nextTrade = 0;
    this.#nextDepth = 0;
    this.#shift += this.#roundMs;
    return { looped: ++this.#round };
  }

  book(): DisplayedBook {
    return this.#book;
  }

  /** Klines of a tape are made of all its prints, users' trades among them. */
  traded(print: Print): void {
    this.minutes.add(print);
  }

  #tradeAt(): number {
    return this.#tape.trades[this.#nextTrade]?.time ?? never;
  }

  #depthAt(): number {
    return this.#tape.depth[this.#nextDepth]?.time ?? never;
  }

  readonly #level = ([price, quantity]: Level): DisplayedLevel => ({
    price: ticksOf(price, this.#at, 'down'),
    quantity: lotsOf(quantity, this.#at),
  });

  #print({ time, price, quantity, side }: Tape['trades'][number]): Print {
    const print: Print = {
      time: time + this.#shift,
      price: ticksOf(price, this.#at, 'down'),
      quantity: lotsOf(quantity, this.#at),
      side,
    };
    this.minutes.add(print);
    return print;
  }
}
