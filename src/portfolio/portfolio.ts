/**
 * What we hold and what is in flight, strategy by strategy, from our own fills and orders alone. A reservation is an order
 * that is not closed: it shrinks with each fill, ends with its order, and stays while the outcome is unknown.
 */

import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import {
  baseUnits,
  lotsIn,
  minus,
  negate,
  noTicks,
  notional,
  noUnits,
  plus,
  priceText,
  type Ticks,
  ticks,
  ticksOf,
  type Units,
  worth,
} from '../domain/money.ts';
import { type Fill, type Intent, isClosed, type OrderState } from '../domain/order.ts';
import { afterFill, earnedOf, openProfit, type Position } from '../domain/position.ts';
import { ByPosition, type PositionEntry } from './by-position.ts';
import { type HoldingView, LiveHolding } from './holding.ts';
import { Pool, SubAccount } from './sub-account.ts';
import { intendedOrder, openValue, type WorkingOrder } from './working-order.ts';

export type { WorkingOrder } from './working-order.ts';

/** What a sub-account begins with: a strategy, a symbol, and the quote amount it may use. Those of a strategy with several markets are one pool. */
export interface Allocation {
  readonly strategy: string;
  readonly symbol: string;
  readonly amount: Units;
}

/** From this number of unknown outcomes on, the cause is the exchange or the network, not one lost answer. */
const unknownsThatBlockAll = 3;

/** Changed in place: one for each of millions of klines would be a tenth of a backtest's memory traffic. */
interface Mark {
  price: number;
  at: number;
}

export class Portfolio {
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly #subAccounts = new ByPosition<SubAccount>();
  readonly #allSubAccounts: SubAccount[] = [];
  readonly #orders = new Map<string, WorkingOrder>();
  readonly #marks = new Map<string, Mark>();
  readonly #blocked = new Set<string>();
  readonly #pools = new Map<string, Pool>();
  /** Of all sub-accounts. */
  readonly #allPools = new Set<Pool>();
  readonly #extremesChanged: ((subAccount: SubAccount) => void) | undefined;
  readonly #lastPrice = (symbol: string): number | undefined => this.#marks.get(symbol)?.price;

  /** `extremesChanged` is called with a sub-account whose best or worst price is another. */
  constructor(
    instruments: ReadonlyMap<string, Instrument>,
    allocations: readonly Allocation[],
    extremesChanged?: (subAccount: SubAccount) => void,
  ) {
    this.instruments = instruments;
    this.#extremesChanged = extremesChanged;
    for (const { strategy, symbol, amount } of allocations) {
      const pool = this.#pools.get(strategy) ?? new Pool();
      this.#pools.set(strategy, pool);
      this.#subAccount(strategy, symbol, amount, pool);
    }
  }

  /** Allocation plus closed and open profit of a strategy in all its markets, fees taken, as a number, at the last prices. */
  poolEquity(strategy: string, priceOf = this.#lastPrice): number {
    const pool = this.#pools.get(strategy);
    return pool === undefined ? 0 : equityIn(pool, priceOf);
  }

  #subAccount(strategy: string, symbol: string, allocation: Units, pool = new Pool()): SubAccount {
    const own = { strategy, symbol, allocation, pool };
    const subAccount = new SubAccount(own, () => this.instrument(symbol), this.#extremesChanged);
    this.#subAccounts.set(strategy, symbol, subAccount);
    this.#allSubAccounts.push(subAccount);
    this.#allPools.add(pool);
    return subAccount;
  }

  /** The sub-account of a strategy on a symbol; one that is no longer configured keeps what it holds, with nothing allocated. */
  subAccount(strategy: string, symbol: string): SubAccount {
    return this.#subAccounts.get(strategy, symbol) ?? this.#subAccount(strategy, symbol, noUnits);
  }

  instrument(symbol: string): Instrument {
    const found = this.instruments.get(symbol);
    if (found === undefined) throw new Error(`no instrument ${symbol}`);
    return found;
  }

  /** Each strategy and symbol that has a sub-account, in the order they came. */
  subAccounts(): readonly SubAccount[] {
    return Array.from(this.#subAccounts.entries(), ({ value }) => value);
  }

  /** Those on a symbol. */
  subAccountsOn(symbol: string): readonly PositionEntry<SubAccount>[] {
    return this.#subAccounts.on(symbol);
  }

  /** Adds to what a strategy may use, or takes away: an amount that was paid in or out. */
  allot(strategy: string, symbol: string, amount: Units): void {
    const subAccount = this.subAccount(strategy, symbol);
    subAccount.allocation = plus(subAccount.allocation, amount);
  }

  /** Takes a cost that belongs to no fill, such as interest, in quote; it counts as a fee. */
  charge(strategy: string, symbol: string, amount: Units): void {
    const subAccount = this.subAccount(strategy, symbol);
    subAccount.position = { ...subAccount.position, fees: plus(subAccount.position.fees, amount) };
  }

  /** Takes note of a symbol's price, at UTC ms. */
  mark(symbol: string, price: number, at: number): void {
    const mark = this.#marks.get(symbol);
    if (mark === undefined) this.#marks.set(symbol, { price, at });
    else {
      mark.price = price;
      mark.at = at;
    }
  }

  /** The last price of a symbol and when it was seen; undefined before the first. */
  lastMark(symbol: string): { readonly price: number; readonly at: number } | undefined {
    return this.#marks.get(symbol);
  }

  /** The last price in ticks, rounded down. */
  markTicks(symbol: string): Ticks | undefined {
    const mark = this.#marks.get(symbol);
    return mark === undefined ? undefined : ticksOf(mark.price, this.instrument(symbol), 'down');
  }

  /** The last price in ticks, rounded up: what a purchase in lots at market is expected to pay. Zero before the first price, when nothing is bought. */
  #purchaseTicks(at: Instrument): Ticks {
    const mark = this.#marks.get(at.symbol);
    return mark === undefined ? noTicks : ticksOf(mark.price, at, 'up');
  }

  position(strategy: string, symbol: string): Position {
    return this.subAccount(strategy, symbol).position;
  }

  /** A number that changes with each position that is entered from flat or turned round. */
  entryNumber(strategy: string, symbol: string): number {
    return this.subAccount(strategy, symbol).entryNumber;
  }

  /** When the position that is held was entered, UTC ms; not a number before the first. */
  enteredAt(strategy: string, symbol: string): number {
    return this.subAccount(strategy, symbol).enteredAt;
  }

  /** The price of the first fill of the position that is held. */
  enteredPrice(strategy: string, symbol: string): Ticks {
    return this.subAccount(strategy, symbol).enteredPrice;
  }

  /** Orders of a strategy on a symbol that are not closed, oldest first. */
  ordersOf(strategy: string, symbol: string): readonly WorkingOrder[] {
    return this.subAccount(strategy, symbol).orders;
  }

  /** True while every order is closed. */
  get isIdle(): boolean {
    return this.#orders.size === 0;
  }

  /** Every order that is not closed, as of now: they may come and go while they are walked through. */
  orders(): IterableIterator<WorkingOrder> {
    return [...this.#orders.values()].values();
  }

  order(clientOrderId: string): WorkingOrder | undefined {
    return this.#orders.get(clientOrderId);
  }

  /**
   * True while the outcome of a request on this symbol is not known or cannot be, or of several on any is not known, or a trade of
   * it is quarantined: nothing new may be sent there.
   */
  isUndecided(symbol: string): boolean {
    if (this.#blocked.has(symbol)) return true;
    if (this.#orders.size === 0) return false;
    let unknown = 0;
    for (const order of this.#orders.values()) {
      if (order.state !== 'unknown' && order.state !== 'quarantined') continue;
      if (order.intent.symbol === symbol) return true;
      if (order.state === 'unknown' && ++unknown >= unknownsThatBlockAll) return true;
    }
    return false;
  }

  /** Nothing new may be sent on a symbol until `unblock`: the position is not known. */
  block(symbol: string): void {
    this.#blocked.add(symbol);
  }

  unblock(symbol: string): void {
    this.#blocked.delete(symbol);
  }

  /** Counts an order from now on: its exposure is reserved before it is sent. */
  reserve(intent: Intent): WorkingOrder {
    const order = intendedOrder(intent);
    this.adopt(order);
    return order;
  }

  /** Takes an order over as it stands, as at start-up. */
  adopt(order: WorkingOrder): void {
    this.#orders.set(order.intent.clientOrderId, order);
    const subAccount = this.subAccount(order.intent.strategy, order.intent.symbol);
    subAccount.orders.push(order);
    subAccount.orderChanges++;
  }

  /**
   * Books a fill. The caller has made sure that it is new: every fill enters here once. An old one can have more
   * decimals than the exchange takes now: `finer` is then what its price and quantity are counted in.
   */
  apply(fill: Fill, finer?: Instrument): void {
    const subAccount = this.subAccount(fill.strategy, fill.symbol);
    const at = finer ?? subAccount.instrument;
    const before = subAccount.position;
    const wasFlat = subAccount.isFlat;
    subAccount.position = afterFill(before, fill, at);
    const hasTurned = before.base > 0n !== subAccount.position.base > 0n;
    const order = this.#orders.get(fill.clientOrderId);
    if (!wasFlat && (hasTurned || subAccount.isFlat)) subAccount.close(fill, at, order?.intent.reason);
    if (wasFlat || hasTurned) {
      subAccount.entryNumber++;
      subAccount.enteredAt = fill.time;
      subAccount.enteredPrice =
        at === subAccount.instrument ? fill.price : ticks(priceText(fill.price, at), subAccount.instrument, 'down');
      subAccount.byMaker = fill.maker;
      subAccount.earnedBefore = earnedOf(wasFlat ? before : subAccount.position);
    }
    if (order === undefined) return;
    const quantity =
      at === subAccount.instrument ? fill.quantity : lotsIn(baseUnits(fill.quantity, at), subAccount.instrument);
    order.filled = plus(order.filled, quantity);
    if ('amount' in order.intent.volume) order.spent = plus(order.spent, notional(fill.price, fill.quantity, at));
  }

  /** Ends an order's reservation. */
  close(order: WorkingOrder, state: OrderState): void {
    if (!isClosed(state)) throw new Error(`${state} does not close an order`);
    order.state = state;
    this.#orders.delete(order.intent.clientOrderId);
    const subAccount = this.subAccount(order.intent.strategy, order.intent.symbol);
    const at = subAccount.orders.indexOf(order);
    if (at >= 0) subAccount.orders.splice(at, 1);
    subAccount.orderChanges++;
  }

  /** True when the position is zero or below the minimum order. */
  isFlat(strategy: string, symbol: string): boolean {
    return this.subAccount(strategy, symbol).isFlat;
  }

  /** True once every symbol that is held has a price: before that its open profit is missing from the equity. */
  isPriced(): boolean {
    return this.#allSubAccounts.every(
      (subAccount) => this.#marks.has(subAccount.instrument.symbol) || subAccount.isFlat,
    );
  }

  /** Allocation plus closed and open profit, fees taken, in quote, at the last price; of all markets of a strategy that has several. */
  equity(strategy: string, symbol: string): Units {
    return this.#equityOf(this.subAccount(strategy, symbol).pool);
  }

  #equityOf({ closed, open }: Pool): Units {
    let equity = closed;
    for (const { position, instrument } of open) {
      const price = this.markTicks(instrument.symbol);
      if (price !== undefined) equity = plus(equity, openProfit(position, price, instrument));
    }
    return equity;
  }

  /** Allocation plus closed profit, fees taken, as a number. */
  closedEquity(strategy: string, symbol: string): number {
    return this.subAccount(strategy, symbol).estimate.closed;
  }

  /** The total equity as a number: good enough to see that no limit is near, cheap enough for every kline. */
  equityEstimate(): number {
    let total = 0;
    for (const pool of this.#allPools) total += equityIn(pool, this.#lastPrice);
    return total;
  }

  /** What the strategies were allotted together: equity less this is profit. */
  allotted(): Units {
    return this.#allSubAccounts.reduce((sum, { allocation }) => plus(sum, allocation), noUnits);
  }

  totalEquity(): Units {
    let total = noUnits;
    for (const pool of this.#allPools) total = plus(total, this.#equityOf(pool));
    return total;
  }

  /**
   * Quote that the strategy may still spend: allocation and closed profit, less fees, what is held at cost and what its purchases on their way
   * will cost, in all its markets.
   */
  freeQuote(strategy: string, symbol: string): Units {
    const { pool } = this.subAccount(strategy, symbol);
    let { free } = pool;
    for (const { orders, instrument } of pool.subAccounts)
      for (const order of orders)
        if (order.intent.side === 'BUY')
          free = minus(free, openValue(order, instrument, this.#purchaseTicks(instrument)));
    return free;
  }

  /**
   * What would be held of a symbol if its orders of one side all filled and none of the other, at a price, in quote: long for
   * BUY, short for SELL, negative while it would still be of the other kind. What a position limit judges an order of that side by.
   */
  exposure(symbol: string, side: Side, price: Ticks): Units {
    const instrument = this.instrument(symbol);
    let held = noUnits;
    for (const { value } of this.#subAccounts.on(symbol)) held = plus(held, value.position.base);
    let exposure = worth(side === 'BUY' ? held : negate(held), price, instrument);
    if (this.#orders.size === 0) return exposure;
    for (const order of this.#orders.values()) {
      if (order.intent.symbol === symbol && order.intent.side === side)
        exposure = plus(exposure, openValue(order, instrument, price));
    }
    return exposure;
  }

  /** What a strategy's open orders of one side may still add, at a price where they have none, in quote. */
  openValueOf(strategy: string, symbol: string, side: Side, price: Ticks): Units {
    const { orders, instrument } = this.subAccount(strategy, symbol);
    let sum = noUnits;
    for (const order of orders) if (order.intent.side === side) sum = plus(sum, openValue(order, instrument, price));
    return sum;
  }

  /** The position as a strategy sees it, in numbers. Its klines make `klinesHeld`, `best` and `worst` move; `price` says where the last one is known sooner. */
  holding(
    strategy: string,
    symbol: string,
    { price = () => this.#lastPrice(symbol), klines }: Partial<HoldingView> = {},
  ): LiveHolding {
    return new LiveHolding(this.subAccount(strategy, symbol), { price, klines });
  }
}

/** The equity of a pool as a number; an open profit that has no price counts as nothing. */
function equityIn({ closedNumber, open }: Pool, priceOf: (symbol: string) => number | undefined): number {
  let total = closedNumber;
  for (const subAccount of open) {
    const price = priceOf(subAccount.symbol);
    if (price !== undefined) total += subAccount.estimate.base * price - subAccount.estimate.cost;
  }
  return total;
}
