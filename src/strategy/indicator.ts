/** What an indicator is: a column over a whole series (backtests) and a stream kline by kline (live), both with one arithmetic. */
import type { Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { SignalError } from './fault.ts';

/** The prices of one kline, as an indicator sees it. */
export interface Prices {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** The same, with its open time, UTC ms: larger klines are made from these. */
export interface TimedPrices extends Prices {
  readonly openTime: number;
}

export interface Indicator {
  /** How many klines it needs before its first value. */
  readonly warmup: number;
  /** The larger interval of its klines, which `warmup` counts; set by `on`. Left out: the strategy's own interval. */
  readonly of?: Interval;
  /** It has no value before the first start of such an interval in the klines: a day, for a session. It is needed beside `warmup`. */
  readonly after?: Interval;
  /** The market of a strategy that has several, by role; set by `of`. */
  readonly market?: string;
  /** The indicator's whole column over klines of an interval; NaN where it is not warm. */
  readonly column: Column;
  /** A function that takes klines of an interval one after another and gives the value after each. */
  stream(interval: Interval): (kline: TimedPrices) => number;
}

/** Writes the values of rows `from` to `to` (exclusive) to the front of `into`. Each call continues after the last; the first begins at row 0. */
export type Piece = (into: Float64Array, from: number, to: number) => void;

export interface Column {
  (klines: Columns, interval: Interval): Float64Array;
  /** Name with parameters. Runs over the same klines share columns of equal keys. Only Sluice's own indicators have one. */
  readonly key?: string;
  /** The same values piece by piece, without memory for the whole column, whose first use costs more than the arithmetic. */
  readonly pieces?: (klines: Columns, interval: Interval) => Piece;
}

/** A price or the volume of a kline: hl2 is (high + low) / 2, hlc3 (high + low + close) / 3, ohlc4 the mean of all four. */
export const priceNames = ['open', 'high', 'low', 'close', 'volume', 'hl2', 'hlc3', 'ohlc4'] as const;
export type PriceName = (typeof priceNames)[number];

/** What an indicator is calculated over: a price of the klines, or the values of another indicator. */
export type Source = PriceName | Indicator;

/** How many rows of each column are compared. */
const sampledRows = 64;

/** The whole column. Throws when a user's indicator writes into the klines: they are those of the whole run. */
export function wholeColumn({ column }: Pick<Indicator, 'column'>, klines: Columns, interval: Interval): Float64Array {
  if (column.key !== undefined) return column(klines, interval);
  const last = klines.openTime.length - 1;
  const rows = Array.from({ length: sampledRows }, (_, index) => Math.round((last * index) / (sampledRows - 1)));
  const sample = ([name, values]: [string, Float64Array]) => [name, rows.map((row) => values[row])] as const;
  const before = Object.entries(klines).map(sample);
  const values = column(klines, interval);
  const after = new Map(Object.entries(klines).map(sample));
  for (const [name, sampled] of before)
    if (sampled.some((value, index) => !Object.is(value, after.get(name)?.[index])))
      throw new SignalError(
        `column() of an indicator writes into the ${name} of the klines that it is given, which are those of the whole run: it must write into an array of its own`,
      );
  return values;
}
