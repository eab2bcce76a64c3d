/** Market data. Its values are numbers, for indicators; `plan` converts orders to exact money. */
import type { Interval } from './interval.ts';

export type Side = 'BUY' | 'SELL';
export const opposite = (side: Side): Side => (side === 'BUY' ? 'SELL' : 'BUY');

/** One closed interval of the market. */
export interface Kline {
  readonly symbol: string;
  readonly interval: Interval;
  /** UTC ms at which the interval opened. */
  readonly openTime: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** In the base asset. */
  readonly volume: number;
  /** UTC ms by our clock at which it was known to be closed. */
  readonly seenAt: number;
}

/** Klines as columns, oldest first; all of one length. */
export interface Columns {
  /** UTC ms. */
  readonly openTime: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/** Columns of any indexable type, as callers outside give them. */
export type ColumnValues = Readonly<Record<keyof Columns, ArrayLike<number>>>;

/** Makes each column by its name. */
export const columnsBy = (make: (name: keyof Columns) => Float64Array): Columns => ({
  openTime: make('openTime'),
  open: make('open'),
  high: make('high'),
  low: make('low'),
  close: make('close'),
  volume: make('volume'),
});

/** Replaces each column. */
export const mapColumns = (
  columns: Columns,
  make: (column: Float64Array, name: keyof Columns) => Float64Array,
): Columns => columnsBy((name) => make(columns[name], name));

/** Klines as columns. */
export const columnsOf = (klines: readonly Kline[]): Columns =>
  columnsBy((name) => Float64Array.from(klines, (kline) => kline[name]));

/** The first of so many ascending times that is `time` or later; their number where there is none. */
export function lowerBound(times: Float64Array, count: number, time: number): number {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((times[middle] as number) < time) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The first row that opens at `time` (UTC ms) or later; the number of rows when there is none. */
export const rowAt = (openTime: Float64Array, time: number): number => lowerBound(openTime, openTime.length, time);

/** A public print. */
export interface Trade {
  readonly symbol: string;
  /** UTC ms by the exchange's clock; many venues round it to the whole second. */
  readonly time: number;
  readonly price: number;
  readonly quantity: number;
  /** The taker's side. */
  readonly side: Side;
  readonly seenAt: number;
}

export type Level = readonly [price: number, quantity: number];

/** The aggregated depth, best first. Each message is a full snapshot. */
export interface Depth {
  readonly symbol: string;
  readonly time: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly seenAt: number;
}

/** The last 24 hours. */
export interface Ticker {
  readonly symbol: string;
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly last: number;
  readonly volume: number;
  readonly seenAt: number;
}

export type Channel = 'klines' | 'trades' | 'depth' | 'ticker';

/** A gap in the data between `from` and `to`, UTC ms. */
export interface FeedGap {
  readonly symbol: string;
  readonly channel: Channel;
  readonly from: number;
  readonly to: number;
  readonly cause: string;
  /** True when the missing klines were fetched afterwards and delivered. */
  readonly healed: boolean;
}
