/** Series side by side, each at its own row. */
import { closeTime } from '../../domain/interval.ts';
import type { Portfolio } from '../../portfolio/portfolio.ts';
import type { PaperMarket } from '../../venue/paper/on-klines.ts';
import type { Seat } from './column-seat.ts';
import type { KlineCursor } from './kline-cursor.ts';
import type { RunSeries } from './run.ts';

/** A series while it is walked. */
export interface Walk {
  readonly series: RunSeries;
  readonly market: PaperMarket;
  readonly cursor: KlineCursor;
  readonly seats: readonly Seat[];
  row: number;
  /** When the kline at `row` closes, UTC ms; Infinity at the end. Only kept where there are several series. */
  closesAt: number;
  /** Orders work or positions are guarded: each kline goes through the fill phases. */
  active: boolean;
  /** Its part of the equity is `fixed` + `held` × price, as of the last time something changed. */
  fixed: number;
  held: number;
  /** That part at the last close. */
  value: number;
}

/** A walk before its first row. */
export const walkOf = (series: RunSeries, market: PaperMarket, cursor: KlineCursor, seats: readonly Seat[]): Walk => ({
  ...{ series, market, cursor, seats, row: series.first, closesAt: Number.NaN },
  ...{ active: false, fixed: 0, held: 0, value: 0 },
});

/** When the kline that closes next does so, of any series; Infinity when all are through. */
export function nextClose(walks: readonly Walk[]): number {
  let next = Number.POSITIVE_INFINITY;
  for (const walk of walks) {
    const { interval, columns, end } = walk.series;
    walk.closesAt =
      walk.row < end ? closeTime(interval, columns.openTime[walk.row] as number) : Number.POSITIVE_INFINITY;
    if (walk.closesAt < next) next = walk.closesAt;
  }
  return next;
}

/** The equity of all series at their last closes, estimated; each keeps its part as a line over its price. */
export function reckoned(walks: readonly Walk[], portfolio: Portfolio): number {
  let equity = 0;
  for (const walk of walks) {
    walk.fixed = 0;
    walk.held = 0;
    for (const { hosted } of walk.seats) {
      const { quantity, entryPrice } = portfolio.holding(hosted.id, hosted.symbol);
      const cost = quantity === 0 ? 0 : quantity * entryPrice;
      walk.held += quantity;
      walk.fixed += portfolio.closedEquity(hosted.id, hosted.symbol) - cost;
    }
    walk.value = walk.fixed + walk.held * walk.cursor.close;
    equity += walk.value;
  }
  return equity;
}

/** The last close of the klines that are done, UTC ms. */
export const lastClose = (walks: readonly Walk[]): number =>
  Math.max(
    ...walks.map(({ row, series: { first, interval, columns } }) =>
      row === first ? Number.NEGATIVE_INFINITY : closeTime(interval, columns.openTime[row - 1] as number),
    ),
  );

/** What is held counts at the last close. */
export function markLast({ symbol, columns, end, interval }: RunSeries, portfolio: Portfolio): void {
  const close = columns.close[end - 1];
  if (close !== undefined) portfolio.mark(symbol, close, closeTime(interval, columns.openTime[end - 1] as number));
}
