/**
 * Orders on the account that count as somebody else's although nobody could say whose they are: the exchange did not know them,
 * or did not say their client id. They are asked for now and then for as long as the program runs, and
 * what they traded is kept, so that one that turns out to be ours can be booked as ours.
 */
import type { Side } from '../../domain/market.ts';
import type { VenueTrade } from '../../domain/order.ts';
import type { ForeignEntry } from '../../journal/entries.ts';

/** Between asking for one again, ms of the clock; doubles up to the most. One is asked for at each look, so that many cost no more. */
const firstWaitMs = 30_000;
const mostWaitMs = 3_600_000;
/** Sides of trades kept for one order; past it the rest is booked from the journal's evidence at the next start. */
const mostSides = 1_000;

/** One side of a trade. */
export interface TradeSide {
  readonly trade: VenueTrade;
  readonly side: Side;
}

type Row = Omit<ForeignEntry, 'kind'>;

interface Entry extends Row {
  askAt: number;
  waitMs: number;
  readonly sides: TradeSide[];
}

export class DoubtfulOrders {
  readonly #orders = new Map<string, Entry>();
  #reclaimed: TradeSide[] = [];

  constructor(rows: readonly Row[]) {
    for (const row of rows) this.add(row, row.at);
  }

  has(orderId: string): boolean {
    return this.#orders.has(orderId);
  }

  /** Takes an order in; it is asked for again some time after `now`. */
  add(row: Row, now: number): void {
    const { waitMs = firstWaitMs, sides = [] } = this.#orders.get(row.orderId) ?? {};
    this.#orders.set(row.orderId, { ...row, askAt: now + waitMs, waitMs, sides });
  }

  /** Whether one of a symbol may be an order that was created at a time: one that counted as doubtful before is not it. */
  since(symbol: string, createdAt: number): string | undefined {
    for (const { orderId, symbol: on, at } of this.#orders.values())
      if (on === symbol && at >= createdAt) return orderId;
    return undefined;
  }

  /** Keeps what an order traded, for the case that it is ours. */
  keep(orderId: string, side: TradeSide): void {
    const sides = this.#orders.get(orderId)?.sides;
    if (sides !== undefined && sides.length < mostSides) sides.push(side);
  }

  /** The one of a symbol that is asked for next, if its time has come; its wait doubles. */
  due(symbol: string, now: number): string | undefined {
    let first: Entry | undefined;
    for (const one of this.#orders.values())
      if (one.symbol === symbol && one.askAt <= now && (first === undefined || one.askAt < first.askAt)) first = one;
    if (first === undefined) return undefined;
    first.waitMs = Math.min(first.waitMs * 2, mostWaitMs);
    first.askAt = now + first.waitMs;
    return first.orderId;
  }

  /** It is known whose the order is. Of one that is ours the trades are to be booked. */
  settle(orderId: string, isOurs: boolean): void {
    const sides = this.#orders.get(orderId)?.sides ?? [];
    this.#orders.delete(orderId);
    if (isOurs) this.#reclaimed.push(...sides);
  }

  /** The trades of orders that turned out to be ours, once. */
  takeReclaimed(): readonly TradeSide[] {
    const sides = this.#reclaimed;
    this.#reclaimed = [];
    return sides;
  }
}
