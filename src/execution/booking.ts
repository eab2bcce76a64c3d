/**
 * Books trades of the account as our fills and as movements of others, each side of a trade by itself. An invalid trade is held back. Booking a
 * row again changes nothing.
 */
import type { Instrument } from '../domain/instrument.ts';
import { opposite, type Side } from '../domain/market.ts';
import {
  type Lots,
  minus,
  noLots,
  noTicks,
  notional,
  noUnits,
  plus,
  priceText,
  quantityText,
  unitsText,
} from '../domain/money.ts';
import type { Account, Fill, VenueTrade } from '../domain/order.ts';
import type { FillEntry } from '../journal/entries.ts';
import { fillRow } from '../journal/fill-entries.ts';
import type { Owner } from '../journal/past-orders.ts';
import type { WorkingOrder } from '../portfolio/portfolio.ts';
import type { Execution } from './context.ts';
import { contradicted, quarantine } from './order-steps.ts';
import type { InvalidTrade } from './quarantined-trades.ts';
import { isSameTrade, tradeKey, venueTradeRow } from './records.ts';
import { transitions } from './states.ts';

/** One side of a self-trade. */
interface Half {
  readonly trade: VenueTrade;
  readonly since: number;
  reads: number;
}

export interface BookingParts {
  /** Trades from before this journal's first order cannot be ours. */
  readonly isBeforeOurs: (trade: VenueTrade) => boolean;
  readonly emit: (fill: Fill) => void;
}

export class Booking {
  readonly #execution: Execution;
  readonly #parts: BookingParts;
  /** Sides of self-trades whose other side has not been shown yet. */
  readonly #halves = new Map<string, Half>();
  /** Time of the newest trade of the account, UTC ms. */
  newestTradeAt = Number.NEGATIVE_INFINITY;

  constructor(execution: Execution, parts: BookingParts) {
    this.#execution = execution;
    this.#parts = parts;
  }

  /**
   * Books trades, oldest first. `symbol`: the symbol whose list shows them. Then their raw rows are journalled as evidence, in the same
   * commit as the cursor and the fills (R3). Left out: they are journalled already.
   */
  book(trades: readonly VenueTrade[], symbol?: string): void {
    for (const { trade, side } of this.#execution.doubtful.takeReclaimed())
      if (this.#acceptOrHold(trade, trade.symbol, true)) this.#bookSide(trade, side);
    for (const trade of trades) {
      if (!this.#acceptOrHold(trade, symbol ?? trade.symbol)) continue;
      if (symbol !== undefined) this.#journal(trade);
      if (trade.time > this.newestTradeAt) this.newestTradeAt = trade.time;
      if (trade.orderIds.length > 1) this.#noteHalf(trade);
      this.#bookSide(trade, trade.side);
    }
  }

  #journal(trade: VenueTrade): void {
    const { journal, portfolio, clock } = this.#execution;
    if (!journal.volatile) journal.append(venueTradeRow(trade, portfolio.instrument(trade.symbol), clock.now()));
  }

  /** True when a trade is to be booked. An invalid trade is held for quarantine instead; simulated venues show none. */
  #acceptOrHold(trade: VenueTrade, symbol: string, isLast = false): boolean {
    const { journal, quarantinedTrades } = this.#execution;
    if (journal.volatile) return true;
    const known = quarantinedTrades.known(symbol, trade);
    if (known === 'accepted' || known === 'ignored') return known === 'accepted';
    const invalid = this.#invalid(trade, symbol) ?? (known === 'discarded' ? otherThanDiscarded : undefined);
    if (invalid === undefined) {
      quarantinedTrades.corrected(symbol, trade);
      countForEnded(this.#execution, trade);
      return true;
    }
    const ours = trade.orderIds.filter((orderId) => this.#execution.owners.has(orderId));
    // A booked fill that is now shown differently is handled by `#bookFill` (§3.7).
    const isBooked = ours.length > 0 && ours.every((orderId) => journal.hasFill({ tradeId: trade.tradeId, orderId }));
    if (isBooked && trade.symbol === symbol) return trade.unreadable === undefined;
    // An older trade of others is part of the first balances and needs no decision.
    if (ours.length > 0 || !this.#parts.isBeforeOurs(trade)) quarantinedTrades.hold(symbol, trade, invalid, isLast);
    return false;
  }

  #invalid(trade: VenueTrade, symbol: string): InvalidTrade | undefined {
    const { portfolio } = this.#execution;
    return invalidByItself(trade, symbol, portfolio.instrument(symbol)) ?? invalidForOrders(this.#execution, trade);
  }

  /** Books the other side of self-trades for which the exchange shows one row: its fee is not known. */
  bookHalves(symbol: string): void {
    const { clock, timing } = this.#execution;
    for (const [tradeId, half] of this.#halves) {
      if (half.trade.symbol !== symbol || ++half.reads < 2 || clock.now() - half.since < timing.sweepGapMs) continue;
      this.#halves.delete(tradeId);
      this.#bookSide(half.trade, opposite(half.trade.side));
    }
  }

  #noteHalf(trade: VenueTrade): void {
    const other = this.#halves.get(trade.tradeId);
    if (other === undefined) this.#halves.set(trade.tradeId, { trade, since: this.#execution.clock.now(), reads: 0 });
    else if (other.trade.side !== trade.side) this.#halves.delete(trade.tradeId);
  }

  /** Books one side of a trade, as our fill or as foreign. A row of a self-trade has the fee of its own side only. */
  #bookSide(trade: VenueTrade, side: Side): void {
    for (const fill of fillsIn(this.#execution, trade)) if (fill.side === side) this.#bookFill(fill);
    this.#bookForeign(trade, side);
  }

  /** A booked fill may be shown again. With other numbers it is a contradiction, and the booked row stays (§3.7). */
  #bookFill(fill: Fill): void {
    const { journal, portfolio } = this.#execution;
    const row = () => fillRow(fill, portfolio.instrument(fill.symbol));
    if (journal.isOther(fill, row)) reportChange(this.#execution, row());
    else this.#parts.emit(fill);
  }

  /** Books what a foreign order on the account moved. */
  #bookForeign(trade: VenueTrade, booked: Side): void {
    const { owners, foreign, doubtful, books, portfolio, changes } = this.#execution;
    for (const [index, orderId] of trade.orderIds.entries()) {
      if (owners.has(orderId)) continue;
      if (!foreign.has(orderId) && !this.#parts.isBeforeOurs(trade)) continue;
      const side = this.#sideOf(trade, index);
      if (side !== booked) continue;
      doubtful.keep(orderId, { trade, side });
      const instrument = portfolio.instrument(trade.symbol);
      if (books?.ledger.foreign(trade, orderId, side, instrument, side === trade.side) === true) changes.count++;
    }
  }

  /** The side of one of a trade's orders. */
  #sideOf({ orderIds, side }: VenueTrade, index: number): Side {
    const mate = this.#execution.owners.get(orderIds[1 - index] ?? '');
    if (mate !== undefined) return opposite(mate.side);
    if (orderIds.length === 1) return side;
    return index === 0 ? 'BUY' : 'SELL';
  }
}

/** The human who discarded it did not see these numbers, so it is not booked. */
const otherThanDiscarded: InvalidTrade = {
  why: 'it was discarded, and is shown with other numbers now',
  canBeAccepted: true,
};

/**
 * A booked fill is shown with other numbers: the exchange reversed the trade, or an answer was wrong. Its order is quarantined. If the
 * order is closed, it stays closed and trading halts.
 */
function reportChange(execution: Execution, fill: FillEntry): void {
  const { portfolio, halts } = execution;
  const { clientOrderId, tradeId, orderId } = fill;
  const text = `trade ${tradeId} of order ${orderId} is booked, and the exchange shows it with other numbers now: ${fill.side} ${fill.quantity} at ${fill.price}, fee ${fill.fee} ${fill.feeAsset}`;
  const order = portfolio.order(clientOrderId);
  if (order !== undefined && transitions[order.state].doubt !== undefined)
    quarantine(execution, order, 'changed', text);
  else if (order === undefined && !halts.has('changedFill', text)) {
    contradicted(execution, clientOrderId, text);
    halts.halt('changedFill', text);
  }
}

/** Our fills in a trade of the account: none, one, or two for a self-trade, of which the row has one side's fee. */
function fillsIn(execution: Execution, trade: VenueTrade): readonly Fill[] {
  const fills: Fill[] = [];
  for (const orderId of trade.orderIds) {
    const owner = execution.owners.get(orderId);
    if (owner !== undefined) fills.push(fillOf(execution.account, trade, orderId, owner, trade.orderIds.length > 1));
  }
  return fills;
}

function fillOf(account: Account, trade: VenueTrade, orderId: string, owner: Owner, isSelf: boolean): Fill {
  const { side } = owner;
  const isOtherSide = isSelf && side !== trade.side;
  return {
    tradeId: trade.tradeId,
    orderId,
    clientOrderId: owner.clientOrderId,
    strategy: owner.strategy,
    account,
    symbol: trade.symbol,
    side,
    price: trade.price,
    quantity: trade.quantity,
    fee: isOtherSide ? noUnits : trade.fee,
    feeAsset: trade.feeAsset,
    maker: isOtherSide ? !trade.maker : trade.maker,
    time: trade.time,
    purpose: owner.purpose,
    ...(trade.evidence === undefined ? {} : { evidence: trade.evidence }),
  };
}

const oneLot = 1n as Lots;
const never = (why: string): InvalidTrade => ({ why, canBeAccepted: false });
const acceptable = (why: string): InvalidTrade => ({ why, canBeAccepted: true });

/** Why a row of a symbol's list is invalid by itself, or undefined. */
function invalidByItself(trade: VenueTrade, symbol: string, instrument: Instrument): InvalidTrade | undefined {
  const { price, quantity } = trade;
  if (trade.unreadable !== undefined) return never(trade.unreadable);
  if (trade.symbol !== symbol) return never(`its symbol is ${trade.symbol}, but it was listed under ${symbol}`);
  if (price <= noTicks) return never(`its price is ${priceText(price, instrument)}`);
  if (quantity <= noLots) return never(`its quantity is ${quantityText(quantity, instrument)}`);
  return undefined;
}

/** Why a trade that is not booked contradicts our order that it names, or undefined. */
function invalidForOrders(execution: Execution, trade: VenueTrade): InvalidTrade | undefined {
  const { owners, journal } = execution;
  for (const [index, orderId] of trade.orderIds.entries()) {
    const owner = owners.get(orderId);
    if (owner === undefined) continue;
    if (journal.hasFill({ tradeId: trade.tradeId, orderId })) continue;
    const side = sideOf(trade, index);
    if (owner.side !== side) return never(`it is a ${side}, and order ${owner.clientOrderId} is a ${owner.side}`);
    const order = execution.portfolio.order(owner.clientOrderId) ?? execution.ended(owner.clientOrderId);
    const invalid = order && invalidFor(order, trade, execution.portfolio.instrument(trade.symbol));
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

/** Adds a valid trade to the sums of its closed orders, by which the next trade is checked. */
function countForEnded({ owners, journal, portfolio, ended }: Execution, trade: VenueTrade): void {
  const { tradeId, symbol, price, quantity } = trade;
  for (const orderId of trade.orderIds) {
    const owner = owners.get(orderId);
    if (owner === undefined || journal.hasFill({ tradeId, orderId })) continue;
    const order = portfolio.order(owner.clientOrderId) === undefined ? ended(owner.clientOrderId) : undefined;
    if (order === undefined) continue;
    order.filled = plus(order.filled, quantity);
    order.spent = plus(order.spent, notional(price, quantity, portfolio.instrument(symbol)));
  }
}

/** The side of one of a trade's orders: of two, the buyer's is the first. */
const sideOf = ({ orderIds, side }: VenueTrade, index: number): Side =>
  orderIds.length === 1 ? side : index === 0 ? 'BUY' : 'SELL';

function invalidFor(
  { intent, filled, spent }: WorkingOrder,
  trade: VenueTrade,
  instrument: Instrument,
): InvalidTrade | undefined {
  const { clientOrderId, side, price: limit, volume } = intent;
  const { price, quantity } = trade;
  if (intent.symbol !== trade.symbol)
    return never(`its symbol is ${trade.symbol}, but order ${clientOrderId} is on ${intent.symbol}`);
  if (limit !== undefined && (side === 'BUY' ? price > limit : price < limit))
    return acceptable(
      `its price is ${priceText(price, instrument)}, beyond the limit ${priceText(limit, instrument)} of order ${clientOrderId}`,
    );
  if ('lots' in volume)
    return plus(filled, quantity) <= volume.lots
      ? undefined
      : acceptable(
          `its quantity ${quantityText(quantity, instrument)} exceeds the remaining ${quantityText(minus(volume.lots, filled), instrument)} of order ${clientOrderId}`,
        );
  // The exchange rounds what an amount buys to a step of the quantity.
  const step = notional(price, oneLot, instrument);
  const worth = notional(price, quantity, instrument);
  return minus(plus(spent, worth), volume.amount) < step
    ? undefined
    : acceptable(
        `its value ${unitsText(worth)} exceeds the remaining amount ${unitsText(minus(volume.amount, spent))} of order ${clientOrderId}`,
      );
}

/** Trade ids read again by each sweep: a trade may become visible after a younger one. */
const overlap = 50;

/** The newest booked trades of a symbol, with their contents: how far its trades have been read. */
export class RecentTrades {
  /** Oldest first. */
  readonly #ids: string[];
  /** Each side's content when it was booked; undefined if an earlier run booked it. */
  readonly #booked: Map<string, VenueTrade | undefined>;
  /** The rows booked last: a simulated venue lists the same objects again, which saves comparing their fields. */
  readonly #rows: VenueTrade[] = [];

  constructor(ids: readonly string[] = []) {
    this.#ids = [...ids];
    this.#booked = new Map(ids.map((id) => [id, undefined]));
  }

  /** Ids, oldest first. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The rows that are not booked or have changed, oldest first. */
  news(rows: readonly VenueTrade[]): readonly VenueTrade[] {
    let same = 0;
    while (same < rows.length && rows[same] === this.#rows[same]) same++;
    return sorted(rows.slice(same).filter((trade) => !this.#isKnown(trade)));
  }

  /** True for a booked row with the same content. */
  #isKnown(trade: VenueTrade): boolean {
    const key = tradeKey(trade);
    const then = this.#booked.get(key);
    if (then !== undefined) return isSameTrade(then, trade);
    if (!this.#booked.has(key)) return false;
    this.#booked.set(key, trade);
    return true;
  }

  /** Adds booked trades, oldest first; drops the oldest ones. */
  add(trades: readonly VenueTrade[]): void {
    const newest = this.#ids.at(-1);
    for (const trade of trades) {
      const key = tradeKey(trade);
      if (!this.#booked.has(trade.tradeId)) {
        this.#ids.push(trade.tradeId);
        if (key !== trade.tradeId) this.#booked.set(trade.tradeId, undefined);
      }
      this.#booked.set(key, trade);
      this.#rows.push(trade);
    }
    if (newest !== undefined && compareIds(trades[0]?.tradeId ?? '', newest) < 0) this.#ids.sort(compareIds);
    while (this.#ids.length > overlap) this.#forget(this.#ids.shift() ?? '');
    while (this.#rows.length > overlap) this.#rows.shift();
  }

  #forget(id: string): void {
    this.#booked.delete(id);
    // Self-trades, whose sides have keys of their own, are rare.
    if (this.#booked.size > this.#ids.length) for (const side of ['BUY', 'SELL']) this.#booked.delete(`${id} ${side}`);
  }
}

/** Ids are decimal digits of any length: a longer one is younger. */
export const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

export const sorted = (trades: readonly VenueTrade[]): readonly VenueTrade[] =>
  trades.length < 2 ? trades : trades.toSorted((a, b) => compareIds(a.tradeId, b.tradeId));

export const newestOf = (trades: readonly VenueTrade[]): string | undefined =>
  trades.reduce<string | undefined>(
    (newest, { tradeId }) => (newest === undefined || compareIds(tradeId, newest) > 0 ? tradeId : newest),
    undefined,
  );
