/** Equity in one currency while some of the money is in others. */
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { type Units, units } from '../domain/money.ts';
import type { FillTable } from './fill-table.ts';
import { rowsClosedBy } from './series.ts';

/** What one unit of another currency is worth: the close of the last kline of its pair that had closed. */
export class RateLine {
  readonly #interval: Interval;
  readonly #columns: Columns;

  constructor(interval: Interval, columns: Columns) {
    this.#interval = interval;
    this.#columns = columns;
  }

  /** The row of the last kline that has closed by a time, UTC ms; -1 before the first. */
  rowAt(time: number): number {
    const { openTime } = this.#columns;
    return rowsClosedBy(openTime, this.#interval, time, { from: 0, end: openTime.length }) - 1;
  }

  closeOf(row: number): number {
    return closeTime(this.#interval, this.#columns.openTime[row] as number);
  }

  /** The rate at a time, UTC ms, from the first close on. */
  at(time: number): number {
    const rate = this.#columns.close[this.rowAt(time)];
    if (rate === undefined) throw new Error('there is no rate before the first close');
    return rate;
  }

  /** The highest age of a rate in a span, ms, and the time at which it had that age. */
  oldest(start: number, end: number): { readonly ageMs: number; readonly at: number } {
    let oldest = { ageMs: 0, at: start };
    for (let row = Math.max(0, this.rowAt(start)); row < this.#columns.openTime.length; row++) {
      const closed = this.closeOf(row);
      if (closed > end) break;
      const next = row + 1 < this.#columns.openTime.length ? Math.min(end, this.closeOf(row + 1)) : end;
      if (next - closed > oldest.ageMs) oldest = { ageMs: next - closed, at: next };
    }
    return oldest;
  }
}

/** The currencies of a run beside the one of its equity. */
export interface Rates {
  /** By asset. */
  readonly lines: ReadonlyMap<string, RateLine>;
  /** The other currency that a symbol is paid in. */
  readonly of: ReadonlyMap<string, string>;
  /** The amount of each at the start. */
  readonly cash: ReadonlyMap<string, number>;
}

/** The rate of a symbol's quote currency at a time. */
export function rateOf(rates: Rates | undefined, symbol: string, time: number): number {
  const asset = rates?.of.get(symbol);
  const line = asset === undefined ? undefined : rates?.lines.get(asset);
  return line === undefined ? 1 : line.at(time);
}

/** The fills in the currency of the equity, each at the rate of its time. */
export function converted(table: FillTable, rates: Rates): FillTable {
  const factor = Float64Array.from({ length: table.length }, (_, fill) =>
    rateOf(rates, table.positions[table.position[fill] as number]?.symbol ?? '', table.time[fill] as number),
  );
  const times = (column: Float64Array): Float64Array => column.map((value, fill) => value * (factor[fill] as number));
  const fee = times(table.fee);
  const turnover = table.price.map(
    (price, fill) => price * Math.abs(table.quantity[fill] as number) * (factor[fill] as number),
  );
  return { ...table, quote: times(table.quote), fee, rate: factor, fees: summed(fee), turnover: summed(turnover) };
}

/** A sum of converted amounts, rounded: each contains a rate. */
const summed = (amounts: Float64Array): Units => units(amounts.reduce((sum, one) => sum + one, 0).toFixed(8));

export class Balances {
  readonly #rates: Rates | undefined;
  readonly #others: Map<string, number>;
  #own: number;

  /** `cash`: all of it in the currency of the equity, at the start. */
  constructor({ cash, rates }: { readonly cash: number; readonly rates?: Rates }, start: number) {
    this.#rates = rates;
    this.#own = cash;
    this.#others = new Map(rates?.cash);
    for (const [asset, amount] of this.#others) this.#own -= amount * (rates?.lines.get(asset)?.at(start) ?? 0);
  }

  /** Adds to a currency; to the one of the equity unless it is one of the others. */
  move(asset: string | undefined, amount: number): void {
    const known = asset === undefined ? undefined : this.#others.get(asset);
    if (asset === undefined || known === undefined) this.#own += amount;
    else this.#others.set(asset, known + amount);
  }

  worth(time: number): number {
    let total = this.#own;
    for (const [asset, amount] of this.#others) total += amount * (this.#rates?.lines.get(asset)?.at(time) ?? 0);
    return total;
  }
}
