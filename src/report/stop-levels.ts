/** Stops and targets while a position was open, step by step; trailing stops follow the best price so far. */
import type { FillTable } from '../research/fill-table.ts';
import type { RoundTrip } from '../research/round-trips.ts';
import type { StopStep } from './chart-data.ts';
import type { ReportInput, ReportSeries, StopLevel } from './input.ts';

/** From the first entry to the last exit of round trips that overlap; infinite for an open position. */
interface Holding {
  readonly from: number;
  to: number;
  readonly long: boolean;
  readonly entryPrice: number;
}

/** Steps in one report. Later ones are not drawn. */
const mostSteps = 20_000;

function holdingsOf(trips: readonly Pick<RoundTrip, 'entryTime' | 'exitTime' | 'long' | 'entryPrice'>[]) {
  const found: Holding[] = [];
  for (const { entryTime, exitTime, long, entryPrice } of trips.toSorted((a, b) => a.entryTime - b.entryTime)) {
    const last = found.at(-1);
    if (last !== undefined && last.long === long && entryTime <= last.to) last.to = Math.max(last.to, exitTime);
    else found.push({ from: entryTime, to: exitTime, long, entryPrice });
  }
  return found;
}

/** The steps of one strategy at one symbol; `levels` are what it set, in the order of time. */
function stepsOf(held: Holding, levels: readonly StopLevel[], series: ReportSeries, strategy: string): StopStep[] {
  const { openTime, high, low } = series.columns;
  const steps: StopStep[] = [];
  let next = 0;
  let level: StopLevel | undefined;
  let best = held.entryPrice;
  for (let row = series.first; row < series.end && (openTime[row] as number) <= held.to; row++) {
    const time = openTime[row] as number;
    // The kline of the entry counts: a stop is in force as soon as the position is open.
    if ((openTime[row + 1] ?? Number.POSITIVE_INFINITY) <= held.from) continue;
    for (let one = levels[next]; one !== undefined && one.time <= Math.max(time, held.from); one = levels[++next])
      level = one;
    const { trailing = null, stop: fixed = null, takeProfit = null } = level ?? {};
    const followed = trailing === null ? null : best * (held.long ? 1 - trailing : 1 + trailing);
    const both = [followed, fixed].filter((price) => price !== null);
    const stop = both.length === 0 ? null : held.long ? Math.max(...both) : Math.min(...both);
    const last = steps.at(-1);
    if (last === undefined || last[2] !== stop || last[3] !== takeProfit)
      steps.push([time, strategy, stop, takeProfit]);
    best = held.long ? Math.max(best, high[row] as number) : Math.min(best, low[row] as number);
  }
  if (steps.length > 0 && held.to !== Number.POSITIVE_INFINITY) steps.push([held.to + 1, strategy, null, null]);
  return steps;
}

export function stopSteps(
  {
    stops,
    trips,
    open,
    table,
  }: Pick<ReportInput, 'stops' | 'trips' | 'open'> & { readonly table: Pick<FillTable, 'positions'> },
  series: ReportSeries,
): readonly StopStep[] {
  const own = stops.filter(({ symbol }) => symbol === series.symbol);
  return [...Map.groupBy(own, ({ strategy }) => strategy)]
    .flatMap(([strategy, levels]) => {
      const isOwn = ({ position }: Pick<RoundTrip, 'position'>): boolean => {
        const of = table.positions[position];
        return of?.strategy === strategy && of.symbol === series.symbol;
      };
      const still = open.filter(isOwn).map((one) => ({ ...one, exitTime: Number.POSITIVE_INFINITY }));
      return holdingsOf([...trips.filter(isOwn), ...still]).flatMap((held) => stepsOf(held, levels, series, strategy));
    })
    .toSorted(([a], [b]) => a - b)
    .slice(0, mostSteps);
}
