/** Klines of a larger interval from smaller ones or from trades. Months, weeks and days begin in a given zone. */
import { closeTime, type Interval, isWithin, openTimeOf } from '../domain/interval.ts';
import { type Columns, mapColumns } from '../domain/market.ts';
import { plusVolume } from '../domain/volumes.ts';
import { localToUtc, offsetAt } from './time-zones.ts';

export interface Frame {
  readonly interval: Interval;
  /** Where days, weeks and months begin; `UTC` when left out. */
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
 * end inside it: neither is complete, and the last has not closed.
 */
export function resampleKlines(from: Interval, columns: Columns, frame: Frame): Columns {
  const last = columns.openTime.at(-1);
  return resample(columns, frame, last === undefined ? 0 : frameClose({ ...frame, interval: from }, last));
}

/** Klines from trades, sorted by time. The first and the last, which trades hardly ever cover completely, are left out. */
export const resampleTrades = (
  { time, price, quantity }: { readonly [column in 'time' | 'price' | 'quantity']: Float64Array },
  frame: Frame,
): Columns =>
  resample(
    { openTime: time, open: price, high: price, low: price, close: price, volume: quantity },
    frame,
    time.at(-1) ?? 0,
  );

/** Klines of the rows; `until`: where the rows end, UTC ms. */
function resample(rows: Columns, frame: Frame, until: number): Columns {
  const { openTime, open, high, low, close, volume } = rows;
  /** The first row of each kline, and behind the last. */
  const starts: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < openTime.length; row++) {
    const time = openTime[row] as number;
    if (time < end) continue;
    starts.push(row);
    end = frameClose(frame, frameOpen(frame, time));
  }
  starts.push(openTime.length);
  const [begun = 0] = openTime;
  if (begun > frameOpen(frame, begun)) starts.shift();
  if (until < end) starts.pop();
  const count = Math.max(0, starts.length - 1);
  const out = mapColumns(rows, () => new Float64Array(count));
  for (let at = 0; at < count; at++) {
    const [first, behind] = [starts[at] as number, starts[at + 1] as number];
    let [top, bottom, sum] = [high[first] as number, low[first] as number, volume[first] as number];
    for (let row = first + 1; row < behind; row++) {
      if ((high[row] as number) > top) top = high[row] as number;
      if ((low[row] as number) < bottom) bottom = low[row] as number;
      sum = plusVolume(sum, volume[row] as number);
    }
    out.openTime[at] = frameOpen(frame, openTime[first] as number);
    out.open[at] = open[first] as number;
    out.high[at] = top;
    out.low[at] = bottom;
    out.close[at] = close[behind - 1] as number;
    out.volume[at] = sum;
  }
  return out;
}
