/** The entry of a position, and the klines that a strategy was given since. */
import type { Interval } from '../domain/interval.ts';

/** The entry of a position. */
export interface Entry {
  /** Differs from that of every other entry of its sub-account. */
  readonly entryNumber: number;
  /** UTC ms of its first fill. */
  readonly enteredAt: number;
  /** The price of that fill, in quote. */
  readonly entryFillPrice: number;
  /** A resting order entered: inside a kline whose extremes may be from before. */
  readonly byMaker: boolean;
}

/** The highest and the lowest price of klines, in quote. */
export interface Extremes {
  readonly top: number;
  readonly bottom: number;
}

/** The klines that a strategy has been given, up to now. */
export interface HeldKlines {
  readonly interval: Interval;
  /** The last close, in quote; undefined before the first. */
  readonly close: number | undefined;
  /** When that was, UTC ms; NaN before the first. */
  readonly closedAt: number;
  /** Of the price of an entry and the klines that closed since. */
  since(entry: Entry): Extremes;
}
