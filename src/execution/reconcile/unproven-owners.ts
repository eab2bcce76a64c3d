/**
 * Orders of the account that count as foreign without proof: the exchange did not find them, or did not return their client id. They are
 * queried again at growing distances. Their trades are kept, to be booked if an order proves to be ours.
 */
import type { Side } from '../../domain/market.ts';
import type { VenueTrade } from '../../domain/order.ts';
import type { ForeignEntry } from '../../journal/entries.ts';

/** Between queries of one order, ms of the clock; doubles up to the longest. Each sweep queries one order, so many cost no more. */
const firstWaitMs = 30_000;
const longestWaitMs = 3_600_000;
/** Sides of trades kept for one order. Further ones are booked from the journal's evidence at the next start. */
const maxSides = 1_000;

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

  /** Adds an order, to be queried again some time after `now`. */
  add(row: Row, now: number): void {
    const { waitMs = firstWaitMs, sides = [] } = this.#orders.get(row.orderId) ?? {};
    this.#orders.set(row.orderId, { ...row, askAt: now + waitMs, waitMs, sides });
  }

  /** An order of a symbol that may be one of ours created at `createdAt`: an order that was unproven before that is not. */
  since(symbol: string, createdAt: number): string | undefined {
    for (const { orderId, symbol: on, at } of this.#orders.values())
      if (on === symbol && at >= createdAt) return orderId;
    return undefined;
  }

  /** Keeps a trade of an order, in case it is ours. */
  keep(orderId: string, side: TradeSide): void {
    const sides = this.#orders.get(orderId)?.sides;
    if (sides !== undefined && sides.length < maxSides) sides.push(side);
  }

  /** The order of a symbol whose query is due, if any; its wait doubles. */
  due(symbol: string, now: number): string | undefined {
    let first: Entry | undefined;
    for (const one of this.#orders.values())
      if (one.symbol === symbol && one.askAt <= now && (first === undefined || one.askAt < first.askAt)) first = one;
    if (first === undefined) return undefined;
    first.waitMs = Math.min(first.waitMs * 2, longestWaitMs);
    first.askAt = now + first.waitMs;
    return first.orderId;
  }

  /** The owner of an order is proven. If it is ours, its trades are to be booked. */
  settle(orderId: string, isOurs: boolean): void {
    const sides = this.#orders.get(orderId)?.sides ?? [];
    this.#orders.delete(orderId);
    if (isOurs) this.#reclaimed.push(...sides);
  }

  /** The trades of orders that proved to be ours, once. */
  takeReclaimed(): readonly TradeSide[] {
    const sides = this.#reclaimed;
    this.#reclaimed = [];
    return sides;
  }
}
