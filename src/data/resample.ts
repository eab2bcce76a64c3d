/** Klines of a larger interval from smaller ones or from trades. Months, weeks and days begin in a given zone. */
import { closeTime, type Interval, isWithin, openTimeOf } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { plusVolume } from '../strategy/volumes.ts';
import { localToUtc, offsetAt } from './time-zones.ts';

const firstLength = 4_096;

/** Rows of klines that grow by one at a time. */
class KlineRows {
  #columns: readonly Float64Array[] = Array.from({ length: 6 }, () => new Float64Array(firstLength));
  rows = 0;

  open(time: number, open: number): void {
    if (this.rows === this.#columns[0]?.length) this.#grow();
    this.#set(this.rows++, [time, open, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, open, 0]);
  }

  /** Takes what happened into the newest row. */
  take(high: number, low: number, close: number, volume: number): void {
    const row = this.rows - 1;
    const [, , highs, lows, closes, volumes] = this.#columns as [
      never,
      never,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    if (high > (highs[row] as number)) highs[row] = high;
    if (low < (lows[row] as number)) lows[row] = low;
    closes[row] = close;
    volumes[row] = plusVolume(volumes[row] as number, volume);
  }

  columns(): Columns {
    const [openTime, open, high, low, close, volume] = this.#columns.map((column) => column.slice(0, this.rows));
    if (!openTime || !open || !high || !low || !close || !volume) throw new Error('there are six columns');
    return { openTime, open, high, low, close, volume };
  }

  #set(row: number, values: readonly number[]): void {
    for (const [index, value] of values.entries()) (this.#columns[index] as Float64Array)[row] = value;
  }

  #grow(): void {
    this.#columns = this.#columns.map((column) => {
      const grown = new Float64Array(column.length * 2);
      grown.set(column);
      return grown;
    });
  }
}

export interface Frame {
  readonly interval: Interval;
  /** Where days, weeks and months begin; `UTC` when left out. Smaller intervals are the same everywhere but in a few places. */
  readonly zone?: string;
}

/** Days, weeks and months have the length that the clocks of the place give them. */
const isByDay = (interval: Interval): boolean => isWithin('60min', interval);

/** UTC ms at which the frame's kline that contains `time` opened. */
export function frameOpen({ interval, zone = 'UTC' }: Frame, time: number): number {
  if (zone === 'UTC') return openTimeOf(interval, time);
  // An hour that clocks show twice is two hours.
  if (!isByDay(interval)) return openTimeOf(interval, time + offsetAt(zone, time)) - offsetAt(zone, time);
  return localToUtc(zone, openTimeOf(interval, time + offsetAt(zone, time)));
}

/** UTC ms at which the frame's kline that opened at `open` closes: a day is 23 or 25 hours where clocks change. */
export function frameClose({ interval, zone = 'UTC' }: Frame, open: number): number {
  if (zone === 'UTC' || !isByDay(interval)) return closeTime(interval, open);
  // Where clocks go forward at midnight, the day opens at one o'clock.
  return localToUtc(zone, closeTime(interval, openTimeOf(interval, open + offsetAt(zone, open))));
}

/**
 * Larger klines from smaller ones, sorted by time. The first kline is left out when the rows begin inside it, and the last when they
 * end inside it: neither is whole, and the last has not closed.
 */
export function resampleKlines(from: Interval, columns: Columns, frame: Frame): Columns {
  const { openTime, open, high, low, close, volume } = columns;
  const out = new KlineRows();
  let end = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < openTime.length; row++) {
    const time = openTime[row] as number;
    if (time >= end) {
      const start = frameOpen(frame, time);
      end = frameClose(frame, start);
      out.open(start, open[row] as number);
    }
    out.take(high[row] as number, low[row] as number, close[row] as number, volume[row] as number);
  }
  const last = openTime.at(-1);
  return whole(out, openTime[0], last === undefined ? 0 : frameClose({ ...frame, interval: from }, last), end);
}

/** Klines from trades, sorted by time; the first and the last, which trades hardly ever cover whole, are left out. */
export function resampleTrades(
  {
    time,
    price,
    quantity,
  }: { readonly time: Float64Array; readonly price: Float64Array; readonly quantity: Float64Array },
  frame: Frame,
): Columns {
  const out = new KlineRows();
  let end = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < time.length; row++) {
    const at = time[row] as number;
    const paid = price[row] as number;
    if (at >= end) {
      const start = frameOpen(frame, at);
      end = frameClose(frame, start);
      out.open(start, paid);
    }
    out.take(paid, paid, paid, quantity[row] as number);
  }
  return whole(out, time[0], time.at(-1) ?? 0, end);
}

/** Without the klines at both ends that the rows do not cover. */
function whole(out: KlineRows, seenFrom: number | undefined, seenUntil: number, end: number): Columns {
  if (out.rows > 0 && seenUntil < end) out.rows--;
  const columns = out.columns();
  const begun = columns.openTime[0];
  return begun === undefined || seenFrom === undefined || seenFrom <= begun ? columns : withoutFirst(columns);
}

const withoutFirst = ({ openTime, open, high, low, close, volume }: Columns): Columns => ({
  openTime: openTime.subarray(1),
  open: open.subarray(1),
  high: high.subarray(1),
  low: low.subarray(1),
  close: close.subarray(1),
  volume: volume.subarray(1),
});
