/** Books trades of the account as our fills and as movements of others, each side of a trade by itself. Booking a row again changes nothing. */
import { opposite, type Side } from '../domain/market.ts';
import type { Fill, VenueTrade } from '../domain/order.ts';
import type { FillEntry } from '../journal/entries.ts';
import { contradicted, type Execution, fillsIn, quarantine } from './context.ts';
import type { InvalidTrade } from './quarantined-trades.ts';
import { fillRow, venueTradeRow } from './records.ts';
import { transitions } from './states.ts';
import { countForEnded, invalidByItself, invalidForOrders } from './trade-validation.ts';

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
