/** What a strategy holds and has in flight on one symbol, exact and in numbers. */
import type { Instrument } from '../domain/instrument.ts';
import { minus, noTicks, plus, type Ticks, type Units, unitsNumber } from '../domain/money.ts';
import { isBelowMinimum, noPosition, type Position } from '../domain/position.ts';
import type { WorkingOrder } from './working-order.ts';

/** A position in numbers. */
interface Estimate {
  /** Allocation plus closed profit, less fees. */
  readonly closed: number;
  readonly base: number;
  readonly cost: number;
  /** What is held is less than anybody can order away. */
  readonly isFlat: boolean;
}

export class Place {
  readonly strategy: string;
  readonly orders: WorkingOrder[] = [];
  #allocation: Units;
  #position: Position = noPosition;
  /** Grows with each fill, charge and payment. */
  version = 0;
  /** Grows with each order that is added or ends. */
  orderChanges = 0;
  /** Grows with each position that is entered from flat or turned round. */
  entries = 0;
  /** When that was, UTC ms, and at what price. */
  enteredAt = Number.NaN;
  enteredPrice: Ticks = noTicks;
  #estimate: Estimate | undefined;
  readonly #instrumentNow: () => Instrument;

  constructor(strategy: string, instrumentNow: () => Instrument, allocation: Units) {
    this.strategy = strategy;
    this.#instrumentNow = instrumentNow;
    this.#allocation = allocation;
  }

  /** As the exchange lists it now: its steps and minima can change while a daemon runs. */
  get instrument(): Instrument {
    return this.#instrumentNow();
  }

  get allocation(): Units {
    return this.#allocation;
  }
  set allocation(amount: Units) {
    this.#allocation = amount;
    this.#changed();
  }

  get position(): Position {
    return this.#position;
  }
  set position(position: Position) {
    this.#position = position;
    this.#changed();
  }

  #changed(): void {
    this.version++;
    this.#estimate = undefined;
  }

  /** True when nothing is held, or less than anybody can order away: fees and amounts leave that behind, and it is no position. */
  get isFlat(): boolean {
    return this.estimate.isFlat;
  }

  get isLong(): boolean {
    return this.#position.base > 0n;
  }

  /** The place in numbers, calculated once after each fill. */
  get estimate(): Estimate {
    this.#estimate ??= this.#estimated();
    return this.#estimate;
  }

  #estimated(): Estimate {
    const { base, cost, realised, fees } = this.#position;
    const closed = unitsNumber(minus(plus(this.#allocation, realised), fees));
    const isFlat = isBelowMinimum(this.#position, this.instrument);
    return { closed, base: unitsNumber(base), cost: unitsNumber(cost), isFlat };
  }
}

export class LiveHolding {
  readonly #place: Place;
  readonly #price: () => number | undefined;

  constructor(place: Place, price: () => number | undefined) {
    this.#place = place;
    this.#price = price;
  }

  /** Base asset held; 0 is flat, also when a fee in base has left less than a lot: nobody can sell that. */
  get quantity(): number {
    const { base, isFlat } = this.#place.estimate;
    return isFlat ? 0 : base;
  }

  /** Average price of what is held; NaN when flat. */
  get entryPrice(): number {
    const { base, cost, isFlat } = this.#place.estimate;
    return isFlat ? Number.NaN : cost / base;
  }

  /** Allocation plus profit, open and closed, fees taken, in quote. */
  get equity(): number {
    const { closed, base, cost } = this.#place.estimate;
    const price = base === 0 ? undefined : this.#price();
    return price === undefined ? closed : closed + base * price - cost;
  }
}
