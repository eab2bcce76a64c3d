/** Profit by day, week and month, and the curve of equity, of all strategies or of one. */

import type { PerformanceView, Period, PeriodUnit } from '../../dashboard/history.ts';
import type { EquityPoint } from '../../dashboard/view.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import type { Instrument } from '../../domain/instrument.ts';
import { max, min, minus, noUnits, plus, type Ticks, type Units, units, unitsText } from '../../domain/money.ts';
import { earnedOf, isBelowMinimum, openProfit, type Position } from '../../domain/position.ts';
import { averageCost, type BookedFill, bookedFills, type PositionBooks } from '../../journal/booked-fills.ts';
import type { JournalReader } from '../../journal/reader.ts';
import { withAllocationsOfNow } from '../preflight/allocation-changes.ts';

/** The longest lists that are answered; older ones are left out. */
const most = { day: 62, week: 60, month: 60 } as const satisfies Record<PeriodUnit, number>;
/** Points of a curve: more cannot be seen. There may be many markets. */
const maxPoints = 1_000;
const maxMarketPoints = 250;
/** A reader cannot distinguish more lines. */
const maxMarkets = 20;
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
  /** After its last fill. */
  profit: Units;
}

/** The deepest fall of a curve from its highest point so far. */
class Drawdown {
  #peak: EquityPoint | undefined;
  #highest = noUnits;
  #deepest: { readonly amount: Units; readonly from: number; readonly to: number } = {
    amount: noUnits,
    from: 0,
    to: 0,
  };

  add(point: EquityPoint): void {
    const now = units(point.equity);
    const { at } = point;
    if (this.#peak === undefined) this.#deepest = { amount: noUnits, from: at, to: at };
    if (this.#peak === undefined || now > this.#highest) {
      this.#peak = point;
      this.#highest = now;
    } else if (minus(this.#highest, now) > this.#deepest.amount)
      this.#deepest = { amount: minus(this.#highest, now), from: this.#peak.at, to: at };
  }

  get view(): PerformanceView['maxDrawdown'] {
    return { ...this.#deepest, amount: unitsText(this.#deepest.amount) };
  }
}

/** A curve of so many points that stays short over years: some fills share one. */
class Curve {
  points: EquityPoint[] = [];
  readonly #most: number;
  #step = 1;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(point: EquityPoint): void {
    // The last fill is always a point.
    if (this.#count % this.#step !== 0) this.points.pop();
    this.points.push(point);
    this.#count++;
    if (this.points.length < 4 * this.#most) return;
    this.points = this.points.filter((_, index) => index % 2 === 1);
    this.#step *= 2;
  }

  /** From its lowest point to its highest, zero included. */
  get rangeSize(): Units {
    let [low, high] = [noUnits, noUnits];
    for (const { equity } of this.points) {
      low = min(low, units(equity));
      high = max(high, units(equity));
    }
    return minus(high, low);
  }

  /** Evenly spread, with the last one. */
  get thinned(): readonly EquityPoint[] {
    return thinned(this.points, this.#most);
  }
}

/** Sums of the days with fills, and the profit of one strategy after each of its fills. It goes on with the fills that are new. */
class Walk {
  readonly days = new Map<number, Sums>();
  readonly drawdown = new Drawdown();
  readonly curve = new Curve(maxPoints);
  /** By symbol. */
  readonly markets = new Map<string, Curve>();
  /** The row of the last fill. */
  until = 0;
  readonly #only: string | undefined;
  readonly #held = new Map<string, Held>();
  /** Of all that is held. */
  #profit = noUnits;
  readonly #books: PositionBooks = new Map();

  constructor(only: string | undefined) {
    this.#only = only;
  }

  goOn(reader: JournalReader, until: number): void {
    const fills = reader.pastFills(this.until, until);
    for (const booked of bookedFills(fills, reader.instruments(), averageCost, this.#books))
      if (this.#only === undefined || booked.fill.strategy === this.#only) this.#add(booked);
    this.until = until;
  }

  #add({ fill, at, before, after }: BookedFill): void {
    const one = getOrMake(this.#held, `${fill.strategy}|${fill.symbol}`, () => ({
      ...{ position: after, flatWith: noUnits, at, price: fill.price, profit: noUnits },
    }));
    Object.assign(one, { position: after, at, price: fill.price });
    const sums = getOrMake(this.days, startOf('day', fill.time), nothing);
    sums.fills++;
    sums.fees = plus(sums.fees, minus(after.fees, before.fees));
    sums.profit = plus(sums.profit, minus(earnedOf(after), earnedOf(before)));
    if (isBelowMinimum(after, at) && !isBelowMinimum(before, at)) {
      const earned = earnedOf(after);
      sums.roundTrips++;
      if (earned > one.flatWith) sums.wins++;
      one.flatWith = earned;
    }
    if (this.#only === undefined) return;
    const profit = profitOf(one);
    this.#profit = plus(this.#profit, minus(profit, one.profit));
    one.profit = profit;
    const point = { at: fill.time, equity: unitsText(this.#profit) };
    this.drawdown.add(point);
    this.curve.add(point);
    const market = getOrMake(this.markets, fill.symbol, () => new Curve(maxMarketPoints));
    market.add({ at: fill.time, equity: unitsText(profit) });
  }
}

const profitOf = ({ position, price, at }: Held): Units => plus(earnedOf(position), openProfit(position, price, at));

/** The change of the equity on each day: from the last point of the day before, or from the first one. */
function equityByDay(reader: JournalReader, moved: (point: EquityPoint) => EquityPoint): ReadonlyMap<number, Units> {
  const first = reader.firstEquity();
  let before = first === undefined ? noUnits : units(moved(first).equity);
  return new Map(
    reader.equityByDay().map((point) => {
      const { at, equity } = moved(point);
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

const thinned = (curve: readonly EquityPoint[], most: number): readonly EquityPoint[] => {
  const step = Math.ceil(curve.length / most);
  return curve.filter((_, index) => (curve.length - 1 - index) % step === 0);
};

function byMarket(markets: Walk['markets']): Pick<PerformanceView, 'markets' | 'otherMarkets'> {
  if (markets.size < 2) return { markets: [], otherMarkets: 0 };
  const drawn = [...markets]
    .map(([symbol, one]) => ({ symbol, one, size: one.rangeSize }))
    .toSorted((a, b) => (a.size < b.size ? 1 : -1))
    .slice(0, maxMarkets)
    .map(({ symbol, one }) => ({ symbol, curve: one.thinned }));
  return { markets: drawn, otherMarkets: markets.size - drawn.length };
}

/** Answers again and again of the same strategy, or of all together, and reads only what is new since the last answer. */
export class Performance {
  #strategy: string | undefined;
  #walk = new Walk(undefined);
  #answer: { readonly key: string; readonly view: PerformanceView } | undefined;

  of(reader: JournalReader, strategy: string | undefined): PerformanceView {
    const until = reader.lastFill();
    if (strategy !== this.#strategy || until < this.#walk.until) {
      this.#strategy = strategy;
      this.#walk = new Walk(strategy);
    }
    const last = reader.equity();
    const strategies = reader.strategies();
    const key = [strategy, until, last?.at, last?.equity, ...strategies].join('|');
    if (this.#answer?.key !== key) {
      this.#walk.goOn(reader, until);
      this.#answer = { key, view: { strategies, ...viewOf(reader, strategy, this.#walk) } };
    }
    return this.#answer.view;
  }
}

function viewOf(
  reader: JournalReader,
  strategy: string | undefined,
  { days: walked, curve, markets, drawdown }: Walk,
): Omit<PerformanceView, 'strategies'> {
  const days = new Map(walked);
  let points = curve.thinned;
  let deepest = drawdown;
  if (strategy === undefined) {
    const moved = withAllocationsOfNow(reader.memories());
    // A day without a fill has a change of equity, too.
    for (const [day, profit] of equityByDay(reader, moved)) days.set(day, { ...(days.get(day) ?? nothing()), profit });
    points = thinned(reader.equityCurve(maxPoints).map(moved), maxPoints);
    deepest = new Drawdown();
    for (const point of points) deepest.add(point);
  }
  const all = [...days.values()];
  const sum = (of: (sums: Sums) => number): number => all.reduce((total, sums) => total + of(sums), 0);
  return {
    periods: { day: periodsOf('day', days), week: periodsOf('week', days), month: periodsOf('month', days) },
    curve: points,
    ...byMarket(markets),
    maxDrawdown: deepest.view,
    roundTrips: sum(({ roundTrips }) => roundTrips),
    wins: sum(({ wins }) => wins),
    fees: unitsText(all.reduce((total, { fees }) => plus(total, fees), noUnits)),
  };
}
