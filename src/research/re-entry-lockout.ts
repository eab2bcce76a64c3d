/** How long exits kept strategies out: after a stop, time exit or take-profit, a strategy must change its target before it can enter again. */
import { purposes } from '../domain/order.ts';
import type { FillTable } from './fill-table.ts';
import type { RoundTripTable } from './round-trip-table.ts';

/** One strategy at one symbol. */
export interface Lockout {
  readonly strategy: string;
  readonly symbol: string;
  /** After how many exits. */
  readonly exits: number;
  /** Of the run, as a fraction. */
  readonly share: number;
  /** The longest: from when, UTC ms, and how long. */
  readonly from: number;
  readonly longestMs: number;
}

/** When a strategy changed its target at a symbol, UTC ms, and whether the new one is flat; ascending. */
export type NewTargets = (
  strategy: string,
  symbol: string,
) => readonly { readonly at: number; readonly isFlat: boolean }[];

/** Lockouts below this share of the run are not reported: stops are meant to keep out. */
const minShare = 0.25;
const exits = [purposes.indexOf('stop'), purposes.indexOf('takeProfit')];

/** Lockouts of a quarter of a run or more. The next entry, a new target or the end of the run, UTC ms, ends each. */
export function lockoutsOf(
  { trips, fills }: { readonly trips: RoundTripTable; readonly fills: FillTable },
  newTargets: () => NewTargets,
  { start, end }: { readonly start: number; readonly end: number },
): readonly Lockout[] {
  if (!fills.purpose.some((purpose) => exits.includes(purpose))) return [];
  const targetsOf = newTargets();
  return fills.positions.flatMap(({ strategy, symbol }, position): readonly Lockout[] => {
    const targets = targetsOf(strategy, symbol);
    let next = 0;
    const found = exitsOf(trips, fills, position).flatMap(({ from, entered }) => {
      // A target of the moment of the exit came before it: a kline opens, and then reaches the stop of what it has entered.
      while ((targets[next]?.at ?? Number.POSITIVE_INFINITY) <= from) next++;
      // A strategy with a flat target does not want to enter.
      if (targets[next - 1]?.isFlat === true) return [];
      return [{ from, ms: Math.min(entered, targets[next]?.at ?? end, end) - from }];
    });
    const share = found.reduce((sum, { ms }) => sum + ms, 0) / (end - start);
    const [longest] = found.toSorted((a, b) => b.ms - a.ms);
    if (longest === undefined || share < minShare) return [];
    return [{ strategy, symbol, exits: found.length, share, from: longest.from, longestMs: longest.ms }];
  });
}

/** When exits closed the position of a strategy, and when it entered next; infinite for never. */
function exitsOf(
  trips: RoundTripTable,
  { purpose }: FillTable,
  own: number,
): readonly { readonly from: number; readonly entered: number }[] {
  const found: { from: number; entered: number }[] = [];
  // From the last: a round trip that began before an exit and ended after it was open at that exit.
  let entered = trips.open.find(({ position }) => position === own)?.entryTime ?? Number.POSITIVE_INFINITY;
  for (let trip = trips.length - 1; trip >= 0; trip--) {
    if (trips.position[trip] !== own) continue;
    const from = trips.exitTime[trip] as number;
    if (entered > from && exits.includes(purpose[trips.exitFill[trip] as number] as number))
      found.push({ from, entered });
    entered = Math.min(entered, trips.entryTime[trip] as number);
  }
  return found.reverse();
}
