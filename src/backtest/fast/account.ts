/** The position and the orders of a fast run: MARKET orders, of which at most one waits. */
import type { Instrument } from '../../domain/instrument.ts';
import {
  averageTicks,
  baseUnits,
  lotsOfSafe,
  notional,
  plus,
  safe,
  safeFee,
  safeNotional,
  safeNumber,
  type Ticks,
  ticksOfSafe,
  type Units,
  unitsOfSafe,
} from '../../domain/money.ts';
import { type Evidence, type Intent, mainRole, type Purpose } from '../../domain/order.ts';
import { type Exit, exitReason } from '../../domain/position.ts';
import type { GuardedSubAccount } from '../../portfolio/guard.ts';
import type { Entry } from '../../portfolio/held-klines.ts';
import { HoldingFacts } from '../../portfolio/holding.ts';
import { intendedOrder, type WorkingOrder } from '../../portfolio/working-order.ts';
import type { Holding } from '../../strategy/contract.ts';
import { HeldColumns } from '../engine/klines/held-columns.ts';
import type { KlineCursor } from '../engine/klines/kline-cursor.ts';
import type { KlineLog } from '../engine/klines/log.ts';
import { clientIdOf, lifeMs } from '../engine/klines/order-column.ts';
import type { Supported } from './supported.ts';

/** As `SubAccount` and `Portfolio` count it: lots held, and amounts in steps of the scale. */
export class FastPosition extends HoldingFacts implements Holding, GuardedSubAccount, Entry {
  readonly strategy: string;
  readonly instrument: Instrument;
  readonly #allocation: number;
  readonly #minNotional: number;
  readonly #decimals: number;
  readonly #cursor: KlineCursor;
  lots = 0;
  version = 0;
  protectionChanges = 0;
  entryNumber = 0;
  enteredAt = Number.NaN;
  entryFillPrice = Number.NaN;
  readonly byMaker = false;
  exit: Exit | undefined;
  protected readonly klines: HeldColumns;
  #earnedBefore = 0;
  #cost = 0;
  #realised = 0;
  #fees = 0;

  constructor({ series, hosted, at, allocation, minNotional, scale }: Supported, cursor: KlineCursor) {
    super();
    this.klines = new HeldColumns(series.columns, cursor);
    this.strategy = hosted.id;
    this.instrument = at;
    this.#allocation = allocation;
    this.#minNotional = minNotional;
    this.#decimals = scale.decimals;
    this.#cursor = cursor;
  }

  protected get entry(): Entry {
    return this;
  }

  get isFlat(): boolean {
    return this.lots === 0;
  }

  get isEmpty(): boolean {
    return this.lots === 0;
  }

  get isLong(): boolean {
    return this.lots > 0;
  }

  get entryTicks(): Ticks {
    const base = baseUnits(lotsOfSafe(this.lots), this.instrument);
    return averageTicks(unitsOfSafe(this.#cost, this.#decimals), base, this.instrument);
  }

  /** Closed profit less fees and what is held at cost: how much more than at the start there is to spend. */
  get free(): number {
    return this.#realised - this.#fees - this.#cost;
  }

  /** Books a purchase, or a sale of everything; false when an amount is not exact any more, or the position is below the minimum. */
  book({ lots, purpose, reason }: FastOrder, value: number, fee: number, { price: ticks, time }: FastFill): boolean {
    const held = this.lots;
    const price = safeNumber(ticks, this.instrument.pricePrecision);
    if (held === 0) this.#earnedBefore = this.#realised - this.#fees;
    if (lots > 0) this.#cost += value;
    else {
      this.#realised += value - this.#cost;
      this.#cost = 0;
    }
    this.#fees += fee;
    this.lots += lots;
    this.version++;
    if (held === 0 || this.lots === 0) {
      this.entryNumber++;
      this.enteredAt = time;
      this.entryFillPrice = price;
    }
    if (this.lots === 0) {
      const profit = safeNumber(this.#realised - this.#fees - this.#earnedBefore, this.#decimals);
      this.exit = { time, price, profit, reason: exitReason(purpose, reason) };
    }
    if (this.lots > 0 && this.#cost < this.#minNotional) return false;
    // Every amount that is calculated with is at most a sum of these.
    return !Number.isNaN(safe(this.#allocation + Math.abs(this.#realised) + this.#fees + this.#cost));
  }

  /** The equity at a last price in ticks. */
  equityAt(ticks: number): Units {
    const closed = unitsOfSafe(this.#allocation + this.free, this.#decimals);
    return plus(closed, notional(ticksOfSafe(ticks), lotsOfSafe(this.lots), this.instrument));
  }

  /** The equity at a price of 0: what `quantity` × price comes on top of. */
  get fixed(): number {
    return safeNumber(this.#allocation + this.free, this.#decimals);
  }

  // What the strategy sees, with the last bit of `Portfolio.holding`.
  get quantity(): number {
    return safeNumber(this.lots, this.instrument.quantityPrecision);
  }

  get entryPrice(): number {
    return this.lots === 0 ? Number.NaN : safeNumber(this.#cost, this.#decimals) / this.quantity;
  }

  get equity(): number {
    const closed = safeNumber(this.#allocation + this.#realised - this.#fees, this.#decimals);
    return this.lots === 0
      ? closed
      : closed + this.quantity * this.#cursor.close - safeNumber(this.#cost, this.#decimals);
  }

  get profit(): number {
    return this.lots === 0 ? 0 : this.quantity * this.#cursor.close - safeNumber(this.#cost, this.#decimals);
  }

  get realisedNet(): number {
    return safeNumber(this.#realised - this.#fees, this.#decimals);
  }
}

/** A MARKET order. */
export interface FastOrder {
  /** Below zero is a sale. */
  readonly lots: number;
  readonly purpose: Purpose;
  readonly reason: string;
  readonly decision: number;
  /** UTC ms. */
  readonly createdAt: number;
}

/** What an order gets, in ticks and UTC ms. */
interface FastFill {
  readonly price: number;
  readonly time: number;
  readonly evidence: Evidence;
}

const whollyFilled = { state: 'filled', venueStatus: 'FILLED', cancelRequested: false } as const;

/** Indexes of the kinds of an order and its fill. */
interface Kinds {
  readonly order: number;
  readonly fill: number;
  readonly evidence: Evidence;
}

export class FastOrders {
  /** Fills at the next open. */
  waiting: FastOrder | undefined;
  readonly #supported: Supported;
  readonly #position: FastPosition;
  readonly #log: KlineLog;
  readonly #feeOf: (amount: number) => number;
  readonly #maxFeeOf: (amount: number) => number;
  #count = 0;
  /** Of the last fill of each purpose. */
  readonly #kinds: Partial<Record<Purpose, Kinds>> = {};

  constructor(supported: Supported, position: FastPosition, log: KlineLog) {
    this.#supported = supported;
    this.#position = position;
    this.#log = log;
    this.#feeOf = safeFee(supported.taker, supported.scale);
    this.#maxFeeOf = safeFee(supported.maxFeeRate, supported.scale);
  }

  /** True when no limit, nor what was allocated, stands against a purchase at a last price in ticks. */
  mayBuy(last: number, lots: number): boolean {
    const { scale, maxOrderValue, maxPosition, allocation } = this.#supported;
    const value = safeNotional(last, lots, scale);
    return (
      value <= maxOrderValue &&
      safeNotional(last, this.#position.lots + lots, scale) <= maxPosition &&
      value <= allocation + this.#position.free
    );
  }

  /** Beyond the exchange's minima at a last price in ticks, within which a plan does nothing. */
  isLarge(last: number, lots: number): boolean {
    const { scale, minLots, minNotional } = this.#supported;
    return lots >= minLots && safeNotional(last, lots, scale) > minNotional;
  }

  /** Fills the order that waits; false when the money does not suffice or is no longer exact. */
  fillWaiting(order: FastOrder, fill: FastFill): boolean {
    this.waiting = undefined;
    const { scale, cash } = this.#supported;
    const value = safeNotional(fill.price, order.lots, scale);
    const isPaid = order.lots < 0 || value + this.#maxFeeOf(value) <= cash + this.#position.free;
    return isPaid && this.fill(order, fill);
  }

  /** Fills an order whole, which ends it; false when an amount is no longer exact. */
  fill(filled: FastOrder, at: FastFill): boolean {
    const { lots, purpose, reason, decision, createdAt } = filled;
    const { price, time, evidence } = at;
    const { scale } = this.#supported;
    const size = Math.abs(lots);
    const value = safeNotional(price, size, scale);
    const fee = this.#feeOf(value);
    const sequence = this.#count++;
    // Order and trade ids count up together: each order has one fill before the next is sent.
    const [orderId, tradeId] = [2 * sequence + 1, 2 * sequence + 2];
    const known = this.#kinds[purpose];
    const kinds = known?.evidence === evidence ? known : this.#kindsOf(purpose, lots, evidence);
    const { orders, fills } = this.#log;
    orders.pushFilled(kinds.order, reason, size, { sequence, orderId, decision, createdAt, closedAt: time });
    fills.pushSafe(kinds.fill, price, size, { sequence, orderId, tradeId, time, fee: fee / scale.feeSteps });
    return this.#position.book(filled, value, fee, at);
  }

  /** The kinds of a purpose, which the side follows from, with this evidence. */
  #kindsOf(purpose: Purpose, lots: number, evidence: Evidence): Kinds {
    const { hosted, at } = this.#supported;
    const shared = {
      ...{ strategy: hosted.id, account: 'spot' as const, symbol: hosted.symbol, purpose },
      side: lots > 0 ? ('BUY' as const) : ('SELL' as const),
    };
    const { orders, fills } = this.#log;
    const order = orders.kindOf({ ...shared, role: mainRole, type: 'MARKET' }, whollyFilled);
    const fill = fills.kindOf({ ...shared, feeAsset: at.quote, maker: false, evidence });
    this.#kinds[purpose] = { order, fill, evidence };
    return { order, fill, evidence };
  }

  /** What waits, as an order of the portfolio. */
  open(): readonly WorkingOrder[] {
    if (this.waiting === undefined) return [];
    const { id: strategy, symbol } = this.#supported.hosted;
    const { lots: signed, purpose, reason, decision, createdAt } = this.waiting;
    const expectedLots = lotsOfSafe(Math.abs(signed));
    const intent: Intent = {
      ...{ clientOrderId: clientIdOf(this.#count), decision, strategy, role: mainRole, account: 'spot', symbol },
      ...{ side: signed > 0 ? 'BUY' : 'SELL', type: 'MARKET', volume: { lots: expectedLots }, expectedLots },
      ...{ purpose, reason, createdAt, expiresAt: createdAt + lifeMs },
    };
    return [{ ...intendedOrder(intent), orderId: String(2 * this.#count + 1), state: 'open' }];
  }
}
