/** Klines of several markets that are all there, joined by the moments at which they close. */
import { closeTime } from '../../domain/interval.ts';
import type { Kline } from '../../domain/market.ts';
import type { JoinedMoment } from './several-markets-host.ts';

/** All times at which one of these klines of each market closes. The `newest` of them are new: there a strategy is asked. */
export function joinedMoments(klines: readonly (readonly Kline[])[], newest: number): readonly JoinedMoment[] {
  const closing = klines.map(
    (rows) => new Map(rows.map((kline) => [closeTime(kline.interval, kline.openTime), kline])),
  );
  const times = [...new Set(closing.flatMap((byTime) => [...byTime.keys()]))].sort((a, b) => a - b);
  return times.map((time, index) => ({
    ...{ time, klines: closing.map((byTime) => byTime.get(time)) },
    ...{ isNew: index >= times.length - newest, isLate: false },
  }));
}
