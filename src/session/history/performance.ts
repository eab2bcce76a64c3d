/** Profit by day, week and month, and the curve of equity, of all strategies or of one. */

import type { PerformanceView, Period, PeriodUnit } from '../../dashboard/history.ts';
import type { EquityPoint } from '../../dashboard/view.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { minus, noUnits, plus, type Ticks, type Units, units, unitsText } from '../../domain/money.ts';
import { earnedOf, isBelowMinimum, openProfit, type Position } from '../../domain/position.ts';
import { bookedFills } from '../../journal/booked-fills.ts';
import type { JournalReader } from '../../journal/reader.ts';

/** The longest lists that are answered; older ones are left out. */
const most = { day: 62, week: 60, month: 60 } as const satisfies Record<PeriodUnit, number>;
/** Points of a curve: more cannot be seen. */
const mostPoints = 1_000;
const dayMs = 86_400_000;

/** The start of the period of a time, UTC ms. 1 January 1970 was a Thursday. */
export function startOf(unit: PeriodUnit, at: number): number {
  const day = Math.floor(at / dayMs);
  if (unit === 'day') return day * dayMs;
  if (unit === 'week') return (day - ((day + 3) % 7)) * dayMs;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

interface Sums {
  profit: Units;
  fees: Units;
  fills: number;
  roundTrips: number;
  wins: number;
}
const nothing = (): Sums => ({ profit: noUnits, fees: noUnits, fills: 0, roundTrips: 0, wins: 0 });

interface Held {
  position: Position;
  /** Closed profit less fees when it was flat last. */
  flatWith: Units;
  at: Instrument;
  price: Ticks;
}

/** Sums of the days with fills, and the profit after each fill. */
function walkFills(reader: JournalReader, only: string | undefined) {
  const held = new Map<string, Held>();
  const days = new Map<number, Sums>();
  const curve: EquityPoint[] = [];
  for (const { fill, at, before, after } of bookedFills(reader.pastFills(), reader.instruments())) {
    if (only !== undefined && fill.strategy !== only) continue;
    const one = getOrMake(held, `${fill.strategy}|${fill.symbol}`, () => ({
      ...{ position: after, flatWith: noUnits, at, price: fill.price },
    }));
    Object.assign(one, { position: after, at, price: fill.price });
    const sums = getOrMake(days, startOf('day', fill.time), nothing);
    sums.fills++;
    sums.fees = plus(sums.fees, minus(after.fees, before.fees));
    sums.profit = plus(sums.profit, minus(earnedOf(after), earnedOf(before)));
    if (isBelowMinimum(after, at) && !isBelowMinimum(before, at)) {
      const earned = earnedOf(after);
      sums.roundTrips++;
      if (earned > one.flatWith) sums.wins++;
      one.flatWith = earned;
    }
    if (only !== undefined) curve.push({ at: fill.time, equity: unitsText(profitOf(held.values())) });
  }
  return { days, curve };
}

function profitOf(held: Iterable<Held>): Units {
  let sum = noUnits;
  for (const { position, price, at } of held)
    sum = plus(sum, plus(earnedOf(position), openProfit(position, price, at)));
  return sum;
}

/** The change of the equity on each day: from the last point of the day before, or from the first one. */
function equityByDay(reader: JournalReader): ReadonlyMap<number, Units> {
  let before = units(reader.firstEquity()?.equity ?? '0');
  return new Map(
    reader.equityByDay().map(({ at, equity }) => {
      const now = units(equity);
      const change = minus(now, before);
      before = now;
      return [startOf('day', at), change];
    }),
  );
}

function periodsOf(unit: PeriodUnit, days: ReadonlyMap<number, Sums>): readonly Period[] {
  const periods = new Map<number, Sums>();
  for (const [day, sums] of days) {
    const all = getOrMake(periods, startOf(unit, day), nothing);
    all.profit = plus(all.profit, sums.profit);
    all.fees = plus(all.fees, sums.fees);
    for (const name of ['fills', 'roundTrips', 'wins'] as const) all[name] += sums[name];
  }
  return [...periods]
    .sort(([a], [b]) => b - a)
    .slice(0, most[unit])
    .map(([start, { profit, fees, ...counts }]) => ({
      ...{ start, profit: unitsText(profit), fees: unitsText(fees) },
      ...counts,
    }));
}

/** The deepest fall from the highest point so far. */
function drawdownOf(curve: readonly EquityPoint[]): PerformanceView['maxDrawdown'] {
  let [peak, peakAt] = [units(curve[0]?.equity ?? '0'), curve[0]?.at ?? 0];
  let [deepest, from, to] = [noUnits, peakAt, peakAt];
  for (const { at, equity } of curve) {
    const now = units(equity);
    if (now > peak) [peak, peakAt] = [now, at];
    else if (minus(peak, now) > deepest) [deepest, from, to] = [minus(peak, now), peakAt, at];
  }
  return { amount: unitsText(deepest), from, to };
}

/** Evenly spread points, with the last one. */
const thinned = (curve: readonly EquityPoint[]): readonly EquityPoint[] => {
  const step = Math.ceil(curve.length / mostPoints);
  return curve.filter((_, index) => (curve.length - 1 - index) % step === 0);
};

/** Of one strategy, or of all together. */
export function performanceOf(reader: JournalReader, strategy: string | undefined): PerformanceView {
  const { days, curve } = walkFills(reader, strategy);
  if (strategy === undefined) {
    // A day without a fill has a change of equity, too.
    for (const [day, change] of equityByDay(reader)) getOrMake(days, day, nothing).profit = change;
  }
  const points = strategy === undefined ? reader.equityCurve(mostPoints) : curve;
  const all = [...days.values()];
  const sum = (of: (sums: Sums) => number): number => all.reduce((total, sums) => total + of(sums), 0);
  return {
    strategies: reader.strategies(),
    periods: { day: periodsOf('day', days), week: periodsOf('week', days), month: periodsOf('month', days) },
    curve: thinned(points),
    maxDrawdown: drawdownOf(points),
    roundTrips: sum(({ roundTrips }) => roundTrips),
    wins: sum(({ wins }) => wins),
    fees: unitsText(all.reduce((total, { fees }) => plus(total, fees), noUnits)),
  };
}
