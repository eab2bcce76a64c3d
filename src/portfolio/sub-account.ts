/** A strategy's position on one symbol, in exact amounts and in numbers, and the money that its sub-accounts share. */
import type { Instrument } from '../domain/instrument.ts';
import {
  averageTicks,
  max,
  minus,
  noTicks,
  noUnits,
  plus,
  priceNumber,
  type Ticks,
  type Units,
  unitsNumber,
} from '../domain/money.ts';
import type { Fill, Purpose } from '../domain/order.ts';
import { type Exit, earnedOf, exitReason, isBelowMinimum, noPosition, type Position } from '../domain/position.ts';
import type { Extremes } from './held-klines.ts';
import type { WorkingOrder } from './working-order.ts';

/** The order that closed a position, and what came of it. */
export interface ClosingOrder extends Omit<Exit, 'reason'> {
  readonly purpose: Purpose;
  readonly clientOrderId: string;
  /** Why the order that closed it was sent; undefined where that is not known any more. */
  readonly why: string | undefined;
}

/** The extremes of the klines since an entry. */
export interface PositionExtremes extends Extremes {
  readonly entryNumber: number;
}

/** A position in numbers. */
interface Estimate {
  /** Allocation plus closed profit, less fees. */
  readonly closed: number;
  /** Closed profit, less fees. */
  readonly earned: number;
  readonly base: number;
  readonly cost: number;
  /** The position is below the minimum order. */
  readonly isFlat: boolean;
}

/** The sub-accounts of a strategy that share what was allocated to it, and their sum: a fill changes it by what it changes its sub-account by. */
export class Pool {
  /** Allocation plus closed profit, less fees. */
  closed = noUnits;
  /** The same, less what is held at cost; negative where quote is owed. */
  cash = noUnits;
  /** The same where what a short position was sold for cannot be spent. */
  free = noUnits;
  readonly #subAccounts: SubAccount[] = [];
  #open: readonly SubAccount[] | undefined;
  #closedNumber: number | undefined;

  get subAccounts(): readonly SubAccount[] {
    return this.#subAccounts;
  }

  add(subAccount: SubAccount): void {
    this.#subAccounts.push(subAccount);
    this.count(noUnits, noPosition, subAccount);
  }

  /** One of its sub-accounts has another allocation or position than these before. */
  count(allocation: Units, before: Position, now: SubAccount): void {
    const { position } = now;
    const closed = minus(closedOf(now.allocation, position), closedOf(allocation, before));
    this.closed = plus(this.closed, closed);
    this.cash = plus(this.cash, minus(closed, minus(position.cost, before.cost)));
    this.free = plus(this.free, minus(closed, minus(spentOn(position), spentOn(before))));
    this.#closedNumber = undefined;
    if ((position.base === 0n) !== (before.base === 0n)) this.#open = undefined;
  }

  /** `closed` as a number. */
  get closedNumber(): number {
    this.#closedNumber ??= unitsNumber(this.closed);
    return this.#closedNumber;
  }

  /** The sub-accounts that hold something: of many, few do. */
  get open(): readonly SubAccount[] {
    this.#open ??= this.#subAccounts.filter((subAccount) => !subAccount.isEmpty);
    return this.#open;
  }
}

const closedOf = (allocation: Units, { realised, fees }: Position): Units => minus(plus(allocation, realised), fees);
const spentOn = ({ cost }: Position): Units => max(cost, noUnits);

/** The holdings and the money of one strategy on one symbol, and its working orders. */
export class SubAccount {
  readonly strategy: string;
  readonly symbol: string;
  readonly orders: WorkingOrder[] = [];
  readonly pool: Pool;
  #allocation: Units;
  #position: Position = noPosition;
  /** Grows with each fill, charge and payment. */
  version = 0;
  /** Grows with each order that is added or ends. */
  orderChanges = 0;
  /** Grows whenever what protection makes of a target may change; a trailing stop that moves does not. */
  protectionChanges = 0;
  /** Numbers its positions: grows with each that is entered from flat or turned round. */
  entryNumber = 0;
  /** When that was, UTC ms, at what price, and whether by a resting order. */
  enteredAt = Number.NaN;
  enteredPrice: Ticks = noTicks;
  byMaker = false;
  /** Closed profit less fees when it was entered. */
  earnedBefore: Units = noUnits;
  /** The order that closed the position before it, and what came of that. */
  closedBy: ClosingOrder | undefined;
  #extremes: PositionExtremes | undefined;
  readonly #extremesChanged: (subAccount: SubAccount) => void;
  #estimate: Estimate | undefined;
  readonly #instrumentNow: () => Instrument;

  /** `extremesChanged` is called with every change of them that a restart must know. */
  constructor(
    { strategy, symbol, allocation, pool }: Pick<SubAccount, 'strategy' | 'symbol' | 'allocation' | 'pool'>,
    instrumentNow: () => Instrument,
    extremesChanged: (subAccount: SubAccount) => void = () => {},
  ) {
    this.strategy = strategy;
    this.symbol = symbol;
    this.pool = pool;
    this.#extremesChanged = extremesChanged;
    this.#instrumentNow = instrumentNow;
    this.#allocation = allocation;
    pool.add(this);
  }

  /** As the exchange lists it now: its steps and minima can change while a daemon runs. */
  get instrument(): Instrument {
    return this.#instrumentNow();
  }

  get allocation(): Units {
    return this.#allocation;
  }
  set allocation(amount: Units) {
    const before = this.#allocation;
    this.#allocation = amount;
    this.#changed(before, this.#position);
  }

  get position(): Position {
    return this.#position;
  }
  set position(position: Position) {
    const before = this.#position;
    this.#position = position;
    this.#changed(this.#allocation, before);
  }

  /** The price of the first fill of the position, as a number. */
  get entryFillPrice(): number {
    return priceNumber(this.enteredPrice, this.instrument);
  }

  /** The extremes since the entry that they name, as far as klines were seen. */
  get extremes(): PositionExtremes | undefined {
    return this.#extremes;
  }
  set extremes(extremes: PositionExtremes) {
    this.#extremes = extremes;
    this.#extremesChanged(this);
  }

  /** Puts back what a journal kept. */
  restoreExtremes(extremes: PositionExtremes): void {
    this.#extremes = extremes;
  }

  /** A fill closed the position; `why` is the reason of its order, where that is known. */
  close({ time, price, purpose, clientOrderId }: Fill, at: Instrument, why: string | undefined): void {
    const profit = unitsNumber(minus(earnedOf(this.#position), this.earnedBefore));
    this.closedBy = { time, price: priceNumber(price, at), profit, purpose, clientOrderId, why };
  }

  get lastExit(): Exit | undefined {
    if (this.closedBy === undefined) return undefined;
    const { time, price, profit, purpose, why } = this.closedBy;
    return { time, price, profit, reason: exitReason(purpose, why) };
  }

  /** Grows with each fill, charge and payment, each order that is added or ends, and each change of its protection. */
  get revision(): number {
    return this.version + this.orderChanges + this.protectionChanges;
  }

  #changed(allocation: Units, before: Position): void {
    this.version++;
    this.#estimate = undefined;
    this.pool.count(allocation, before, this);
  }

  /** True when the position is zero or below the minimum order: fees and amounts leave such rests, and no order can close them. */
  get isFlat(): boolean {
    return this.estimate.isFlat;
  }

  /** True when nothing at all is held: a position below the minimum can still have a take-profit at the exchange. */
  get isEmpty(): boolean {
    return this.#position.base === 0n;
  }

  get isLong(): boolean {
    return this.#position.base > 0n;
  }

  /** The average entry price of the position, to the nearest tick. */
  get entryTicks(): Ticks {
    const { base, cost } = this.#position;
    return averageTicks(cost, base, this.instrument);
  }

  /** The sub-account in numbers, calculated once after each fill. */
  get estimate(): Estimate {
    this.#estimate ??= this.#estimated();
    return this.#estimate;
  }

  #estimated(): Estimate {
    const { base, cost } = this.#position;
    const closed = unitsNumber(closedOf(this.#allocation, this.#position));
    const earned = unitsNumber(earnedOf(this.#position));
    const isFlat = isBelowMinimum(this.#position, this.instrument);
    return { closed, earned, base: unitsNumber(base), cost: unitsNumber(cost), isFlat };
  }
}
