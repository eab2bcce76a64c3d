/** Prices that a kline must reach before anything can happen to a symbol's orders, positions and limits. */

import type { Columns } from '../../../domain/market.ts';
import { reachOfAll } from '../../../fill/kline-order.ts';
import type { Levels, Trail } from '../../../portfolio/stop-levels.ts';
import type { RunSeries } from '../../run.ts';
import type { SeriesState } from './series-state.ts';
import type { StrategyCursor } from './strategy-cursor.ts';
import type { KlineTrader } from './trader.ts';

/** The prices at which something happens to a series; undefined where something may happen at any. */
export function levelsOf(state: SeriesState, { planner, protection, margin }: KlineTrader): Levels | undefined {
  const { symbol, market, strategies, several, deciding, fixed, held, floor, ceiling } = state;
  // A streaming strategy sees every kline.
  if (strategies.length > deciding.length) return undefined;
  let below = Number.NEGATIVE_INFINITY;
  let above = Number.POSITIVE_INFINITY;
  for (const strategy of deciding) {
    const { id } = strategy.hosted;
    const settled = planner.settled(id, symbol);
    if (settled === undefined && planner.standing(id, symbol) !== undefined) strategy.quiet = false;
    if (!strategy.quiet) return undefined;
    if (settled === undefined || settled.from <= 0) continue;
    below = Math.max(below, settled.from);
    above = Math.min(above, settled.to);
  }
  for (const { hosted } of several) {
    const settled = planner.settled(hosted.id, symbol);
    if (settled === undefined && planner.standing(hosted.id, symbol) !== undefined) return undefined;
    if (settled === undefined || settled.from <= 0) continue;
    below = Math.max(below, settled.from);
    above = Math.min(above, settled.to);
  }
  if (!market.fills.idle) {
    const reach = reachOfAll(market.fills.working);
    if (reach === undefined) return undefined;
    below = Math.max(below, reach.below);
    above = Math.min(above, reach.above);
  }
  if (held !== 0) {
    const atFloor = (floor - fixed) / held;
    const atCeiling = (ceiling - fixed) / held;
    below = Math.max(below, Math.min(atFloor, atCeiling));
    above = Math.min(above, Math.max(atFloor, atCeiling));
  }
  const liquidated = margin?.held(symbol);
  if (liquidated !== undefined) {
    below = Math.max(below, liquidated.above);
    above = Math.min(above, liquidated.below);
  }
  if (!protection.guards(symbol)) return { below, above, trails: noTrails };
  const stops = protection.levels(symbol);
  return stops && { below: Math.max(below, stops.below), above: Math.min(above, stops.above), trails: stops.trails };
}

const noTrails: readonly Trail[] = [];

/** Wider than the rounding of a sum of numbers: what is nearer goes the full way, which is exact. */
const slack = 1e-9;

/** The first row from `row` on, up to `end`, that reaches one of the levels; `end` where none does: then trailing stops stand where they are behind it. */
function firstReached(columns: Columns, row: number, end: number, { below, above, trails }: Levels): number {
  const [trail, other] = trails;
  if (other !== undefined)
    return Math.min(...trails.map((one) => firstReached(columns, row, end, { below, above, trails: [one] })));
  if (trail === undefined) return reachedFixed(columns, row, end, below, above);
  return trail.side === 'SELL'
    ? reachedBySale(columns, row, end, { below, above, trail })
    : reachedByPurchase(columns, row, end, { below, above, trail });
}

/** Recordings have klines that open outside low to high, and a stop fills at such an open, too. */
export const topOf = ({ open, high }: Columns, row: number): number =>
  Math.max(open[row] as number, high[row] as number);
export const bottomOf = ({ open, low }: Columns, row: number): number =>
  Math.min(open[row] as number, low[row] as number);

const hasNone = ({ below, above, trails }: Levels): boolean =>
  below === Number.NEGATIVE_INFINITY && above === Number.POSITIVE_INFINITY && trails.length === 0;

function reachedFixed(columns: Columns, row: number, end: number, below: number, above: number): number {
  if (below === Number.NEGATIVE_INFINITY && above === Number.POSITIVE_INFINITY) return end;
  if (above === Number.POSITIVE_INFINITY) {
    for (let at = row; at < end; at++) if (bottomOf(columns, at) <= below) return at;
    return end;
  }
  for (let at = row; at < end; at++) if (bottomOf(columns, at) <= below || topOf(columns, at) >= above) return at;
  return end;
}

interface Trailing {
  readonly below: number;
  readonly above: number;
  readonly trail: Trail;
}

/** The high of a kline counts before its low: a stop that this reaches too early goes the full way, which knows better. */
function reachedBySale(columns: Columns, row: number, end: number, { below, above, trail }: Trailing): number {
  const keeps = (1 - trail.by) * (1 + slack);
  const { away } = trail;
  let best = trail.best;
  let level = Math.max(below, best * keeps - away);
  for (let at = row; at < end; at++) {
    const top = topOf(columns, at);
    if (top > best) {
      best = top;
      level = Math.max(below, best * keeps - away);
    }
    if (bottomOf(columns, at) <= level || top >= above) return at;
  }
  trail.best = best;
  return end;
}

function reachedByPurchase(columns: Columns, row: number, end: number, { below, above, trail }: Trailing): number {
  const keeps = (1 + trail.by) * (1 - slack);
  const { away } = trail;
  let best = trail.best;
  let level = Math.min(above, best * keeps + away);
  for (let at = row; at < end; at++) {
    const bottom = bottomOf(columns, at);
    if (bottom < best) {
      best = bottom;
      level = Math.min(above, best * keeps + away);
    }
    if (topOf(columns, at) >= level || bottom <= below) return at;
  }
  trail.best = best;
  return end;
}

/** Rows that are looked ahead at once: one behind an event, since the next one may be near, then more and more. */
const [minRows, maxRows] = [1, 4_096];

/** The first row of a range at which a level is reached or a strategy says something else; the end of the range where neither happens. */
export function firstEvent(
  columns: Columns,
  strategies: readonly Pick<StrategyCursor, 'next'>[],
  levels: Levels,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly row: number; readonly isReached: boolean } {
  if (strategies.length === 0 && hasNone(levels)) return { row: Math.max(from, to), isReached: true };
  let row = from;
  for (let rows = hasNone(levels) ? maxRows : minRows; row < to; rows = Math.min(rows * 4, maxRows)) {
    const end = Math.min(to, row + rows);
    const reached = firstReached(columns, row, end, levels);
    let first = reached;
    for (const strategy of strategies) first = strategy.next(row, first);
    if (first < end) return { row: first, isReached: first === reached };
    row = end;
  }
  return { row: Math.max(from, to), isReached: true };
}

/**
 * Works out until when nothing happens to a series; at `due` some time is. Strategies of several markets are asked later, and may say something
 * long before a level is reached: then only some rows are looked at.
 */
export function lookAhead(state: SeriesState, levels: Levels, due: number): void {
  const { series, deciding, cursor, row, ahead } = state;
  const isWhole = deciding.length > 0 || hasNone(levels);
  const to = isWhole ? due : Math.min(due, row + ahead);
  const at = cursor.row;
  const event = firstEvent(series.columns, deciding, levels, { from: row, to });
  cursor.row = at;
  state.mayFill = event.isReached;
  state.quietTo = event.row;
  state.isQuietBeyond = to < due && event.row === to;
}

/** Something may happen to a series at its next row. */
export function mayHappenNext(state: SeriesState): void {
  state.mayFill = true;
  state.quietTo = state.row;
  state.isQuietBeyond = false;
}

/** The highest and the lowest price of rows. */
export function extremes(
  columns: Columns,
  row: number,
  end: number,
): { readonly top: number; readonly bottom: number } {
  let [top, bottom] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let at = row; at < end; at++) {
    top = Math.max(top, topOf(columns, at));
    bottom = Math.min(bottom, bottomOf(columns, at));
  }
  return { top, bottom };
}

/** Moves trailing stops over rows that reach none of them. */
export function trailOver(
  protection: KlineTrader['protection'],
  { symbol, columns }: RunSeries,
  from: number,
  to: number,
): void {
  if (!protection.guards(symbol)) return;
  const { top, bottom } = extremes(columns, from, to);
  protection.trail(symbol, top, bottom);
}

/** Nothing is left to do about what a strategy wants. */
export const isQuiet = ({ planner }: KlineTrader, { hosted: { id, symbol } }: StrategyCursor): boolean =>
  planner.standing(id, symbol) === undefined || planner.settled(id, symbol) !== undefined;
