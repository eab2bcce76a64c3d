/** The kinds of data in a catalogue, and their columns in memory and as Parquet. */
import type { Interval } from '../../domain/interval.ts';

export const kinds = ['klines', 'trades', 'depth'] as const;
export type Kind = (typeof kinds)[number];

export interface SeriesKey {
  readonly kind: Kind;
  readonly symbol: string;
  /** Of klines. */
  readonly interval?: Interval | undefined;
}

/** A column: its name in Parquet and CSV, its type there, and how DuckDB turns our doubles into it and back. */
interface Column {
  readonly name: string;
  readonly type: string;
  readonly stored: string;
  readonly read: string;
}

const plain = (name: string): Column => ({ name, type: 'DOUBLE', stored: name, read: name });
const whole = (name: string, type: string): Column => ({
  name,
  type,
  stored: `CAST(${name} AS ${type}) AS ${name}`,
  read: `CAST(${name} AS DOUBLE)`,
});
const either = (name: string, plus: string, minus: string): Column => ({
  name,
  type: 'VARCHAR',
  stored: `CASE WHEN ${name} > 0 THEN '${plus}' ELSE '${minus}' END AS ${name}`,
  read: `CASE WHEN ${name} = '${plus}' THEN 1.0::DOUBLE ELSE -1.0::DOUBLE END`,
});

const time = whole('time_ms', 'BIGINT');

/** In memory every column is of doubles: UTC ms, numbers, and 1 or -1 for `BUY` or `SELL`, `bid` or `ask`. */
export const columnsOf: Readonly<Record<Kind, readonly Column[]>> = {
  klines: [time, ...['open', 'high', 'low', 'close', 'volume'].map(plain)],
  trades: [time, plain('price'), plain('quantity'), either('side', 'BUY', 'SELL')],
  // One row for each level, best first, bids before asks; `book` numbers the books of a month.
  depth: [time, whole('book', 'INTEGER'), either('side', 'bid', 'ask'), plain('price'), plain('quantity')],
};

/** `klines XBTUSD 1min`. */
export const seriesName = ({ kind, symbol, interval }: SeriesKey): string =>
  [kind, symbol, ...(interval === undefined ? [] : [interval])].join(' ');

/** The month (UTC) that a time lies in, `2024-08`. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

/** UTC ms at which the month after that of `time` begins. */
export function monthEnd(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
