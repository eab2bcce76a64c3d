/** Round trips: what was bought and sold again (or sold and bought back), first in, first out, net of fees. */
import type { Instrument } from '../domain/instrument.ts';
import { closeTime } from '../domain/interval.ts';
import { dustOf, type FillTable } from './fill-table.ts';
import type { MetricSeries } from './walkable.ts';

/** What one order opened and one order closed. */
export interface Trip {
  /** Index into the places of the fill table. */
  readonly place: number;
  readonly long: boolean;
  readonly entryTime: number;
  /** The first fill of its entry. */
  readonly entryFill: number;
  exitTime: number;
  /** The last fill of its exit. */
  exitFill: number;
  quantity: number;
  /** Averages. */
  entryPrice: number;
  exitPrice: number;
  /** In quote, after fees. */
  profit: number;
  fees: number;
  /** The furthest that the price went against it and for it, as fractions of the entry price; ≤ 0 and ≥ 0. */
  worst: number;
  best: number;
}

/** Part of an entry that is not closed yet. */
interface Lot {
  readonly fill: number;
  readonly order: string | number;
  base: number;
  /** Of the base that is left, in quote. */
  cost: number;
  fee: number;
}

/** Positions of one strategy at one symbol while its fills go by. */
class Book {
  readonly #place: number;
  readonly #dust: number;
  readonly #table: FillTable;
  readonly #trips: Trip[];
  readonly #lots: Lot[] = [];
  #first = 0;
  #base = 0;
  #last: { readonly trip: Trip; readonly entry: string | number; readonly exit: string | number } | undefined;

  constructor(table: FillTable, place: number, dust: number, trips: Trip[]) {
    this.#table = table;
    this.#place = place;
    this.#dust = dust;
    this.#trips = trips;
  }

  take(fill: number): void {
    const base = this.#table.base[fill] as number;
    let left = base;
    if (this.#base !== 0 && this.#base > 0 !== base > 0) left = this.#close(fill, base);
    if (Math.abs(left) <= this.#dust) return;
    const share = left / base;
    const { quote, fee } = this.#table;
    this.#lots.push({
      fill,
      order: this.#table.orders[fill] as string | number,
      base: left,
      // The fee apart: `quote` has it taken already, or it is in what of the base is missing.
      cost: share * Math.abs(quote[fill] as number),
      fee: share * (fee[fill] as number),
    });
    this.#base += left;
  }

  /** Closes the oldest lots with a fill; what is left of it opens the other way. */
  #close(fill: number, base: number): number {
    let left = base;
    const { quote, fee } = this.#table;
    while (Math.abs(left) > this.#dust && this.#first < this.#lots.length) {
      const lot = this.#lots[this.#first] as Lot;
      const closed = Math.min(Math.abs(left), Math.abs(lot.base));
      const ofLot = closed / Math.abs(lot.base);
      const ofFill = closed / Math.abs(base);
      const paid = lot.cost * ofLot;
      const got = Math.abs(quote[fill] as number) * ofFill;
      const long = lot.base > 0;
      this.#add(lot, fill, closed, long ? got - paid : paid - got, lot.fee * ofLot + (fee[fill] as number) * ofFill);
      lot.cost -= paid;
      lot.fee -= lot.fee * ofLot;
      lot.base -= Math.sign(lot.base) * closed;
      left -= Math.sign(left) * closed;
      this.#base -= long ? closed : -closed;
      // What a fee in base left behind cannot be sold: the trip is over, and the dust is nobody's entry.
      if (Math.abs(lot.base) <= this.#dust) {
        this.#base -= lot.base;
        this.#first++;
      }
    }
    if (this.#first === this.#lots.length) {
      this.#lots.length = 0;
      this.#first = 0;
      this.#base = 0;
    }
    return left;
  }

  #add(lot: Lot, fill: number, quantity: number, profit: number, fees: number): void {
    const { time, price, orders } = this.#table;
    const exit = orders[fill] as string | number;
    const last = this.#last;
    if (last !== undefined && last.entry === lot.order && last.exit === exit) {
      const { trip } = last;
      const all = trip.quantity + quantity;
      trip.entryPrice += ((price[lot.fill] as number) - trip.entryPrice) * (quantity / all);
      trip.exitPrice += ((price[fill] as number) - trip.exitPrice) * (quantity / all);
      trip.quantity = all;
      trip.profit += profit;
      trip.fees += fees;
      trip.exitFill = fill;
      trip.exitTime = time[fill] as number;
      return;
    }
    const trip: Trip = {
      place: this.#place,
      long: lot.base > 0,
      entryTime: time[lot.fill] as number,
      entryFill: lot.fill,
      exitTime: time[fill] as number,
      exitFill: fill,
      quantity,
      entryPrice: price[lot.fill] as number,
      exitPrice: price[fill] as number,
      profit,
      fees,
      worst: 0,
      best: 0,
    };
    this.#trips.push(trip);
    this.#last = { trip, entry: lot.order, exit };
  }
}

/** Rows whose extremes are kept together. */
const blockRows = 512;

/** Lowest low and highest high of rows, in blocks: a position held for years would be read through again and again otherwise. */
function extremesOf({ columns }: MetricSeries): (from: number, to: number) => readonly [low: number, high: number] {
  const { low, high } = columns;
  const blocks: ([number, number] | undefined)[] = [];
  const plain = (from: number, to: number): [number, number] => {
    let lowest = Number.POSITIVE_INFINITY;
    let highest = Number.NEGATIVE_INFINITY;
    for (let row = from; row < to; row++) {
      if ((low[row] as number) < lowest) lowest = low[row] as number;
      if ((high[row] as number) > highest) highest = high[row] as number;
    }
    return [lowest, highest];
  };
  return (from, to) => {
    if (to - from < 3 * blockRows) return plain(from, to);
    const firstBlock = Math.ceil(from / blockRows);
    const lastBlock = Math.floor(to / blockRows);
    const parts = [plain(from, firstBlock * blockRows), plain(lastBlock * blockRows, to)];
    for (let block = firstBlock; block < lastBlock; block++) {
      blocks[block] ??= plain(block * blockRows, (block + 1) * blockRows);
      parts.push(blocks[block] as [number, number]);
    }
    return [Math.min(...parts.map(([lowest]) => lowest)), Math.max(...parts.map(([, highest]) => highest))];
  };
}

/** Fills the excursions in: from the kline of the entry to that of the exit, unless the exit was at its open. */
function measure(trips: readonly Trip[], table: FillTable, series: readonly MetricSeries[]): void {
  const bySymbol = new Map(
    series.map((one) => [one.symbol, { series: one, extremes: extremesOf(one), row: one.first }]),
  );
  const ofPlace = table.places.map(({ symbol }) => bySymbol.get(symbol));
  for (const trip of trips) {
    const found = ofPlace[trip.place];
    if (found === undefined) continue;
    const { interval, columns, first, end } = found.series;
    const { openTime } = columns;
    const from = rowOf(openTime, found.row, first, end, trip.entryTime);
    found.row = from;
    let to = rowOf(openTime, from, first, end, trip.exitTime);
    if ((openTime[to] as number) < trip.exitTime && trip.exitTime <= closeTime(interval, openTime[to] as number)) to++;
    const [lowest, highest] = to > from ? found.extremes(from, to) : [trip.exitPrice, trip.exitPrice];
    const low = Math.min(lowest, trip.exitPrice, trip.entryPrice) / trip.entryPrice - 1;
    const high = Math.max(highest, trip.exitPrice, trip.entryPrice) / trip.entryPrice - 1;
    trip.worst = trip.long ? low : -high;
    trip.best = trip.long ? high : -low;
  }
}

/** The row whose kline holds a time; looks from `near` on first, since trips come in the order of time. */
function rowOf(openTime: Float64Array, near: number, first: number, end: number, time: number): number {
  let low = (openTime[near] as number) <= time ? near : first;
  let step = 1;
  while (low + step < end && (openTime[low + step] as number) <= time) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, end);
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((openTime[middle] as number) <= time) low = middle;
    else high = middle;
  }
  return low;
}

/** All closed round trips, in the order in which they closed. */
export function roundTrips(
  table: FillTable,
  series: readonly MetricSeries[],
  instruments: ReadonlyMap<string, Instrument>,
): readonly Trip[] {
  const trips: Trip[] = [];
  const books = table.places.map(({ symbol }, place) => new Book(table, place, dustOf(instruments.get(symbol)), trips));
  for (let fill = 0; fill < table.length; fill++) books[table.place[fill] as number]?.take(fill);
  measure(trips, table, series);
  return trips;
}
