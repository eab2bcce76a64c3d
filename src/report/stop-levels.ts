/** Where stops and targets stood while something was held, step by step; trailing ones follow the best price so far. */
import type { FillTable } from '../research/fill-table.ts';
import type { Trip } from '../research/trips.ts';
import type { ReportInput, ReportSeries, StopLevel } from './input.ts';

export type StopStep = readonly [time: number, strategy: string, stop: number | null, target: number | null];

/** From the first entry to the last exit of trips that overlap; what is open is held for ever. */
interface Held {
  readonly from: number;
  to: number;
  readonly long: boolean;
  readonly entryPrice: number;
}

/** Steps in one report; what comes later is not drawn. */
const mostSteps = 20_000;

type Spent = Pick<Trip, 'entryTime' | 'exitTime' | 'long' | 'entryPrice'>;

function heldOf(trips: readonly Spent[]): readonly Held[] {
  const found: Held[] = [];
  for (const { entryTime, exitTime, long, entryPrice } of trips.toSorted((a, b) => a.entryTime - b.entryTime)) {
    const last = found.at(-1);
    if (last !== undefined && last.long === long && entryTime <= last.to) last.to = Math.max(last.to, exitTime);
    else found.push({ from: entryTime, to: exitTime, long, entryPrice });
  }
  return found;
}

/** The levels of one strategy at one symbol; `rows` are its wishes in the order of time. */
function stepsOf(held: Held, rows: readonly StopLevel[], series: ReportSeries, strategy: string): StopStep[] {
  const { columns, first, end } = series;
  const { openTime, high, low } = columns;
  const steps: StopStep[] = [];
  let next = 0;
  let wish: StopLevel | undefined;
  let best = held.entryPrice;
  for (let row = first; row < end && (openTime[row] as number) <= held.to; row++) {
    const time = openTime[row] as number;
    // The kline of the entry counts: a stop is in force as soon as something is held.
    if ((openTime[row + 1] ?? Number.POSITIVE_INFINITY) <= held.from) continue;
    for (let one = rows[next]; one !== undefined && one.time <= Math.max(time, held.from); one = rows[++next])
      wish = one;
    const trailing = wish?.trailing ?? null;
    const followed = trailing === null ? null : best * (held.long ? 1 - trailing : 1 + trailing);
    const fixed = wish?.stop ?? null;
    const both = [followed, fixed].filter((price) => price !== null);
    const stop = both.length === 0 ? null : held.long ? Math.max(...both) : Math.min(...both);
    const target = wish?.takeProfit ?? null;
    const last = steps.at(-1);
    if (last === undefined || last[2] !== stop || last[3] !== target) steps.push([time, strategy, stop, target]);
    best = held.long ? Math.max(best, high[row] as number) : Math.min(best, low[row] as number);
  }
  const after =
    steps.length === 0 || held.to === Number.POSITIVE_INFINITY ? [] : [[held.to + 1, strategy, null, null] as const];
  return [...steps, ...after];
}

export function stopSteps(
  {
    stops,
    trips,
    open,
    table,
  }: Pick<ReportInput, 'stops' | 'trips' | 'open'> & { readonly table: Pick<FillTable, 'places'> },
  series: ReportSeries,
): readonly StopStep[] {
  const own = stops.filter(({ symbol }) => symbol === series.symbol);
  const strategies = [...new Set(own.map(({ strategy }) => strategy))];
  return strategies
    .flatMap((strategy) => {
      const rows = own.filter((one) => one.strategy === strategy);
      const isIts = ({ place }: Pick<Trip, 'place'>): boolean => {
        const at = table.places[place];
        return at?.strategy === strategy && at.symbol === series.symbol;
      };
      const still = open.filter(isIts).map((one) => ({ ...one, exitTime: Number.POSITIVE_INFINITY }));
      return heldOf([...trips.filter(isIts), ...still]).flatMap((held) => stepsOf(held, rows, series, strategy));
    })
    .toSorted(([a], [b]) => a - b)
    .slice(0, mostSteps);
}
