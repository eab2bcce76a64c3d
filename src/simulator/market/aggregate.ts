/** Klines of any interval out of minutes (specification §4.1), and the last 24 hours. */
import { closeTime, type Interval, openTimeOf } from '../../domain/interval.ts';
import type { MinuteRow, Minutes } from './market.ts';

export interface KlineRange {
  readonly count: number;
  /** Only klines that open at or after this, UTC ms. */
  readonly from?: number;
  /** Only klines that open at or before this, UTC ms. */
  readonly to?: number;
}

/** The newest klines that fit, the newest first; the first one may not have closed yet. */
export function klinesOf(minutes: Minutes, interval: Interval, range: KlineRange): MinuteRow[] {
  const { count, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
  const klines: MinuteRow[] = [];
  const { forming } = minutes;
  if (forming !== undefined && openTimeOf(interval, forming.openTime) <= to) klines.push(asKline(forming, interval));
  const end = to === Number.POSITIVE_INFINITY ? to : closeTime(interval, openTimeOf(interval, to));
  for (let index = lastBefore(minutes, end); index >= 0; index--) {
    const row = minutes.row(index);
    const openTime = openTimeOf(interval, row.openTime);
    const newest = klines[klines.length - 1];
    if (newest !== undefined && newest.openTime === openTime) klines[klines.length - 1] = prepend(newest, row);
    else if (klines.length === count || openTime < from) break;
    else klines.push(asKline(row, interval));
  }
  return klines.filter((kline) => kline.openTime >= from);
}

/** The 24 hours before `now` as one row; undefined before the first trade. */
export function lastDay(minutes: Minutes, now: number): MinuteRow | undefined {
  const since = now - 86_400_000;
  let day = minutes.forming;
  for (let index = minutes.count - 1; index >= 0; index--) {
    const row = minutes.row(index);
    if (row.openTime < since) break;
    day = day === undefined ? row : prepend(day, row);
  }
  return day ?? (minutes.count > 0 ? flat(minutes.row(minutes.count - 1)) : undefined);
}

/** Quote volume, estimated from the four prices. */
export const quoteVolume = ({ open, high, low, close, volume }: MinuteRow): string =>
  (((open + high + low + close) / 4) * volume).toFixed(8);

const asKline = (row: MinuteRow, interval: Interval): MinuteRow => ({
  ...row,
  openTime: openTimeOf(interval, row.openTime),
});

/** A kline with an earlier minute of the same interval added to it. */
const prepend = (kline: MinuteRow, row: MinuteRow): MinuteRow => ({
  openTime: kline.openTime,
  open: row.open,
  high: Math.max(kline.high, row.high),
  low: Math.min(kline.low, row.low),
  close: kline.close,
  volume: kline.volume + row.volume,
});

const flat = ({ openTime, close }: MinuteRow): MinuteRow => ({
  openTime,
  open: close,
  high: close,
  low: close,
  close,
  volume: 0,
});

/** Index of the last closed minute that opened before `time`; -1 when none did. */
function lastBefore(minutes: Minutes, time: number): number {
  let low = 0;
  let high = minutes.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (minutes.row(middle).openTime < time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
