/** The market behind a symbol: recorded klines, recorded trades and depth, or none. */
import type { Kline } from '../../domain/market.ts';
import type { DisplayedBook } from '../core/displayed-depth.ts';
import type { Print } from '../core/order.ts';

/** One minute of trading, in plain numbers: nobody trades on them here. */
export type MinuteRow = Omit<Kline, 'symbol' | 'interval' | 'seenAt'>;

/** The minutes that have closed, the oldest first, and the one that has not. A minute without trades may be missing. */
export interface Minutes {
  readonly count: number;
  row(index: number): MinuteRow;
  readonly forming: MinuteRow | undefined;
}

/** What happened in a market at one time: a print, a new displayed book, or both. */
export interface MarketEvent {
  readonly print?: Print;
  readonly book?: DisplayedBook;
  /** How often the data has begun anew, when it just did. */
  readonly looped?: number;
}

/** What is known of the earlier run of a market that is made of its prints, the oldest first. */
export interface MarketPast {
  readonly prints: readonly Print[];
  /** The last one may go on. None where they are to be made of the prints. */
  readonly minutes: readonly MinuteRow[];
}

export interface Market {
  readonly symbol: string;
  /** True when its prints and minutes are recorded nowhere, so that they are kept over a restart. */
  readonly isMadeOfPrints?: true;
  readonly minutes: Minutes;
  /** Exchange time of the next event, UTC ms; infinite when none will come. */
  nextAt(): number;
  /** The next event; the market has moved on to its time afterwards. */
  next(): MarketEvent;
  /** The book displayed now. */
  book(): DisplayedBook;
  /** The newest prints at the start, the oldest first: what a restarted market shows as recent trades. */
  readonly recent: readonly Print[];
  /** Reports a trade between users, for markets whose klines include them. */
  traded(print: Print): void;
}
