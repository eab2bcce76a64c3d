/** Series side by side, each at its own row. */
import { closeTime } from '../../../domain/interval.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { PaperMarket } from '../../../venue/paper/on-klines.ts';
import type { RunSeries } from '../../run.ts';
import type { KlineCursor } from './kline-cursor.ts';
import type { StrategyCursor } from './strategy-cursor.ts';

/** A series while it is walked. */
export interface Walk {
  readonly series: RunSeries;
  readonly market: PaperMarket;
  readonly cursor: KlineCursor;
  readonly seats: readonly StrategyCursor[];
  row: number;
  /** When the kline at `row` closes, UTC ms; Infinity at the end. Only kept where there are several series. */
  closesAt: number;
  /** The row that opened last; likewise. */
  opened: number;
  /** Orders work or positions are guarded: each kline goes through the fill phases. */
  active: boolean;
  /** Its part of the equity is `fixed` + `held` × price, as of the last time something changed. */
  fixed: number;
  held: number;
  /** That part at the last close. */
  value: number;
}

/** A walk before its first row. */
export const walkOf = (
  series: RunSeries,
  market: PaperMarket,
  cursor: KlineCursor,
  seats: readonly StrategyCursor[],
): Walk => ({
  ...{ series, market, cursor, seats, row: series.first, closesAt: Number.NaN, opened: -1 },
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

/** Those that open before a close, UTC ms, and have not yet, by their opens. */
export function opening(walks: readonly Walk[], closesAt: number): readonly Walk[] {
  const found: Walk[] = [];
  let [isOrdered, last] = [true, Number.NEGATIVE_INFINITY];
  for (const walk of walks) {
    if (walk.opened === walk.row || walk.row >= walk.series.end) continue;
    const at = opensAt(walk);
    if (at >= closesAt) continue;
    if (at < last) isOrdered = false;
    last = at;
    found.push(walk);
  }
  // Series of one interval open together.
  return isOrdered ? found : found.sort((a, b) => opensAt(a) - opensAt(b));
}

const opensAt = ({ row, series }: Walk): number => series.columns.openTime[row] as number;

/** The last close of the klines that are done, UTC ms. */
export const lastClose = (walks: readonly Walk[]): number =>
  Math.max(
    ...walks.map(({ row, series: { first, interval, columns } }) =>
      row === first ? Number.NEGATIVE_INFINITY : closeTime(interval, columns.openTime[row - 1] as number),
    ),
  );

/** Limits on the equity ask for the last price of every series, but only now and then: its last close, unless its next open was marked since. */
export function markCloses(walks: readonly Walk[], portfolio: Portfolio): void {
  for (const { series, cursor, row } of walks)
    if (row > series.first && (portfolio.lastMark(series.symbol)?.at ?? 0) < cursor.seenAt)
      portfolio.mark(series.symbol, cursor.close, cursor.seenAt);
}

/** What is held counts at the last close. */
export function markLast({ symbol, columns, end, interval }: RunSeries, portfolio: Portfolio): void {
  const close = columns.close[end - 1];
  if (close !== undefined) portfolio.mark(symbol, close, closeTime(interval, columns.openTime[end - 1] as number));
}
