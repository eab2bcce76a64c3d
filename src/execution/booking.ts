/** What trades moved becomes fills of ours and moves of others: from the raw rows, repeatable, each side of a trade by itself. */
import type { Side } from '../domain/market.ts';
import type { Fill, VenueTrade } from '../domain/order.ts';
import { tellOfChange } from './changed-fills.ts';
import { type Execution, fillsIn } from './context.ts';
import type { InvalidTrade } from './quarantined-trades.ts';
import { fillRow, venueTradeRow } from './records.ts';
import { countForEnded, invalidByItself, invalidForOrders } from './trade-validation.ts';

/** One side of a trade with ourselves. */
interface Half {
  readonly trade: VenueTrade;
  readonly since: number;
  looks: number;
}

export interface BookingParts {
  /** Trades from before this journal's first order cannot be ours. */
  readonly isBeforeOurs: (trade: VenueTrade) => boolean;
  readonly emit: (fill: Fill) => void;
}

export class Booking {
  readonly #execution: Execution;
  readonly #parts: BookingParts;
  /** Sides of trades with ourselves whose other side has not been shown yet. */
  readonly #halves = new Map<string, Half>();
  /** When the newest trade of the account that was seen was made, UTC ms. */
  newestTradeAt = Number.NEGATIVE_INFINITY;

  constructor(execution: Execution, parts: BookingParts) {
    this.#execution = execution;
    this.#parts = parts;
  }

  /**
   * Books trades, oldest first, so that a position is built in the order in which it came. `symbol`: whose list shows them; evidence
   * first, so the raw rows are in the same commit as the cursor and the fills made of them (R3). Left out, they are evidence already.
   */
  book(trades: readonly VenueTrade[], symbol?: string): void {
    for (const { trade, side } of this.#execution.doubtful.takeReclaimed())
      if (this.#acceptOrHold(trade, trade.symbol, true)) this.#bookSide(trade, side);
    for (const trade of trades) {
      if (!this.#acceptOrHold(trade, symbol ?? trade.symbol)) continue;
      if (symbol !== undefined) this.#witness(trade);
      if (trade.time > this.newestTradeAt) this.newestTradeAt = trade.time;
      if (trade.orderIds.length > 1) this.#noteHalf(trade);
      this.#bookSide(trade, trade.side);
    }
  }

  #witness(trade: VenueTrade): void {
    const { journal, portfolio, clock } = this.#execution;
    if (!journal.volatile) journal.append(venueTradeRow(trade, portfolio.instrument(trade.symbol), clock.now()));
  }

  /** True when a trade is to be booked. An invalid trade is held for quarantine instead; the built-in exchange shows none. */
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
    // A fill that is booked and is shown otherwise is a contradiction of its own kind (§3.7).
    const isBooked = ours.length > 0 && ours.every((orderId) => journal.hasFill({ tradeId: trade.tradeId, orderId }));
    if (isBooked && trade.symbol === symbol) return trade.unreadable === undefined;
    // What cannot be ours and is in the balances that this journal began with needs nobody's decision.
    if (ours.length > 0 || !this.#parts.isBeforeOurs(trade)) quarantinedTrades.hold(symbol, trade, invalid, isLast);
    return false;
  }

  #invalid(trade: VenueTrade, symbol: string): InvalidTrade | undefined {
    const { portfolio } = this.#execution;
    return invalidByItself(trade, symbol, portfolio.instrument(symbol)) ?? invalidForOrders(this.#execution, trade);
  }

  /** The other side of a trade with ourselves where the exchange shows one row for both: its fee is not known. */
  bookHalves(symbol: string): void {
    const { clock, timing } = this.#execution;
    for (const [tradeId, half] of this.#halves) {
      if (half.trade.symbol !== symbol || ++half.looks < 2 || clock.now() - half.since < timing.sweepGapMs) continue;
      this.#halves.delete(tradeId);
      this.#bookSide(half.trade, opposite(half.trade.side));
    }
  }

  #noteHalf(trade: VenueTrade): void {
    const other = this.#halves.get(trade.tradeId);
    if (other === undefined) this.#halves.set(trade.tradeId, { trade, since: this.#execution.clock.now(), looks: 0 });
    else if (other.trade.side !== trade.side) this.#halves.delete(trade.tradeId);
  }

  /**
   * What one side of a trade moved: our fill, or somebody else's. A trade with ourselves has two sides, and a row speaks for its
   * own alone: only there is that side's fee.
   */
  #bookSide(trade: VenueTrade, side: Side): void {
    for (const fill of fillsIn(this.#execution, trade)) if (fill.side === side) this.#bookFill(fill);
    this.#bookForeign(trade, side);
  }

  /** A fill that is a row already may be shown again; with other numbers it is a contradiction, and the row stays (§3.7). */
  #bookFill(fill: Fill): void {
    const { journal, portfolio } = this.#execution;
    const row = () => fillRow(fill, portfolio.instrument(fill.symbol));
    if (journal.isOther(fill, row)) tellOfChange(this.#execution, row());
    else this.#parts.emit(fill);
  }

  /** What somebody else's order on the account moved. */
  #bookForeign(trade: VenueTrade, booked: Side): void {
    const { owners, foreign, doubtful, books, portfolio, changes } = this.#execution;
    for (const [index, orderId] of trade.orderIds.entries()) {
      if (owners.has(orderId)) continue;
      if (!foreign.has(orderId) && !this.#parts.isBeforeOurs(trade)) continue;
      const side = this.#sideOf(trade, index);
      if (side !== booked) continue;
      doubtful.keep(orderId, { trade, side });
      const at = portfolio.instrument(trade.symbol);
      if (books?.ledger.foreign(trade, orderId, side, at, side === trade.side) === true) changes.count++;
    }
  }

  /** On which side of a trade one of its orders stood. */
  #sideOf({ orderIds, side }: VenueTrade, index: number): Side {
    const mate = this.#execution.owners.get(orderIds[1 - index] ?? '');
    if (mate !== undefined) return opposite(mate.side);
    if (orderIds.length === 1) return side;
    return index === 0 ? 'BUY' : 'SELL';
  }
}

/** Whoever discarded it did not know these numbers, and must not find it booked. */
const otherThanDiscarded: InvalidTrade = {
  why: 'it was discarded, and is shown with other numbers now',
  canBeAccepted: true,
};

const opposite = (side: Side): Side => (side === 'BUY' ? 'SELL' : 'BUY');
