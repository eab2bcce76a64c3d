/** Every order and own trade that the exchange knows, found by id, by client id, by holder (a user's spot or margin account). */
import { getOrMake } from '../../domain/get-or-make.ts';
import { holderOf, isOpen, type Leg, type SimOrder, type SimTrade } from './order.ts';

/** One user's side of a trade. A trade with oneself gives two. */
export interface OwnTrade {
  readonly trade: SimTrade;
  readonly leg: Leg;
  readonly isBuyer: boolean;
}

/**
 * Ended orders, and own trades of an account in a symbol, that are kept at least, and at most twice as many; beyond it the
 * oldest can no longer be asked for, as with an exchange's archive.
 */
const usualLimit = 100_000;

/** Gets the id of each order or trade that is dropped. */
export type Forgotten = (what: 'orders' | 'trades', id: string) => void;

export class OrderStore {
  readonly #orders = new Map<string, SimOrder>();
  readonly #newestByClientId = new Map<string, SimOrder>();
  readonly #open = new Map<string, Set<SimOrder>>();
  /** Ids of ended orders, in the order in which they ended. */
  readonly #archived: string[] = [];
  readonly #trades = new Map<string, OwnTrade[]>();
  readonly #limit: number;
  readonly #forgotten: Forgotten;

  constructor(limit = usualLimit, forgotten: Forgotten = () => undefined) {
    this.#limit = limit;
    this.#forgotten = forgotten;
  }

  /** Holders whose ended orders and trades are dropped at once: the other participants of a synthetic market. */
  readonly passing = new Set<string>();

  add(order: SimOrder): void {
    this.#orders.set(order.orderId, order);
    if (order.clientOrderId !== '') this.#newestByClientId.set(`${order.holder} ${order.clientOrderId}`, order);
    if (isOpen(order)) this.#openOf(order.holder).add(order);
    else this.#archive(order);
  }

  /** Records that an order has ended. */
  ended(order: SimOrder): void {
    this.#openOf(order.holder).delete(order);
    this.#archive(order);
  }

  byId(orderId: string): SimOrder | undefined {
    return this.#orders.get(orderId);
  }

  newestByClientId(holder: string, clientOrderId: string): SimOrder | undefined {
    return this.#newestByClientId.get(`${holder} ${clientOrderId}`);
  }

  all(): IterableIterator<SimOrder> {
    return this.#orders.values();
  }

  open(holder: string): ReadonlySet<SimOrder> {
    return this.#openOf(holder);
  }

  addTrade(trade: SimTrade): void {
    for (const [leg, isBuyer] of [[trade.buyer, true] as const, [trade.seller, false] as const]) {
      if (leg === undefined || this.passing.has(leg.uid)) continue;
      const trades = getOrMake(this.#trades, `${holderOf(leg.uid, leg.account)} ${trade.symbol}`, () => []);
      if (trades.push({ trade, leg, isBuyer }) < 2 * this.#limit) continue;
      for (const { trade: old } of trades.splice(0, this.#limit))
        if (!this.#isKnown(old)) this.#forgotten('trades', old.tradeId);
    }
  }

  /** Whether either side still has a trade in its list, which is in the order of ids. */
  #isKnown({ buyer, seller, symbol, tradeId }: SimTrade): boolean {
    return [buyer, seller].some((leg) => {
      const oldest = leg && this.trades(holderOf(leg.uid, leg.account), symbol)[0];
      return oldest !== undefined && Number(oldest.trade.tradeId) <= Number(tradeId);
    });
  }

  /** Forgets a trade that was undone. */
  removeTrade(trade: SimTrade): void {
    for (const leg of [trade.buyer, trade.seller]) {
      if (leg === undefined) continue;
      const key = `${holderOf(leg.uid, leg.account)} ${trade.symbol}`;
      const kept = this.#trades.get(key)?.filter((own) => own.trade.tradeId !== trade.tradeId);
      if (kept !== undefined) this.#trades.set(key, kept);
    }
  }

  /** A holder's trades in a symbol, the oldest first. */
  trades(holder: string, symbol: string): readonly OwnTrade[] {
    return this.#trades.get(`${holder} ${symbol}`) ?? [];
  }

  #openOf(holder: string): Set<SimOrder> {
    return getOrMake(this.#open, holder, () => new Set());
  }

  /** Keeps an ended order for a while. */
  #archive(order: SimOrder): void {
    if (this.passing.has(order.holder)) {
      this.#orders.delete(order.orderId);
      return;
    }
    this.#archived.push(order.orderId);
    if (this.#archived.length < 2 * this.#limit) return;
    for (const orderId of this.#archived.splice(0, this.#limit)) this.#forget(orderId);
  }

  #forget(orderId: string): void {
    const order = this.#orders.get(orderId);
    this.#orders.delete(orderId);
    this.#forgotten('orders', orderId);
    if (order === undefined || order.clientOrderId === '') return;
    const key = `${order.holder} ${order.clientOrderId}`;
    if (this.#newestByClientId.get(key) === order) this.#newestByClientId.delete(key);
  }
}
