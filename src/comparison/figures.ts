/** Figures of a strategy from its fills, by the same definitions live and in a backtest. */
import type { DayPair, SideFigures } from '../dashboard/machine/comparison.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import type { Instrument } from '../domain/instrument.ts';
import { unitsNumber } from '../domain/money.ts';
import type { Fill } from '../domain/order.ts';
import { fillTable } from '../research/fill-table.ts';
import { roundTripTable } from '../research/round-trips.ts';

const dayMs = 86_400_000;
/** The longest list of days that is answered. */
const maxDays = 62;

/** Rates by the day of less than a day would be guesses. */
const minDays = 1;

/** What is known of one strategy, live or in a backtest. */
export interface Results {
  readonly fills: readonly Fill[];
  readonly instruments: ReadonlyMap<string, Instrument>;
  /** UTC ms. */
  readonly from: number;
  readonly to: number;
  /** In quote; undefined where it is not known. */
  readonly capital: number | undefined;
  readonly slippage: number | null;
  readonly denialShare: number | null;
}

const share = (part: number, whole: number | undefined): number | null =>
  whole === undefined || whole === 0 ? null : part / whole;
const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

/** Results with their fills in numbers and round trips: calculated once for all figures. */
export function measured(results: Results) {
  const table = fillTable(results.fills, results.instruments);
  return { ...results, table, trips: roundTripTable(table, [], results.instruments) };
}
export type Measured = ReturnType<typeof measured>;

/** What fills paid beyond a price, of their value at it. */
export class PaidBeyond {
  #paid = 0;
  #value = 0;

  add({ side, quantity, price }: Paid, than: number): void {
    const beyond = quantity * (price - than);
    this.#paid += side === 'BUY' ? beyond : -beyond;
    this.#value += quantity * than;
  }

  /** Null without a fill. */
  get share(): number | null {
    return share(this.#paid, this.#value);
  }
}

export function figuresOf({ from, to, capital, slippage, denialShare, table, trips }: Measured): SideFigures {
  const days = (to - from) / dayMs;
  const profit = sum(trips.profit);
  const wins = trips.profit.filter((one) => one > 0).length;
  const gain = share(profit, capital);
  const whole = days < minDays ? undefined : days;
  return {
    ...{ from, to, days, fills: table.length, roundTrips: trips.length, slippage, denialShare },
    returnPerDay: gain === null ? null : share(gain, whole),
    fillsPerDay: share(table.length, whole),
    feePerFill: share(unitsNumber(table.fees), unitsNumber(table.turnover)),
    winRate: share(wins, trips.length),
  };
}

interface Span {
  readonly from: number;
  readonly to: number;
}
const isIn = ({ from, to }: Span, time: number): boolean => time >= from && time <= to;

interface Day {
  profit: number;
  fills: number;
}

/** Profit on the day of each exit, and fills, within a span. */
function daysOf({ table, trips }: Measured, span: Span): ReadonlyMap<number, Day> {
  const days = new Map<number, Day>();
  const dayOf = (time: number): Day =>
    getOrMake(days, Math.floor(time / dayMs) * dayMs, () => ({ profit: 0, fills: 0 }));
  for (let trip = 0; trip < trips.length; trip++) {
    const time = trips.exitTime[trip] as number;
    if (isIn(span, time)) dayOf(time).profit += trips.profit[trip] as number;
  }
  for (const time of table.time) if (isIn(span, time)) dayOf(time).fills++;
  return days;
}

interface Paid {
  readonly side: Fill['side'];
  readonly quantity: number;
  readonly price: number;
}
interface PaidAt extends Paid {
  readonly time: number;
}

/** Fills within a span by symbol and side, oldest first. */
function paidIn({ fills, table }: Measured, span: Span): ReadonlyMap<string, readonly PaidAt[]> {
  const rows = fills.map(({ symbol, side, time }, row) => ({
    what: `${symbol} ${side}`,
    ...{ side, time, quantity: Math.abs(table.quantity[row] as number), price: table.price[row] as number },
  }));
  return Map.groupBy(
    rows.filter(({ time }) => isIn(span, time)),
    ({ what }) => what,
  );
}

/**
 * What `live` paid beyond `backtest`, of its value: each fill beside the nearest one of the same symbol and side, at most `withinMs` away. Null
 * where no two fit.
 */
function priceDifferenceOf(live: Measured, backtest: Measured, span: Span, withinMs: number) {
  const others = paidIn(backtest, span);
  const paid = new PaidBeyond();
  let [matched, fills] = [0, 0];
  for (const [what, own] of paidIn(live, span)) {
    const its = others.get(what) ?? [];
    let next = 0;
    for (const fill of own) {
      fills++;
      const away = (at: number): number => Math.abs((its[at] as PaidAt).time - fill.time);
      while (next + 1 < its.length && away(next + 1) <= away(next)) next++;
      const nearest = its[next];
      if (nearest === undefined || away(next) > withinMs) continue;
      matched++;
      paid.add(fill, nearest.price);
    }
  }
  const of = paid.share;
  return of === null ? null : { of, matched, fills };
}

const none: Day = { profit: 0, fills: 0 };

/** The time that both cover, by days, newest first. `withinMs`: how far apart two fills of one decision may be. */
export function sameDays(live: Measured, backtest: Measured, withinMs: number) {
  const span = { from: Math.max(live.from, backtest.from), to: Math.min(live.to, backtest.to) };
  const [own, other] = [daysOf(live, span), daysOf(backtest, span)];
  const first = Math.floor(span.from / dayMs) * dayMs;
  const count = Math.max(0, Math.ceil((span.to - first) / dayMs));
  const all = Array.from({ length: count }, (_, index) => first + index * dayMs);
  const figures = ({ profit, fills }: Day, { capital }: Results) => ({ return: share(profit, capital), fills });
  const days = all
    .slice(-maxDays)
    .reverse()
    .map((day): DayPair => {
      const [mine, its] = [own.get(day) ?? none, other.get(day) ?? none];
      return { day, live: figures(mine, live), backtest: figures(its, backtest) };
    });
  return { days, priceDifference: priceDifferenceOf(live, backtest, span, withinMs) };
}
