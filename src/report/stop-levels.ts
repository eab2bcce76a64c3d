/** Stops and targets while a position was open, step by step; trailing stops follow the best price so far. */
import { type ExitLevel, keptLevel } from '../domain/target-options.ts';
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
const maxSteps = 20_000;

function holdingsOf(trips: readonly Pick<RoundTrip, 'entryTime' | 'exitTime' | 'long' | 'entryPrice'>[]) {
  const found: Holding[] = [];
  for (const { entryTime, exitTime, long, entryPrice } of trips.toSorted((a, b) => a.entryTime - b.entryTime)) {
    const last = found.at(-1);
    if (last !== undefined && last.long === long && entryTime <= last.to) last.to = Math.max(last.to, exitTime);
    else found.push({ from: entryTime, to: exitTime, long, entryPrice });
  }
  return found;
}

/** What is in force of a later signal for the same position. */
function keptLevels(was: StopLevel, is: StopLevel): StopLevel {
  const after = keptLevel(was.breakEven?.after, is.breakEven?.after);
  return {
    ...is,
    stop: keptLevel(was.stop, is.stop),
    takeProfit: keptLevel(was.takeProfit, is.takeProfit),
    trailing: keptLevel(was.trailing, is.trailing),
    ...(is.breakEven && { breakEven: { ...is.breakEven, after: after ?? is.breakEven.after } }),
  };
}

/** The price of a level; `direction` is 1 where it is above the price that it is measured from. */
function priceOf(level: ExitLevel | null | undefined, from: number, direction: 1 | -1): number | null {
  if (typeof level !== 'object' || level === null) return level ?? null;
  return from + direction * ('fromEntry' in level ? from * level.fromEntry : level.distance);
}

/** The stops in force at a best price since the entry, of which the nearest acts. */
function stopsOf(held: Holding, best: number, level?: StopLevel): readonly number[] {
  const { entryPrice, long } = held;
  const toLoss = long ? -1 : 1;
  const { trailing = null, breakEven = null } = level ?? {};
  const trailed = typeof trailing === 'number' ? best * (1 + toLoss * trailing) : priceOf(trailing, best, toLoss);
  const after = breakEven === null ? null : breakEven.after;
  const reached = priceOf(typeof after === 'number' ? { fromEntry: after } : after, entryPrice, long ? 1 : -1);
  const isEven = reached !== null && (long ? best >= reached : best <= reached);
  const even = isEven ? entryPrice * (1 - toLoss * (breakEven?.plus ?? 0)) : null;
  const fixed = priceOf(level?.stop, entryPrice, toLoss);
  return [trailed, fixed, even].filter((price) => price !== null);
}

/** The steps of one strategy at one symbol; `levels` are what it set, in the order of time. */
function stepsOf(held: Holding, levels: readonly StopLevel[], series: ReportSeries, strategy: string): StopStep[] {
  const { openTime, high, low } = series.columns;
  const steps: StopStep[] = [];
  let next = 0;
  let level: StopLevel | undefined;
  let best = held.entryPrice;
  let isHeld = false;
  for (let row = series.first; row < series.end && (openTime[row] as number) <= held.to; row++) {
    const time = openTime[row] as number;
    // The kline of the entry counts: a stop is in force as soon as the position is open.
    if ((openTime[row + 1] ?? Number.POSITIVE_INFINITY) <= held.from) continue;
    for (let one = levels[next]; one !== undefined && one.time <= Math.max(time, held.from); one = levels[++next])
      level = isHeld && level !== undefined ? keptLevels(level, one) : one;
    isHeld = true;
    const prices = stopsOf(held, best, level);
    const stop = prices.length === 0 ? null : held.long ? Math.max(...prices) : Math.min(...prices);
    const takeProfit = priceOf(level?.takeProfit, held.entryPrice, held.long ? 1 : -1);
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
    .slice(0, maxSteps);
}
