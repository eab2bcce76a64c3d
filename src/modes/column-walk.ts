/** Series side by side, each at its own row. */
import { closeTime } from '../domain/interval.ts';
import type { PaperMarket } from '../venue/paper/on-klines.ts';
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
