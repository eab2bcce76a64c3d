/** Round trips: what was bought and sold again (or sold and bought back), first in, first out, net of fees. */
import type { Instrument } from '../domain/instrument.ts';
import type { MetricSeries } from './equity-input.ts';
import { excursions } from './excursions.ts';
import { dustOf, type FillTable, restsAt } from './fill-table.ts';
import type { OpenPosition, TripTable } from './trip-table.ts';

/** What one order opened and one order closed, with the remnants of either. */
export interface Trip {
  /** Index into the places of the fill table. */
  readonly place: number;
  readonly long: boolean;
  readonly entryTime: number;
  /** The first fill of its entry. */
  readonly entryFill: number;
  readonly exitTime: number;
  /** The last fill of its exit. */
  readonly exitFill: number;
  readonly quantity: number;
  /** Averages. */
  readonly entryPrice: number;
  readonly exitPrice: number;
  /** What its entry was worth, without fees, and what was earned after them: in quote, or in the currency that the fills are counted in. */
  readonly cost: number;
  readonly profit: number;
  readonly fees: number;
  /** The furthest that the price went against it and for it, as fractions of the entry price; ≤ 0 and ≥ 0. */
  readonly worst: number;
  readonly best: number;
}

/** A table without excursions while it grows. */
interface Growing extends Omit<TripTable, 'worst' | 'best' | 'entryTime' | 'exitTime' | 'open'> {
  length: number;
}

/** Part of an entry that is not closed yet. */
interface Lot {
  fill: number;
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
  readonly #trips: Growing;
  readonly #isBelowMinimum: (base: number, price: number) => boolean;
  /** Lots from `#first` to `#end` are open; those beyond are kept to be used again. */
  readonly #lots: Lot[] = [];
  #first = 0;
  #end = 0;
  #base = 0;
  /** Less than a lot, left by fees in base: it is nobody's entry, but what sells it with the next position enters nothing either. */
  #dustHeld = 0;
  /** What of its last trip was bought back as a remnant. */
  #remnants = 0;
  /** Of its last fill. */
  #price = 0;
  /** Its last trip; -1 before the first. */
  #last = -1;

  constructor(table: FillTable, place: number, at: Instrument | undefined, trips: Growing) {
    this.#table = table;
    this.#place = place;
    this.#dust = dustOf(at);
    this.#isBelowMinimum = restsAt(at);
    this.#trips = trips;
  }

  take(fill: number): void {
    const { base: bases, quote, fee, price } = this.#table;
    const base = bases[fill] as number;
    this.#price = price[fill] as number;
    let left = base;
    if (this.#base !== 0 && this.#base > 0 !== base > 0) left = this.#close(fill, base);
    if (left > 0 !== this.#dustHeld > 0) left = this.#dusted(left);
    if (Math.abs(left) <= this.#dust) {
      this.#dustHeld += left;
      return;
    }
    const share = left / base;
    const lot = this.#nextLot();
    lot.fill = fill;
    lot.base = left;
    // The fee apart: `quote` has it taken already, or it is in what of the base is missing.
    lot.cost = share * Math.abs(quote[fill] as number);
    lot.fee = share * (fee[fill] as number);
    this.#base += left;
  }

  /** What is still held; a rest that nobody can order away is not. */
  get open(): readonly OpenPosition[] {
    if (this.#first === this.#end) return [];
    const { fill, base } = this.#lots[this.#first] as Lot;
    if (this.#isBelowMinimum(this.#base, this.#price)) return [];
    const [entryTime, entryPrice] = [this.#table.time[fill] as number, this.#table.price[fill] as number];
    return [{ place: this.#place, long: base > 0, entryTime, entryPrice }];
  }

  /** What of a quantity goes beyond the dust on the other side. */
  #dusted(quantity: number): number {
    const used = Math.sign(quantity) * Math.min(Math.abs(quantity), Math.abs(this.#dustHeld));
    this.#dustHeld += used;
    return quantity - used;
  }

  #nextLot(): Lot {
    if (this.#end === this.#lots.length) this.#lots.push({ fill: 0, base: 0.5, cost: 0.5, fee: 0.5 });
    return this.#lots[this.#end++] as Lot;
  }

  /** Closes the oldest lots with a fill; what is left of it opens the other way. */
  #close(fill: number, base: number): number {
    let left = base;
    const { quote, fee } = this.#table;
    while (Math.abs(left) > this.#dust && this.#first < this.#end) {
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
        this.#dustHeld += lot.base;
        this.#first++;
      }
    }
    if (this.#first === this.#end) {
      this.#end = 0;
      this.#first = 0;
      this.#base = 0;
    }
    return left;
  }

  /**
   * Of the same two orders as the last trip; or of one of them and what an order left of a short position: it is bought back for an amount,
   * which a moved price and the fee make come up short, and the rest is bought afterwards or with the next one.
   */
  #isOfLast(lot: Lot, fill: number, quantity: number): boolean {
    const { entryFill, exitFill, quantity: quantities, long } = this.#trips;
    const last = this.#last;
    if (last < 0 || (long[last] === 1) !== lot.base > 0) return false;
    const { orders } = this.#table;
    const isEntry = orders[entryFill[last] as number] === orders[lot.fill];
    const isExit = orders[exitFill[last] as number] === orders[fill];
    if (isEntry && isExit) return true;
    const before = quantities[last] as number;
    if (lot.base > 0) return false;
    return isEntry
      ? (this.#remnants + quantity) * smallPart <= before - this.#remnants
      : isExit && before * smallPart <= quantity;
  }

  #add(lot: Lot, fill: number, quantity: number, profit: number, fees: number): void {
    const { price, orders, rate } = this.#table;
    const trips = this.#trips;
    const cost = (price[lot.fill] as number) * quantity * (rate === undefined ? 1 : (rate[lot.fill] as number));
    if (this.#isOfLast(lot, fill, quantity)) {
      const last = this.#last;
      const before = trips.quantity[last] as number;
      const all = before + quantity;
      const part = quantity / all;
      const [entry, exit] = [trips.entryPrice[last] as number, trips.exitPrice[last] as number];
      trips.entryPrice[last] = entry + ((price[lot.fill] as number) - entry) * part;
      trips.exitPrice[last] = exit + ((price[fill] as number) - exit) * part;
      trips.quantity[last] = all;
      trips.cost[last] = (trips.cost[last] as number) + cost;
      trips.profit[last] = (trips.profit[last] as number) + profit;
      trips.fees[last] = (trips.fees[last] as number) + fees;
      // A remnant moves no beginning, and of the parts of one order the first has begun it.
      const isEntry = orders[trips.entryFill[last] as number] === orders[lot.fill];
      if (!isEntry && quantity > before) trips.entryFill[last] = lot.fill;
      // A remnant that is bought later moves no end.
      const isExit = orders[trips.exitFill[last] as number] === orders[fill];
      if (isExit || quantity > before) trips.exitFill[last] = fill;
      if (!isExit) this.#remnants += quantity;
      return;
    }
    const next = trips.length++;
    trips.place[next] = this.#place;
    trips.long[next] = lot.base > 0 ? 1 : 0;
    trips.entryFill[next] = lot.fill;
    trips.exitFill[next] = fill;
    trips.quantity[next] = quantity;
    trips.entryPrice[next] = price[lot.fill] as number;
    trips.exitPrice[next] = price[fill] as number;
    trips.cost[next] = cost;
    trips.profit[next] = profit;
    trips.fees[next] = fees;
    this.#last = next;
    this.#remnants = 0;
  }
}

/** Remnants are together no more than one part of so many. */
const smallPart = 20;

/** Room for as many trips as fills can make: each closes a lot or is used up, and opens at most one. */
function growing({ length }: FillTable): Growing {
  const most = 2 * length;
  const numbers = (): Float64Array => new Float64Array(most);
  return {
    length: 0,
    place: new Uint16Array(most),
    long: new Uint8Array(most),
    entryFill: new Uint32Array(most),
    exitFill: new Uint32Array(most),
    quantity: numbers(),
    entryPrice: numbers(),
    exitPrice: numbers(),
    cost: numbers(),
    profit: numbers(),
    fees: numbers(),
  };
}

function booked(table: FillTable, instruments: ReadonlyMap<string, Instrument>) {
  const trips = growing(table);
  const books = table.places.map(({ symbol }, place) => new Book(table, place, instruments.get(symbol), trips));
  for (let fill = 0; fill < table.length; fill++) books[table.place[fill] as number]?.take(fill);
  return { trips, books };
}

/** How many round trips are closed. */
export const countTrips = (table: FillTable, instruments: ReadonlyMap<string, Instrument>): number =>
  booked(table, instruments).trips.length;

/** All closed round trips as columns, in the order in which they closed. */
export function tripTable(
  table: FillTable,
  series: readonly MetricSeries[],
  instruments: ReadonlyMap<string, Instrument>,
): TripTable {
  const { trips, books } = booked(table, instruments);
  const { length } = trips;
  const timesOf = (fills: Uint32Array): Float64Array => {
    const times = new Float64Array(length);
    for (let trip = 0; trip < length; trip++) times[trip] = table.time[fills[trip] as number] as number;
    return times;
  };
  const closed = {
    length,
    open: books.flatMap(({ open }) => open),
    place: trips.place.subarray(0, length),
    long: trips.long.subarray(0, length),
    entryFill: trips.entryFill.subarray(0, length),
    exitFill: trips.exitFill.subarray(0, length),
    quantity: trips.quantity.subarray(0, length),
    entryPrice: trips.entryPrice.subarray(0, length),
    exitPrice: trips.exitPrice.subarray(0, length),
    cost: trips.cost.subarray(0, length),
    profit: trips.profit.subarray(0, length),
    fees: trips.fees.subarray(0, length),
    entryTime: timesOf(trips.entryFill),
    exitTime: timesOf(trips.exitFill),
  };
  return { ...closed, ...excursions(closed, table, series) };
}

/** The same, an object for each: for those who show them. */
export function tripsOf(table: TripTable): readonly Trip[] {
  const at = (column: Float64Array | Uint32Array | Uint16Array, index: number): number => column[index] as number;
  return Array.from({ length: table.length }, (_, index) => ({
    place: at(table.place, index),
    long: table.long[index] === 1,
    entryTime: at(table.entryTime, index),
    entryFill: at(table.entryFill, index),
    exitTime: at(table.exitTime, index),
    exitFill: at(table.exitFill, index),
    quantity: at(table.quantity, index),
    entryPrice: at(table.entryPrice, index),
    exitPrice: at(table.exitPrice, index),
    cost: at(table.cost, index),
    profit: at(table.profit, index),
    fees: at(table.fees, index),
    worst: at(table.worst, index),
    best: at(table.best, index),
  }));
}
