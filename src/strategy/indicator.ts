/** What an indicator is, and what it may be over. */
import type { Interval } from '../domain/interval.ts';
import type { Column } from './column-pieces.ts';
import { SignalError } from './fault.ts';

/** The prices of one kline, as an indicator sees it. */
export interface Prices {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

/** The same, with when it opened, UTC ms: what larger klines are made from. */
export interface TimedPrices extends Prices {
  readonly openTime: number;
}

export interface Indicator {
  /** How many klines it needs before its first value. */
  readonly warmup: number;
  /** The larger interval whose klines it is over and `warmup` counts, made by `on`; left out: the strategy's own. */
  readonly of?: Interval;
  /** The indicator's whole column over klines of an interval; NaN where it is not warm. */
  readonly column: Column;
  /** A function that takes klines of an interval one after another and gives the value after each. */
  stream(interval: Interval): (kline: TimedPrices) => number;
}

export type Source = 'open' | 'high' | 'low' | 'close' | 'volume';

const sources: readonly string[] = ['open', 'high', 'low', 'close', 'volume'] satisfies Source[];

/** Throws for an unknown source or a period that is not a whole number of 1 or more. Strategy files are not type-checked. */
export function refuseInvalid(name: string, period: number, source?: string): void {
  const said = `${name}(${source === undefined ? '' : `'${source}', `}${period})`;
  if (source !== undefined && !sources.includes(source))
    throw new SignalError(`${said}: there is no ${source} of a kline; there are ${sources.join(', ')}`);
  if (!Number.isInteger(period) || period < 1)
    throw new SignalError(`${said}: the period must be a whole number of klines, 1 or more`);
}
