/** Round trips: what one order opened and another closed, first in, first out, net of fees. A position closed in parts counts as several. */
import type { Instrument } from '../domain/instrument.ts';
import { addExcursions } from './excursions.ts';
import { dustOf, type FillTable, restsAt } from './fill-table.ts';
import { emptyColumns, type OpenPosition, type RoundTripColumns, type RoundTripTable } from './round-trip-table.ts';
import type { MetricSeries } from './series.ts';

const columnNames = Object.keys(emptyColumns(0)) as (keyof RoundTripColumns)[];

/** One row of the table, for those who show it. */
export type RoundTrip = Readonly<Record<Exclude<keyof RoundTripColumns, 'long'>, number>> & { readonly long: boolean };

export const roundTripsOf = (table: RoundTripTable): readonly RoundTrip[] =>
  Array.from({ length: table.length }, (_, row) => {
    const values = Object.fromEntries(columnNames.map((name) => [name, table[name][row]]));
    return { ...values, long: table.long[row] === 1 } as RoundTrip;
  });

/** Part of an entry that is not closed. */
interface Lot {
  fill: number;
  base: number;
  /** Of the remaining base, in quote. */
  cost: number;
  fee: number;
}

type Growing = RoundTripColumns & { length: number };

/** Together, remnants are at most one part in this many. */
const smallPart = 20;

/** The open lots of one strategy at one symbol while its fills pass. */
class Lots {
  readonly #position: number;
  readonly #dust: number;
  readonly #table: FillTable;
  readonly #trips: Growing;
  readonly #isRest: (base: number, price: number) => boolean;
  /** Lots from `#first` to `#end` are open; those beyond are reused. */
  readonly #lots: Lot[] = [];
  #first = 0;
  #end = 0;
  #base = 0;
  /** Less than a lot, left by fees in base: it is part of no entry, and selling it with the next position enters nothing. */
  #dustBase = 0;
  /** The part of the last round trip that was bought back as a remnant. */
  #remnants = 0;
  #lastPrice = 0;
  /** Row of its last round trip; -1 before the first. */
  #last = -1;

  constructor(table: FillTable, position: number, at: Instrument | undefined, trips: Growing) {
    this.#table = table;
    this.#position = position;
    this.#dust = dustOf(at);
    this.#isRest = restsAt(at);
    this.#trips = trips;
  }

  take(fill: number): void {
    const { base: bases, quote, fee, price } = this.#table;
    const base = bases[fill] as number;
    this.#lastPrice = price[fill] as number;
    let left = base;
    if (this.#base !== 0 && this.#base > 0 !== base > 0) left = this.#close(fill, base);
    if (left > 0 !== this.#dustBase > 0) left = this.#withoutDust(left);
    if (Math.abs(left) <= this.#dust) {
      this.#dustBase += left;
      return;
    }
    const share = left / base;
    const lot = this.#nextLot();
    lot.fill = fill;
    lot.base = left;
    // Without the fee: `quote` includes it already, or it is what is missing of the base.
    lot.cost = share * Math.abs(quote[fill] as number);
    lot.fee = share * (fee[fill] as number);
    this.#base += left;
  }

  /** The open position, unless it is below the minimum order. */
  get open(): readonly OpenPosition[] {
    if (this.#first === this.#end || this.#isRest(this.#base, this.#lastPrice)) return [];
    const { fill, base } = this.#lots[this.#first] as Lot;
    const [entryTime, entryPrice] = [this.#table.time[fill] as number, this.#table.price[fill] as number];
    return [{ position: this.#position, long: base > 0, entryTime, entryPrice }];
  }

  /** The part of a quantity that exceeds the dust of the other side. */
  #withoutDust(quantity: number): number {
    const used = Math.sign(quantity) * Math.min(Math.abs(quantity), Math.abs(this.#dustBase));
    this.#dustBase += used;
    return quantity - used;
  }

  #nextLot(): Lot {
    // Halves, so that V8 stores the fields as doubles.
    if (this.#end === this.#lots.length) this.#lots.push({ fill: 0, base: 0.5, cost: 0.5, fee: 0.5 });
    return this.#lots[this.#end++] as Lot;
  }

  /** Closes the oldest lots with a fill; what is left of the fill opens the other side. */
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
      // What a fee in base left behind cannot be sold: the round trip is over, and the dust is part of no entry.
      if (Math.abs(lot.base) <= this.#dust) {
        this.#base -= lot.base;
        this.#dustBase += lot.base;
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
   * Whether it belongs to the last round trip: it has the same two orders, or one of them and a remnant of a short position. A short
   * position is bought back for an amount. After a price move and the fee, a remnant is left, which is bought later.
   */
  #continuesLast(lot: Lot, fill: number, quantity: number): boolean {
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
    const { price, rate } = this.#table;
    const cost = (price[lot.fill] as number) * quantity * (rate === undefined ? 1 : (rate[lot.fill] as number));
    if (this.#continuesLast(lot, fill, quantity)) {
      this.#extendLast(lot, fill, quantity);
      const { cost: costs, profit: profits, fees: allFees } = this.#trips;
      const last = this.#last;
      costs[last] = (costs[last] as number) + cost;
      profits[last] = (profits[last] as number) + profit;
      allFees[last] = (allFees[last] as number) + fees;
      return;
    }
    const trips = this.#trips;
    const row = trips.length++;
    trips.position[row] = this.#position;
    trips.long[row] = lot.base > 0 ? 1 : 0;
    trips.entryFill[row] = lot.fill;
    trips.exitFill[row] = fill;
    trips.quantity[row] = quantity;
    trips.entryPrice[row] = price[lot.fill] as number;
    trips.exitPrice[row] = price[fill] as number;
    trips.cost[row] = cost;
    trips.profit[row] = profit;
    trips.fees[row] = fees;
    this.#last = row;
    this.#remnants = 0;
  }

  #extendLast(lot: Lot, fill: number, quantity: number): void {
    const { price, orders } = this.#table;
    const { quantity: quantities, entryPrice, exitPrice, entryFill, exitFill } = this.#trips;
    const last = this.#last;
    const before = quantities[last] as number;
    const part = quantity / (before + quantity);
    const [entry, exit] = [entryPrice[last] as number, exitPrice[last] as number];
    entryPrice[last] = entry + ((price[lot.fill] as number) - entry) * part;
    exitPrice[last] = exit + ((price[fill] as number) - exit) * part;
    quantities[last] = before + quantity;
    // A remnant moves neither the entry nor the exit.
    const isEntry = orders[entryFill[last] as number] === orders[lot.fill];
    if (!isEntry && quantity > before) entryFill[last] = lot.fill;
    const isExit = orders[exitFill[last] as number] === orders[fill];
    if (isExit || quantity > before) exitFill[last] = fill;
    if (!isExit) this.#remnants += quantity;
  }
}

function collect(table: FillTable, instruments: ReadonlyMap<string, Instrument>) {
  // Each fill closes a lot or is used up, and opens at most one.
  const most = 2 * table.length;
  const trips: Growing = { ...emptyColumns(most), length: 0 };
  const lots = table.positions.map(({ symbol }, position) => new Lots(table, position, instruments.get(symbol), trips));
  for (let fill = 0; fill < table.length; fill++) lots[table.position[fill] as number]?.take(fill);
  return { trips, lots };
}

export const countRoundTrips = (table: FillTable, instruments: ReadonlyMap<string, Instrument>): number =>
  collect(table, instruments).trips.length;

export function roundTripTable(
  table: FillTable,
  series: readonly MetricSeries[],
  instruments: ReadonlyMap<string, Instrument>,
): RoundTripTable {
  const { trips, lots } = collect(table, instruments);
  const { length } = trips;
  const closed: RoundTripTable = { ...emptyColumns(length), length, open: lots.flatMap(({ open }) => open) };
  for (const name of columnNames) closed[name].set(trips[name].subarray(0, length));
  for (let row = 0; row < length; row++) {
    closed.entryTime[row] = table.time[closed.entryFill[row] as number] as number;
    closed.exitTime[row] = table.time[closed.exitFill[row] as number] as number;
  }
  addExcursions(closed, table, series);
  return closed;
}
