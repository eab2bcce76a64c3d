/** Finds series of one market that show the same moves at different times: by a time zone, or ends of klines taken for openings. */
import { counted, type Finding, lengthText } from './finding.ts';

/** Prices at times that are whole steps apart; NaN where they are not known. */
export interface PriceLine {
  /** UTC ms of the first. */
  readonly from: number;
  readonly stepMs: number;
  /** Natural logarithms. */
  readonly prices: Float64Array;
}

/** The least correlation of two series of one market; less proves nothing about their times. */
const leastLikeness = 0.3;
/** So much less is the correlation without a shift. */
const leastDifference = 0.2;
/** The least number of moves; fewer can be alike by chance. */
const leastMoves = 200;
const zoneStepMs = 15 * 60_000;
const farthestZoneMs = 14 * 60 * 60_000;
/** Shifts by single klines that are tried: stamps of ends are one late. */
const nearSteps = 5;

export interface Slip {
  /** How much later (above 0) or earlier the first shows the moves of the second, ms. */
  readonly lateMs: number;
  readonly likeness: number;
  readonly asStamped: number;
}

/** The shift at which the moves of the two are alike; undefined when they are alike without one. */
export function slipOf(one: PriceLine, other: PriceLine): Slip | undefined {
  const [fine, coarse, sign] = one.stepMs <= other.stepMs ? [one, other, 1] : [other, one, -1];
  if (coarse.stepMs % fine.stepMs !== 0) return undefined;
  const asStamped = likeness(fine, coarse, 0);
  let best = { shiftMs: 0, likeness: asStamped };
  for (const shiftMs of shifts(fine.stepMs, coarse.stepMs)) {
    const found = likeness(fine, coarse, shiftMs);
    if (found > best.likeness) best = { shiftMs, likeness: found };
  }
  const isSure = best.likeness >= leastLikeness && best.likeness - asStamped >= leastDifference;
  return isSure && best.shiftMs !== 0 ? { lateMs: sign * best.shiftMs, likeness: best.likeness, asStamped } : undefined;
}

function shifts(fineMs: number, coarseMs: number): readonly number[] {
  const all = new Set<number>();
  for (let step = -nearSteps; step <= nearSteps; step++) all.add(step * fineMs).add(Math.sign(step) * coarseMs);
  for (let ms = zoneStepMs; ms <= farthestZoneMs; ms += zoneStepMs) if (ms % fineMs === 0) all.add(ms).add(-ms);
  return [...all];
}

/** Correlation of the moves of `coarse` with those of `fine` that much later; 0 where there are too few. */
function likeness(fine: PriceLine, coarse: PriceLine, shiftMs: number): number {
  const each = coarse.stepMs / fine.stepMs;
  const first = Math.round((coarse.from + shiftMs - fine.from) / fine.stepMs);
  let [count, x, y, xx, yy, xy] = [0, 0, 0, 0, 0, 0];
  for (let row = 1; row < coarse.prices.length; row++) {
    const at = first + row * each;
    const a = (coarse.prices[row] as number) - (coarse.prices[row - 1] as number);
    const b = (fine.prices[at] ?? Number.NaN) - (fine.prices[at - each] ?? Number.NaN);
    // Moments without a move in either say nothing.
    if (!(a !== 0 || b !== 0) || Number.isNaN(a + b)) continue;
    count++;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  const spread = (xx - (x * x) / count) * (yy - (y * y) / count);
  return count < leastMoves || !(spread > 0) ? 0 : (xy - (x * y) / count) / Math.sqrt(spread);
}

/** The finding of shifts in stretches of a series; `at`: where each stretch begins, UTC ms. */
export function slipFinding(other: string, found: readonly (Slip & { readonly at: number })[]): readonly Finding[] {
  const [first] = found;
  if (first === undefined) return [];
  const { lateMs, likeness: alike, asStamped } = first;
  const moved = `${lengthText(Math.abs(lateMs))} ${lateMs > 0 ? 'later' : 'earlier'}`;
  const where = found.length === 1 ? '' : `, in ${counted(found.length, 'stretch', 'stretches')}`;
  return [
    {
      check: 'slip',
      count: found.length,
      refused: false,
      what: `shows each move ${moved} than ${other} (alike ${alike.toFixed(2)} so, ${asStamped.toFixed(2)} as stamped${where})`,
      effect:
        'one of the two has times of ends of klines, or of another zone: a run on the earlier one may know prices before they were there',
      advice:
        'find out which is right; remove the other one and import it again with --stamps close, or with its --zone',
      places: found.slice(0, 3).map(({ at }) => ({ time: at })),
    },
  ];
}
