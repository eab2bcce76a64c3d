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

/** A column that is calculated in one piece. */
export function inPieces(key: string, pieces: (klines: Columns, interval: Interval) => Piece): Column {
  const column = (klines: Columns, interval: Interval): Float64Array => {
    const out = new Float64Array(klines.close.length);
    pieces(klines, interval)(out, 0, out.length);
    return out;
  };
  return Object.assign(column, { key, pieces });
}

export type Source = 'open' | 'high' | 'low' | 'close' | 'volume';

const sources: readonly string[] = ['open', 'high', 'low', 'close', 'volume'] satisfies Source[];

/** Throws for an unknown source or a period that is not a whole number of 1 or more. Strategy files are not type-checked. */
export function refuseInvalid(name: string, period: number, source?: string): void {
  const call = `${name}(${source === undefined ? '' : `'${source}', `}${period})`;
  if (source !== undefined && !sources.includes(source))
    throw new SignalError(`${call}: a kline has no ${source}; there are ${sources.join(', ')}`);
  if (!Number.isInteger(period) || period < 1)
    throw new SignalError(`${call}: the period must be a whole number of klines, 1 or more`);
}

/**
 * An indicator over one price of the klines. `calculate` takes a series in pieces of any length; the stream gives it pieces of one
 * value. So column and stream agree to the last bit.
 */
export function overSource(
  name: string,
  source: Source,
  period: number,
  calculate: (series: Float64Array) => Piece,
  warmup = period,
): Indicator {
  refuseInvalid(name, period, `${source}`);
  return {
    warmup,
    column: inPieces(`${name} ${source} ${period}`, (klines) => calculate(klines[source])),
    stream() {
      const value = new Float64Array(1);
      const result = new Float64Array(1);
      const next = calculate(value);
      return (prices: Prices) => {
        value[0] = prices[source];
        next(result, 0, 1);
        return result[0] as number;
      };
    },
  };
}

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
