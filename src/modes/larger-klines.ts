/** Strategies of a larger interval than the klines that a symbol is recorded in: what they hear, by columns and by streams. */
import type { Observable } from 'rxjs';
import type { Interval } from '../domain/interval.ts';
import type { Kline } from '../domain/market.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import { framedKlines, framesOf, framing } from '../strategy/frames.ts';
import type { Inputs } from '../strategy/host.ts';
import { Seat } from './column-seat.ts';
import { KlineCursor } from './kline-cursor.ts';
import type { RunSeries } from './run.ts';
import type { NamedHosted } from './strategies.ts';

/** Klines of the wanted interval as a strategy hears them, made from those of `own` where they are larger. */
export function heardKlines(
  history: readonly Kline[],
  klines: Observable<Kline>,
  own: Interval,
  wanted: Interval,
): Pick<Inputs, 'history' | 'klines'> {
  if (own === wanted) return { history, klines };
  const before: Kline[] = [];
  let seenAt = 0;
  let symbol = '';
  const take = framing(own, wanted, ({ openTime, open, high, low, close, volume }) => {
    before.push({ symbol, interval: wanted, openTime, open, high, low, close, volume, seenAt });
  });
  for (const kline of history) {
    ({ seenAt, symbol } = kline);
    take(kline);
  }
  // The one that the history ends inside goes on growing.
  return { history: before, klines: framedKlines(klines, own, wanted, history) };
}

/** The seats of a symbol's strategies, in their order. */
export const seatsOn = (
  all: readonly NamedHosted[],
  series: RunSeries,
  cursor: KlineCursor,
  portfolio: Portfolio,
): readonly Seat[] =>
  all
    .filter(({ symbol }) => symbol === series.symbol)
    .map((hosted) => {
      // The portfolio hears of a price only where something is planned; the strategy sees each.
      const holding = portfolio.holding(hosted.id, hosted.symbol, () => cursor.close);
      if (hosted.interval === series.interval) return new Seat(hosted, series, cursor, holding);
      const { columns, knownAt } = framesOf(series.interval, hosted.interval, series.columns);
      const first = knownAt.findIndex((row) => row >= series.first);
      const own: RunSeries = {
        symbol: series.symbol,
        interval: hosted.interval,
        columns,
        gaps: [],
        first: first < 0 ? knownAt.length : first,
        end: knownAt.length,
      };
      const seenAt = (row: number): number => cursor.closeOf(knownAt[row] as number);
      const place = new KlineCursor(own, seenAt);
      return new Seat(hosted, own, place, holding, { cursor: place, knownAt, next: own.first });
    });
