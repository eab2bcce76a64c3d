/** Every order and own trade that the exchange knows, found by id, by client id, by user. */
import { isOpen, type Leg, type SimOrder, type SimTrade } from './order.ts';

/** One user's side of a trade. A trade with oneself gives two. */
export interface OwnTrade {
  readonly trade: SimTrade;
  readonly leg: Leg;
  readonly isBuyer: boolean;
}

/** Ended orders and own trades kept; beyond it the oldest can no longer be asked for, as with an exchange's archive. */
const orderLimit = 1_000_000;

export class OrderStore {
  readonly #orders = new Map<string, SimOrder>();
  readonly #newestByClientId = new Map<string, SimOrder>();
  readonly #open = new Map<string, Set<SimOrder>>();
  readonly #trades = new Map<string, OwnTrade[]>();

  add(order: SimOrder): void {
    this.#orders.set(order.orderId, order);
    if (order.clientOrderId !== '') this.#newestByClientId.set(`${order.uid} ${order.clientOrderId}`, order);
    if (isOpen(order)) this.#openOf(order.uid).add(order);
    if (this.#orders.size > orderLimit) this.#forgetOldest();
  }

  /** Tells the store that an order has ended. */
  ended(order: SimOrder): void {
    this.#openOf(order.uid).delete(order);
  }

  byId(orderId: string): SimOrder | undefined {
    return this.#orders.get(orderId);
  }

  newestByClientId(uid: string, clientOrderId: string): SimOrder | undefined {
    return this.#newestByClientId.get(`${uid} ${clientOrderId}`);
  }

  /** Orders of a user with this client id, the oldest first: repeated ids are accepted. */
  allByClientId(uid: string, clientOrderId: string): SimOrder[] {
    return [...this.#orders.values()].filter((order) => order.uid === uid && order.clientOrderId === clientOrderId);
  }

  all(): IterableIterator<SimOrder> {
    return this.#orders.values();
  }

  open(uid: string): ReadonlySet<SimOrder> {
    return this.#openOf(uid);
  }

  addTrade(trade: SimTrade): void {
    for (const [leg, isBuyer] of [[trade.buyer, true] as const, [trade.seller, false] as const]) {
      if (leg === undefined) continue;
      const key = `${leg.uid} ${trade.symbol}`;
      const trades = this.#trades.get(key);
      if (trades === undefined) this.#trades.set(key, [{ trade, leg, isBuyer }]);
      else trades.push({ trade, leg, isBuyer });
      if (trades !== undefined && trades.length > orderLimit) trades.splice(0, orderLimit / 10);
    }
  }

  /** A user's trades in a symbol, the oldest first. */
  trades(uid: string, symbol: string): readonly OwnTrade[] {
    return this.#trades.get(`${uid} ${symbol}`) ?? [];
  }

  #openOf(uid: string): Set<SimOrder> {
    let open = this.#open.get(uid);
    if (open === undefined) {
      open = new Set();
      this.#open.set(uid, open);
    }
    return open;
  }

  #forgetOldest(): void {
    for (const order of this.#orders.values()) {
      if (isOpen(order)) continue;
      this.#orders.delete(order.orderId);
      const key = `${order.uid} ${order.clientOrderId}`;
      if (this.#newestByClientId.get(key) === order) this.#newestByClientId.delete(key);
      return;
    }
  }
}
