/** Equity that is counted in one currency while some of it is kept and traded in others. */
import { closeTime, type Interval } from '../domain/interval.ts';
import type { Columns } from '../domain/market.ts';
import { type Units, units, unitsNumber } from '../domain/money.ts';
import type { FillTable } from './fill-table.ts';

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
    let [low, high] = [0, openTime.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.closeOf(middle) <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** When a row closed, UTC ms. */
  closeOf(row: number): number {
    return closeTime(this.#interval, this.#columns.openTime[row] as number);
  }

  /** At a time, UTC ms; before the first close there is none, and asking is a mistake. */
  at(time: number): number {
    const rate = this.#columns.close[this.rowAt(time)];
    if (rate === undefined) throw new Error('a rate was asked for before there was one');
    return rate;
  }

  /** The longest that a rate had to serve in a span, ms, and at what time; a kline later there would be a new one without gaps. */
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

/** The currencies of a run beside the one that its equity is counted in. */
export interface Rates {
  /** By asset. */
  readonly lines: ReadonlyMap<string, RateLine>;
  /** In which of them a symbol is paid; none for those that are paid in the currency of the equity. */
  readonly of: ReadonlyMap<string, string>;
  /** What there was of each at the start. */
  readonly cash: ReadonlyMap<string, number>;
}

/** The rate of a symbol's quote currency at a time. */
export function rateOf(rates: Rates | undefined, symbol: string, time: number): number {
  const asset = rates?.of.get(symbol);
  const line = asset === undefined ? undefined : rates?.lines.get(asset);
  return line === undefined ? 1 : line.at(time);
}

/** The fills with what they moved, paid and turned over in the currency of the equity, each at the rate of its own time. */
export function converted(table: FillTable, rates: Rates): FillTable {
  const factor = Float64Array.from({ length: table.length }, (_, fill) =>
    rateOf(rates, table.places[table.place[fill] as number]?.symbol ?? '', table.time[fill] as number),
  );
  const times = (column: Float64Array): Float64Array => column.map((value, fill) => value * (factor[fill] as number));
  const fee = times(table.fee);
  const turnover = table.price.map(
    (price, fill) => price * Math.abs(table.quantity[fill] as number) * (factor[fill] as number),
  );
  return { ...table, quote: times(table.quote), fee, rate: factor, fees: summed(fee), turnover: summed(turnover) };
}

/** A sum of converted amounts: rounded, since each has a rate in it. */
const summed = (amounts: Float64Array): Units => units(amounts.reduce((sum, one) => sum + one, 0).toFixed(8));

/** All the cash at the start, in the currency of the equity. */
export const cashAt = (own: Units, rates: Rates, start: number): number => {
  let total = unitsNumber(own);
  for (const [asset, amount] of rates.cash) total += amount * (rates.lines.get(asset)?.at(start) ?? 0);
  return total;
};

/** Cash by currency. */
export class Balances {
  readonly #rates: Rates | undefined;
  readonly #others: Map<string, number>;
  #own: number;

  /** `cash` is all of it, as of the start. */
  constructor({ cash, rates }: { readonly cash: number; readonly rates?: Rates }, start: number) {
    this.#rates = rates;
    this.#own = cash;
    this.#others = new Map(rates?.cash);
    for (const [asset, amount] of this.#others) this.#own -= amount * (rates?.lines.get(asset)?.at(start) ?? 0);
  }

  /** Adds to a currency; to that of the equity where it is none of the others. */
  move(asset: string | undefined, amount: number): void {
    const known = asset === undefined ? undefined : this.#others.get(asset);
    if (asset === undefined || known === undefined) this.#own += amount;
    else this.#others.set(asset, known + amount);
  }

  /** All of it in the currency of the equity, at a time. */
  worth(time: number): number {
    let total = this.#own;
    for (const [asset, amount] of this.#others) total += amount * (this.#rates?.lines.get(asset)?.at(time) ?? 0);
    return total;
  }
}
