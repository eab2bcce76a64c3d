/**
 * A simulated account at the exchange: it checks orders as the exchange would, locks their funds, and books what the fill
 * engine grants. It does not know when or at what price anything fills.
 */

import { getOrMake } from '../../domain/get-or-make.ts';
import type { Instrument } from '../../domain/instrument.ts';
import {
  baseUnits,
  cut,
  feeOn,
  type Lots,
  min,
  minus,
  negate,
  noLots,
  notional,
  noUnits,
  plus,
  type Ticks,
  type Units,
  units,
} from '../../domain/money.ts';
import type { Intent, OrderReport, Outcome } from '../../domain/order.ts';
import { feeOf, maxRate, ratesOf, Turnover } from '../../fill/fees.ts';
import type { SimFill, SimOrder, Step } from '../../fill/orders.ts';
import type { FeeRates, Fees, Rules } from '../../fill/rules.ts';
import type { Balance } from '../venue.ts';
import { type PaperOrder, type PaperTrade, Records, reportOf } from './records.ts';

/** Gets every event of the account, in order and at once. */
export interface PaperListener {
  fill(trade: PaperTrade, intent: Intent): void;
  end(report: OrderReport, intent: Intent): void;
  /** The free money does not pay for an order, which ends unfilled or is rejected. */
  unpaid?(intent: Intent): void;
}

export interface PaperAccountOptions {
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly rules: Rules;
  readonly fees: Fees;
  readonly balances: readonly Balance[];
  /** Missing funds are borrowed. The caller limits how much may be borrowed. */
  readonly mayOwe?: boolean;
  /** Order and trade ids count up from here. A later run that shares a journal must begin higher. */
  readonly firstId?: number;
  readonly listener?: PaperListener;
  /** Whether closed orders and trades can be asked for (they can by default). */
  readonly keepsClosed?: boolean;
}

/** An order that an earlier run left open, as its journal has it. */
export interface RestoredOrder {
  readonly orderId?: string;
  readonly intent: Intent;
  readonly executed: Lots;
}

/** Open orders at one time; more are rejected, as exchanges do. */
const maxOpen = 1000;

export class PaperAccount {
  readonly records: Records;
  readonly #options: PaperAccountOptions;
  readonly #balances: PaperBalances;
  readonly #feeReserve: Fees['taker'];
  /** Only where rates depend on it. */
  readonly #turnover: Turnover | undefined;
  #nextId: number;
  #openCount = 0;

  constructor(options: PaperAccountOptions) {
    this.#options = options;
    this.records = new Records(options.keepsClosed);
    this.#balances = new PaperBalances(options.balances, options.mayOwe);
    this.#feeReserve = maxRate(options.fees);
    this.#turnover = options.fees.tiers === undefined ? undefined : new Turnover();
    this.#nextId = options.firstId ?? 1;
  }

  balances(): readonly Balance[] {
    return this.#balances.balances();
  }

  /** Pays an amount in, or out where it is negative; false, and nothing moves, when less is free. */
  transfer(asset: string, amount: Units): boolean {
    if (this.#options.mayOwe !== true && plus(this.#balances.free(asset), amount) < 0n) return false;
    this.#balances.receive(asset, amount);
    return true;
  }

  /** Gives an id away: to an order that only its record knows. */
  takeId(): string {
    return this.#id();
  }

  /** Accepts an order and locks what it can cost at most, or rejects it with the exchange's code. */
  accept(intent: Intent): Outcome {
    const at = this.#options.instruments.get(intent.symbol);
    if (at === undefined) return rejected('-1121', 'Invalid symbol.');
    const fault = faultOf(intent, at);
    if (fault !== undefined) return fault;
    if (this.#openCount >= maxOpen) return rejected('-1015', 'Too many orders.');
    if (this.records.working(intent.clientOrderId) !== undefined) return rejected('-1014', 'Client order id in use.');
    const locked = this.#lockFor(intent, lotsOf(intent), at);
    if (!this.#balances.lock(payingAsset(intent, at), locked)) {
      this.#options.listener?.unpaid?.(intent);
      return rejected('-2017', 'Insufficient balance');
    }
    const order: PaperOrder = { orderId: this.#id(), intent, at, status: 'NEW', executed: noLots, locked };
    this.records.add(order);
    this.#openCount++;
    return { kind: 'accepted', report: reportOf(order) };
  }

  /**
   * Takes an order of an earlier run as it stood in the journal, `executed` of it filled; one that was being sent counts as
   * arrived and gets its id now. False when nothing of it is left to work: it was filled, or the balances do not pay
   * for the rest, which is then canceled.
   */
  restore({ orderId = this.#id(), intent, executed }: RestoredOrder): boolean {
    const at = this.#options.instruments.get(intent.symbol);
    if (at === undefined) throw new Error(`no instrument ${intent.symbol}`);
    // An amount is spent in one fill.
    const isFilled = executed > 0n && executed >= lotsOf(intent);
    const locked = isFilled ? noUnits : this.#lockFor(intent, minus(lotsOf(intent), executed), at);
    const paid = this.#balances.lock(payingAsset(intent, at), locked);
    const status = executed > 0n ? 'PARTIALLY_FILLED' : 'NEW';
    const order: PaperOrder = { orderId, intent, at, status, executed, locked: paid ? locked : noUnits };
    this.records.add(order);
    this.#openCount++;
    if (isFilled) this.#end(order, 'filled');
    else if (!paid) this.#end(order, 'canceled');
    return paid && !isFilled;
  }

  /** Whether the free money pays for a fill whose cost is not locked, and for those of the same step before it, which are not booked yet. */
  canPay(order: SimOrder, price: Ticks, quantity: Lots, before: readonly SimFill[] = []): boolean {
    if (this.#options.mayOwe === true) return true;
    const { intent, at } = this.#working(order);
    const costOf = (one: Pick<SimFill, 'price' | 'quantity'>): Units => {
      const cost = notional(one.price, one.quantity, at);
      return this.#options.rules.feeIn === 'quote' ? plus(cost, feeOn(cost, this.#feeReserve)) : cost;
    };
    const unlocked = before.filter(
      (fill) => fill.side === 'BUY' && fill.order.type === 'MARKET' && 'lots' in fill.order.volume,
    );
    const free = unlocked.reduce(
      (left, fill) => minus(left, costOf(fill)),
      this.#balances.free(payingAsset(intent, at)),
    );
    const isPaid = free >= costOf({ price, quantity });
    if (!isPaid) this.#options.listener?.unpaid?.(intent);
    return isPaid;
  }

  /** Books what the engine did; true when that was anything. */
  book(step: Step): boolean {
    for (const fill of step.fills) this.#bookFill(fill);
    for (const { order, end } of step.ends) this.#end(this.#working(order), end);
    return step.fills.length > 0 || step.ends.length > 0;
  }

  #bookFill(fill: SimFill): void {
    const { rules, listener } = this.#options;
    const order = this.#working(fill.order);
    const { intent, at } = order;
    const value = notional(fill.price, fill.quantity, at);
    const { fee, feeAsset } = feeOf(fill, this.#ratesAt(at.symbol, fill.time), rules.feeIn, at, value);
    this.#turnover?.add(fill.time, value);
    const base = baseUnits(fill.quantity, at);
    const feeInBase = feeAsset === at.base;
    if (intent.side === 'BUY') {
      this.#pay(order, feeInBase ? value : plus(value, fee));
      this.#balances.receive(at.base, feeInBase ? minus(base, fee) : base);
    } else {
      this.#pay(order, base);
      this.#balances.receive(at.quote, minus(value, fee));
    }
    order.executed = plus(order.executed, fill.quantity);
    order.status = 'PARTIALLY_FILLED';
    this.#unlockExcess(order);
    const trade: PaperTrade = {
      tradeId: this.#id(),
      symbol: intent.symbol,
      price: fill.price,
      quantity: fill.quantity,
      orderIds: [order.orderId],
      clientOrderId: intent.clientOrderId,
      side: intent.side,
      maker: fill.maker,
      fee,
      feeAsset,
      time: fill.time,
      evidence: fill.evidence,
      bestPrice: fill.bestPrice,
      worstPrice: fill.worstPrice,
    };
    this.records.addTrade(trade);
    listener?.fill(trade, intent);
  }

  #ratesAt(symbol: string, time: number): FeeRates {
    const { fees } = this.#options;
    if (this.#turnover === undefined && fees.bySymbol === undefined) return fees;
    return ratesOf(fees, symbol, this.#turnover?.before(time) ?? noUnits);
  }

  #end(order: PaperOrder, end: 'filled' | 'canceled'): void {
    order.status = end === 'filled' ? 'FILLED' : 'CANCELED';
    this.#balances.release(payingAsset(order.intent, order.at), order.locked);
    order.locked = noUnits;
    this.records.close(order);
    this.#openCount--;
    this.#options.listener?.end(reportOf(order), order.intent);
  }

  #pay(order: PaperOrder, cost: Units): void {
    const fromLocked = min(order.locked, cost);
    order.locked = minus(order.locked, fromLocked);
    this.#balances.pay(payingAsset(order.intent, order.at), fromLocked, minus(cost, fromLocked));
  }

  /** A LIMIT that filled at a better price than its own needs less for the rest than is locked. */
  #unlockExcess(order: PaperOrder): void {
    if (order.intent.type !== 'LIMIT') return;
    const needed = this.#lockFor(order.intent, minus(lotsOf(order.intent), order.executed), order.at);
    if (needed >= order.locked) return;
    this.#balances.release(payingAsset(order.intent, order.at), minus(order.locked, needed));
    order.locked = needed;
  }

  /** The most that these lots of an order can cost; nothing for a MARKET BUY in lots, whose price is unknown. */
  #lockFor({ side, type, volume, price }: Intent, lots: Lots, at: Instrument): Units {
    if (side === 'SELL') return baseUnits(lots, at);
    const unpriced = 'amount' in volume ? volume.amount : noUnits;
    const value = type === 'LIMIT' && price !== undefined ? notional(price, lots, at) : unpriced;
    const { feeIn, sizing } = this.#options.rules;
    if (feeIn === 'received' || ('amount' in volume && sizing === 'fillWithFee')) return value;
    return plus(value, feeOn(value, this.#feeReserve));
  }

  #working({ clientOrderId }: SimOrder): PaperOrder {
    const order = this.records.working(clientOrderId);
    if (order === undefined) throw new Error(`the fill engine named ${clientOrderId}, which is not open`);
    return order;
  }

  #id(): string {
    return String(this.#nextId++);
  }
}

const lotsOf = ({ volume }: Intent): Lots => ('lots' in volume ? volume.lots : noLots);
const payingAsset = ({ side }: Intent, at: Instrument): string => (side === 'BUY' ? at.quote : at.base);
export const rejected = (code: string, message: string): Outcome => ({ kind: 'rejected', code, message });

/** The exchange's refusal before it checks the funds (specification §7), or undefined. */
function faultOf({ side, type, volume, price }: Intent, at: Instrument): Outcome | undefined {
  if ('amount' in volume) {
    if (side !== 'BUY' || type !== 'MARKET') return rejected('-1116', 'Only a MARKET BUY is given as an amount.');
    if (volume.amount <= 0n || volume.amount < at.minNotional) return tooSmall;
    return cut(volume.amount, at.pricePrecision) === volume.amount
      ? undefined
      : rejected('-1111', 'Precision is over the maximum defined for this asset.');
  }
  if (volume.lots <= 0n || volume.lots < at.minQuantity) return tooSmall;
  if (type === 'MARKET') return undefined;
  if (price === undefined || price <= 0n) return rejected('-1138', 'Order price exceeds permissible range.');
  return notional(price, volume.lots, at) < at.minNotional ? tooSmall : undefined;
}

const tooSmall: Outcome = rejected('-1136', 'Order volume lower than the minimum.');

/** Fees in quote round up fill by fill, so an order's last fills may cost this little more than was locked for the whole. */
const dust = units('0.000001');

interface Holding {
  free: Units;
  locked: Units;
}

/** Free and locked by orders, by asset, exact. */
class PaperBalances {
  readonly #holdings = new Map<string, Holding>();

  readonly #mayOwe: boolean;

  /** `mayOwe`: more can be locked and paid than the balance has; the rest is borrowed. */
  constructor(balances: readonly Balance[], mayOwe = false) {
    this.#mayOwe = mayOwe;
    for (const { asset, free, locked } of balances) this.#holdings.set(asset, { free, locked });
  }

  free(asset: string): Units {
    return this.#of(asset).free;
  }

  /** Locks an amount, or says false and locks nothing when less is free. */
  lock(asset: string, amount: Units): boolean {
    const holding = this.#of(asset);
    if (!this.#mayOwe && holding.free < amount) return false;
    holding.free = minus(holding.free, amount);
    holding.locked = plus(holding.locked, amount);
    return true;
  }

  release(asset: string, amount: Units): void {
    const holding = this.#of(asset);
    holding.locked = minus(holding.locked, amount);
    holding.free = plus(holding.free, amount);
  }

  /** Pays one amount from what is locked and another from what is free. */
  pay(asset: string, fromLocked: Units, fromFree: Units): void {
    const holding = this.#of(asset);
    holding.locked = minus(holding.locked, fromLocked);
    holding.free = minus(holding.free, fromFree);
    if ((!this.#mayOwe && holding.free < negate(dust)) || holding.locked < 0n)
      throw new Error(`the simulated account has less than no ${asset}`);
  }

  receive(asset: string, amount: Units): void {
    const holding = this.#of(asset);
    holding.free = plus(holding.free, amount);
  }

  balances(): readonly Balance[] {
    return [...this.#holdings].map(([asset, holding]) => ({ asset, ...holding }));
  }

  #of(asset: string): Holding {
    return getOrMake(this.#holdings, asset, () => ({ free: noUnits, locked: noUnits }));
  }
}
