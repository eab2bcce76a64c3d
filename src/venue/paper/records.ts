/** The orders and trades of a simulated account, for queries. */

import { getOrMake } from '../../domain/get-or-make.ts';
import type { Instrument } from '../../domain/instrument.ts';
import type { Lots, Ticks, Units } from '../../domain/money.ts';
import type { Evidence, Intent, OrderReport, VenueStatus, VenueTrade } from '../../domain/order.ts';
import type { Page } from '../venue.ts';

/** An order of the account. */
export interface PaperOrder {
  readonly orderId: string;
  readonly intent: Intent;
  readonly at: Instrument;
  status: VenueStatus;
  executed: Lots;
  /** What it has locked of the asset that it pays with. */
  locked: Units;
}

/** A trade of the account, with what only a simulated venue knows. */
export interface PaperTrade extends VenueTrade {
  readonly clientOrderId: string;
  readonly evidence: Evidence;
  /** The price that an ambiguous kline could have given. */
  readonly bestPrice: Ticks | undefined;
  readonly worstPrice?: Ticks | undefined;
}

/** As many rows as the exchange gives at most (specification §4.2). */
const pageSize = 1000;
/** Of each symbol's trades and of all closed orders the youngest are kept, at least half as many; older ones cannot be asked for. */
const maxKept = 4_000;

export class Records {
  readonly #keepsClosed: boolean;
  readonly #byClientId = new Map<string, PaperOrder>();
  readonly #trades = new Map<string, PaperTrade[]>();
  /** Oldest first; mostly the last one is asked for. */
  readonly #closed: PaperOrder[] = [];

  /** Without `keepsClosed` only open orders are known: a backtest gets every event and never queries. */
  constructor(keepsClosed = true) {
    this.#keepsClosed = keepsClosed;
  }

  add(order: PaperOrder): void {
    this.#byClientId.set(order.intent.clientOrderId, order);
  }

  /** The open order with this client id. */
  working(clientOrderId: string): PaperOrder | undefined {
    return this.#byClientId.get(clientOrderId);
  }

  order(orderId: string): PaperOrder | undefined {
    for (const order of this.#byClientId.values()) if (order.orderId === orderId) return order;
    return this.#closed.findLast((order) => order.orderId === orderId);
  }

  openOrders(): readonly PaperOrder[] {
    return [...this.#byClientId.values()];
  }

  close(order: PaperOrder): void {
    this.#byClientId.delete(order.intent.clientOrderId);
    if (!this.#keepsClosed) return;
    if (this.#closed.length >= maxKept) this.#closed.splice(0, maxKept / 2);
    this.#closed.push(order);
  }

  addTrade(trade: PaperTrade): void {
    if (!this.#keepsClosed) return;
    const trades = getOrMake(this.#trades, trade.symbol, () => []);
    if (trades.length >= maxKept) trades.splice(0, maxKept / 2);
    trades.push(trade);
  }

  /** Trades of a symbol from an id on, that one included; without an id the newest page. Oldest first. */
  tradesSince(symbol: string, fromId: string | undefined): Page<PaperTrade> {
    const trades = this.#trades.get(symbol) ?? [];
    let first = trades.length;
    if (fromId === undefined) first = Math.max(0, trades.length - pageSize);
    else while (first > 0 && !isBefore(trades[first - 1]?.tradeId ?? '', fromId)) first--;
    const rows = trades.slice(first, first + pageSize);
    return { rows, full: rows.length === pageSize };
  }
}

/** Ids are decimal digits of any length. */
const isBefore = (a: string, b: string): boolean => a.length < b.length || (a.length === b.length && a < b);

export function reportOf({ orderId, intent, status, executed }: PaperOrder): OrderReport {
  const { clientOrderId, symbol, side, type } = intent;
  return { orderId, clientOrderId, symbol, side, type, status, executed };
}
