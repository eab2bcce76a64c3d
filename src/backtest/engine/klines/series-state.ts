/** The state of each series of a run: its current row, and until which row nothing can happen. */

import { closeTime, intervalMs } from '../../../domain/interval.ts';
import { rowAt } from '../../../domain/market.ts';
import type { Portfolio } from '../../../portfolio/portfolio.ts';
import type { SubAccount } from '../../../portfolio/sub-account.ts';
import type { PaperMarket } from '../../../venue/paper/on-klines.ts';
import type { RunSeries } from '../../run.ts';
import type { LatePlace } from '../take-profit-check.ts';
import type { KlineCursor } from './kline-cursor.ts';
import type { MarketsCursor } from './markets-cursor.ts';
import { StrategyCursor } from './strategy-cursor.ts';
import type { StreamingCursor } from './streaming-cursor.ts';

/** A series while the engine goes through it. */
export interface SeriesState {
  readonly symbol: string;
  readonly series: RunSeries;
  readonly market: PaperMarket;
  readonly cursor: KlineCursor;
  /** Its strategies, in their order. */
  readonly strategies: readonly (StrategyCursor | StreamingCursor)[];
  /** Strategies of several markets that trade it. */
  readonly several: readonly MarketsCursor[];
  /** What its strategies have of it. */
  readonly subAccounts: readonly SubAccount[];
  /** Those of them that decide on closed klines. */
  readonly deciding: readonly StrategyCursor[];
  /** Where strategies of a larger interval than its own trade it. */
  readonly larger: readonly LatePlace[];
  /** The row that closes next. */
  row: number;
  /** Nothing can happen at the rows before this one; `unknown` where that has to be worked out. */
  quietTo: number;
  /** How many rows to look ahead for the next event; and whether the rows behind them were not examined. */
  ahead: number;
  isQuietBeyond: boolean;
  /** At `quietTo` an order may fill or a stop may be hit; else somebody has something to say there. */
  mayFill: boolean;
  /** Its kline has opened and goes through the fill phases. */
  isOpen: boolean;
  /** The row that opened last. */
  opened: number;
  /** Its part of the equity is `fixed` + `held` × price. */
  fixed: number;
  held: number;
  /** The last price of its symbol, once there is one: looked up once, as it stays the same object. */
  mark: { readonly price: number; readonly at: number } | undefined;
  /** While its part stays above the first and up to the second, no limit on the equity is reached. */
  floor: number;
  ceiling: number;
  /** UTC ms at which something is due, and the first row that may close then. */
  dueAt: number;
  dueRow: number;
}

/** Below every row. */
export const unknown = -1;

/** Rows that are looked ahead behind an event: the next one may be near. */
const nearRows = 16;

/** Something happened to it, or may happen at any row. */
export function wake(state: SeriesState): void {
  state.quietTo = unknown;
  state.isQuietBeyond = false;
  state.ahead = nearRows;
}

/** Its next row closes, and something may happen at it. */
export function closeRow(state: SeriesState): void {
  wake(state);
  state.cursor.row = state.row++;
}

/**
 * For series whose look-ahead ended before `at`, UTC ms: skips the examined rows, and more rows are examined next. False where there is none.
 */
export function lookFurther(
  states: readonly SeriesState[],
  at: number,
  passOver: (state: SeriesState) => void,
): boolean {
  let isFurther = false;
  for (const state of states) {
    if (!state.isQuietBeyond || opensAt(state, state.quietTo) > at) continue;
    passOver(state);
    state.quietTo = unknown;
    state.isQuietBeyond = false;
    state.ahead *= 4;
    isFurther = true;
  }
  return isFurther;
}

/** The state before the first row. */
export const stateOf = (
  series: RunSeries,
  market: PaperMarket,
  cursor: KlineCursor,
  {
    strategies,
    several,
    larger,
    portfolio,
  }: Pick<SeriesState, 'strategies' | 'several' | 'larger'> & { readonly portfolio: Portfolio },
): SeriesState => ({
  ...{ series, symbol: series.symbol, market, cursor, strategies, several, larger },
  subAccounts: [...strategies, ...several].map(({ hosted }) => portfolio.subAccount(hosted.id, series.symbol)),
  deciding: strategies.filter((one) => one instanceof StrategyCursor),
  ...{
    row: series.first,
    quietTo: unknown,
    ahead: nearRows,
    isQuietBeyond: false,
    mayFill: true,
    isOpen: false,
    opened: -1,
  },
  ...{ mark: undefined, fixed: 0, held: 0, floor: Number.NEGATIVE_INFINITY, ceiling: Number.POSITIVE_INFINITY },
  ...{ dueAt: Number.NaN, dueRow: series.first },
});

/** True if its last row was not skipped, or something happened to it since. */
export const isAwake = ({ row, quietTo }: SeriesState): boolean => quietTo < row;

/** Close time of a row, UTC ms; infinity after the last one. */
export const closesAt = ({ series: { interval, columns, end } }: Pick<SeriesState, 'series'>, row: number): number =>
  row < end ? closeTime(interval, columns.openTime[row] as number) : Number.POSITIVE_INFINITY;

/** Open time of a row, UTC ms; infinity after the last one. */
export const opensAt = ({ series: { columns, end } }: Pick<SeriesState, 'series'>, row: number): number =>
  row < end ? (columns.openTime[row] as number) : Number.POSITIVE_INFINITY;

/** True if its kline has opened at this very moment, UTC ms; one that opened before it has not. */
export const opensNow = (state: SeriesState, now: number): boolean =>
  state.opened === state.row && opensAt(state, state.row) === now;

/** The series whose next kline opens before this close (UTC ms), in the order of their opens: those that open at one time together. */
export function openingTogether(states: readonly SeriesState[], at: number): Iterable<readonly SeriesState[]> {
  const found: SeriesState[] = [];
  for (const state of states) if (state.opened !== state.row && opensAt(state, state.row) < at) found.push(state);
  const [first] = found;
  if (first === undefined) return none;
  const openTime = opensAt(first, first.row);
  if (found.every((state) => opensAt(state, state.row) === openTime)) return [found];
  found.sort((a, b) => opensAt(a, a.row) - opensAt(b, b.row));
  return Map.groupBy(found, (state) => opensAt(state, state.row)).values();
}
const none: readonly (readonly SeriesState[])[] = [];

/**
 * Marks series at their open while their kline is open and others close at `at`, UTC ms; with `closingToo`, also those that close then. True if one of
 * the open ones has a position and was not skipped.
 */
export function markOpens(
  states: readonly SeriesState[],
  portfolio: Portfolio,
  at: number,
  closingToo: boolean,
): boolean {
  let isStale = false;
  for (const state of states) {
    const isClosing = closesAt(state, state.row) <= at;
    if (isClosing && !closingToo) continue;
    const { symbol, series, row, held, quietTo } = state;
    const { openTime, open } = series.columns;
    portfolio.mark(symbol, open[row] as number, openTime[row] as number);
    isStale ||= !isClosing && held !== 0 && row >= quietTo;
  }
  return isStale;
}

/** The last close of the klines that are done, UTC ms. */
export const lastClose = (states: readonly SeriesState[]): number =>
  Math.max(
    ...states.map((state) =>
      state.row === state.series.first ? Number.NEGATIVE_INFINITY : closesAt(state, state.row - 1),
    ),
  );

/** Limits on the equity ask for the last price of every series, but only now and then: its last close, unless its next open was marked since. */
export function markCloses(states: readonly SeriesState[], portfolio: Portfolio): void {
  for (const state of states) {
    const { series, symbol, cursor, row } = state;
    state.mark ??= portfolio.lastMark(symbol);
    if (row > series.first && (state.mark?.at ?? 0) < cursor.seenAt)
      portfolio.mark(symbol, cursor.close, cursor.seenAt);
  }
}

/** The first row from its next one on that may close at `due`, UTC ms; the end of the series where none does. */
export function dueRowOf(state: SeriesState, due: number): number {
  const { interval, columns, end } = state.series;
  if (due !== state.dueAt) {
    state.dueAt = due;
    state.dueRow = Math.min(end, rowAt(columns.openTime, due - intervalMs(interval, 0)));
  }
  return Math.max(state.row, state.dueRow);
}
