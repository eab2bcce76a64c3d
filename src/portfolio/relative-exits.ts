/** Exits that are measured from the entry price or the best price: fractions and distances, and the prices that they come to. */

import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { minus, plus, rateOf, type Ticks, ticksOf, worsened } from '../domain/money.ts';
import {
  type BreakEven,
  type Distance,
  type FromEntry,
  keptLevel,
  type PartialTakeProfit,
  sameBreakEven,
  sameLevel,
  sameTakeProfit,
  type TargetOptions,
} from '../domain/target-options.ts';

/** Those of a target; plain prices and fractions of the best price are not among them. */
export interface RelativeExits {
  readonly stop?: FromEntry | Distance;
  readonly takeProfit?: FromEntry | Distance;
  /** Several take-profits, those at prices among them. */
  readonly parts?: readonly PartialTakeProfit[];
  readonly trailing?: Distance;
  readonly breakEven?: BreakEven;
}

const isRelative = (level: unknown): level is FromEntry | Distance =>
  typeof level === 'object' && level !== null && !Array.isArray(level);

/** The relative exits of a target; undefined where it has none. */
export function relativeOf({ stop, takeProfit, trailing, breakEven }: TargetOptions): RelativeExits | undefined {
  const parts = Array.isArray(takeProfit) ? (takeProfit as readonly PartialTakeProfit[]) : undefined;
  const isNone = !isRelative(stop) && !isRelative(takeProfit) && !isRelative(trailing);
  if (isNone && parts === undefined && breakEven === undefined) return undefined;
  return {
    ...(isRelative(stop) && { stop }),
    ...(isRelative(takeProfit) && { takeProfit }),
    ...(parts !== undefined && { parts }),
    ...(isRelative(trailing) && 'distance' in trailing && { trailing }),
    ...(breakEven !== undefined && { breakEven }),
  };
}

/** The exits of a later signal for the same position: distances that do not move stay as they were. */
export function frozenAs(before: RelativeExits | undefined, now: RelativeExits | undefined): RelativeExits | undefined {
  if (before === undefined || now === undefined || before === now) return now;
  const stop = keptLevel(before.stop, now.stop);
  const takeProfit = keptLevel(before.takeProfit, now.takeProfit);
  const trailing = keptLevel(before.trailing, now.trailing);
  const parts = now.parts?.map((part, index) => ({
    ...part,
    at: keptLevel(before.parts?.[index]?.at, part.at) ?? part.at,
  }));
  const { breakEven } = now;
  return {
    ...(stop !== undefined && { stop }),
    ...(takeProfit !== undefined && { takeProfit }),
    ...(parts !== undefined && { parts }),
    ...(trailing !== undefined && { trailing }),
    ...(breakEven !== undefined && {
      breakEven: { ...breakEven, after: keptLevel(before.breakEven?.after, breakEven.after) ?? breakEven.after },
    }),
  };
}

export const sameRelative = (a: RelativeExits | undefined, b: RelativeExits | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    sameLevel(a.stop, b.stop) &&
    sameLevel(a.takeProfit, b.takeProfit) &&
    sameTakeProfit(a.parts, b.parts) &&
    sameLevel(a.trailing, b.trailing) &&
    sameBreakEven(a.breakEven, b.breakEven));

/** The price so far from another on the side of a loss, for a position that is left by an order of this side; to the next tick away. */
export function onLossSide(side: Side, price: Ticks, level: FromEntry | Distance, at: Instrument): Ticks {
  if ('fromEntry' in level) return worsened(side, price, rateOf(level.fromEntry));
  const distance = ticksOf(level.distance, at, 'up');
  return side === 'SELL' ? minus(price, distance) : plus(price, distance);
}

/** The same on the side of a profit. */
export const onProfitSide = (side: Side, price: Ticks, level: FromEntry | Distance, at: Instrument): Ticks =>
  onLossSide(side === 'SELL' ? 'BUY' : 'SELL', price, level, at);

/** The best price from which on the stop is at break-even, and that stop. */
export function breakEvenOf(side: Side, entry: Ticks, { after, plus: more = 0 }: BreakEven, at: Instrument) {
  const reached = onProfitSide(side, entry, typeof after === 'number' ? { fromEntry: after } : after, at);
  return { reached, stop: more === 0 ? entry : onProfitSide(side, entry, { fromEntry: more }, at) };
}
