/** How long exits kept strategies out: what a stop, a time or a take-profit closed stays closed while the same goal is said. */
import { type FillTable, purposes } from './fill-table.ts';
import type { TripTable } from './trip-table.ts';

/** One strategy at one symbol. */
export interface StayRow {
  readonly strategy: string;
  readonly symbol: string;
  /** After how many exits. */
  readonly exits: number;
  /** Of the run, as a fraction. */
  readonly share: number;
  /** The longest of them: from when, UTC ms, and how long. */
  readonly from: number;
  readonly longestMs: number;
}

/** When a strategy said another goal at a symbol than before, UTC ms, and whether it was to hold nothing; ascending. */
export type NewTargets = (
  strategy: string,
  symbol: string,
) => readonly { readonly at: number; readonly isNothing: boolean }[];

/** What is out for less of the run is not told of: it is what stops are for. */
const leastShare = 0.25;
const exits = [purposes.indexOf('stop'), purposes.indexOf('takeProfit')];

/** The times out that come to a quarter of a run or more; what is entered again, another goal and the run's end, UTC ms, end each. */
export function stayRows(
  { trips, fills }: { readonly trips: TripTable; readonly fills: FillTable },
  newTargets: () => NewTargets,
  { start, end }: { readonly start: number; readonly end: number },
): readonly StayRow[] {
  if (!fills.purpose.some((purpose) => exits.includes(purpose))) return [];
  const goals = newTargets();
  return fills.places.flatMap(({ strategy, symbol }, place): readonly StayRow[] => {
    const said = goals(strategy, symbol);
    let next = 0;
    const stays = leftIn(trips, fills, place).flatMap(({ from, entered }) => {
      // What was said at the very moment of the exit was said before it: a kline that opens then hits what it has entered.
      while ((said[next]?.at ?? Number.POSITIVE_INFINITY) <= from) next++;
      // Who wants to hold nothing is not kept out.
      if (said[next - 1]?.isNothing === true) return [];
      return [{ from, ms: Math.min(entered, said[next]?.at ?? end, end) - from }];
    });
    const [first, ...others] = stays;
    const share = stays.reduce((sum, { ms }) => sum + ms, 0) / (end - start);
    if (first === undefined || share < leastShare) return [];
    const longest = others.reduce((best, one) => (one.ms > best.ms ? one : best), first);
    return [{ strategy, symbol, exits: stays.length, share, from: longest.from, longestMs: longest.ms }];
  });
}

/** When exits left nothing of a place, and when it was entered next; never is infinite. */
function leftIn(
  trips: TripTable,
  { purpose }: FillTable,
  wanted: number,
): readonly { readonly from: number; readonly entered: number }[] {
  const left: { from: number; entered: number }[] = [];
  // From the last: what was entered before an exit and left after it was held at that exit.
  let entered = trips.open.find(({ place }) => place === wanted)?.entryTime ?? Number.POSITIVE_INFINITY;
  for (let trip = trips.length - 1; trip >= 0; trip--) {
    if (trips.place[trip] !== wanted) continue;
    const from = trips.exitTime[trip] as number;
    if (entered > from && exits.includes(purpose[trips.exitFill[trip] as number] as number))
      left.push({ from, entered });
    entered = Math.min(entered, trips.entryTime[trip] as number);
  }
  return left.reverse();
}
