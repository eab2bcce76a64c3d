/** What a strategy holds and has in flight on one symbol, exact and in numbers. */
import type { Instrument } from '../domain/instrument.ts';
import { minus, plus, type Ticks, type Units, unitsNumber } from '../domain/money.ts';
import { isRest, type Position } from '../domain/position.ts';
import type { WorkingOrder } from './working-order.ts';

export interface Place {
  allocation: Units;
  readonly instrument: Instrument;
  position: Position;
  readonly orders: WorkingOrder[];
  /** Grows with each fill: what was derived from the position before is stale. */
  version: number;
  /** Grows with each order that is added or ends. */
  orderChanges: number;
  /** Grows with each position that is entered from flat or turned round. */
  entries: number;
  /** When that was, UTC ms, and at what price. */
  enteredAt: number;
  enteredPrice: Ticks;
  estimate: Estimate | undefined;
}

/** A place in numbers, as of a version. */
interface Estimate {
  readonly version: number;
  readonly closed: number;
  readonly base: number;
  readonly cost: number;
  /** What is held is a rest that nobody can order away. */
  readonly isFlat: boolean;
}

/** A place in numbers, worked out once after each fill. */
export function estimated(place: Place): Estimate {
  const { allocation, position, version, estimate } = place;
  if (estimate?.version === version) return estimate;
  const closed = unitsNumber(minus(plus(allocation, position.realised), position.fees));
  const isFlat = isRest(position, place.instrument);
  place.estimate = { version, closed, base: unitsNumber(position.base), cost: unitsNumber(position.cost), isFlat };
  return place.estimate;
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
    const { base, isFlat } = estimated(this.#place);
    return isFlat ? 0 : base;
  }

  /** Average price of what is held; NaN when flat. */
  get entryPrice(): number {
    const { base, cost, isFlat } = estimated(this.#place);
    return isFlat ? Number.NaN : cost / base;
  }

  /** Allocation plus profit, open and closed, fees taken, in quote. */
  get equity(): number {
    const { closed, base, cost } = estimated(this.#place);
    const price = base === 0 ? undefined : this.#price();
    return price === undefined ? closed : closed + base * price - cost;
  }
}
