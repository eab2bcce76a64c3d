/** What the exchange knows to be true, for tests and reports: not what any reply says. */
import { unitsText } from '../domain/money.ts';
import type { Account } from '../domain/order.ts';
import type { Exchange } from './core/exchange.ts';
import type { Limits } from './core/limits.ts';
import { holderOf, type SimOrder } from './core/order.ts';
import { type FillRow, fillRows, type OrderRow, orderRow } from './log.ts';

export interface Inspection {
  /** Every fill of a user, on spot and on margin, the oldest first; orders likewise. */
  allTrades(uid: string): FillRow[];
  /** Every order of a user, the oldest first. */
  allOrders(uid: string): OrderRow[];
  openOrders(uid: string): OrderRow[];
  /** Orders that carry a client id, the oldest first: repeated ids are accepted. */
  ordersByClientId(uid: string, clientOrderId: string): OrderRow[];
  /** Decimal text by asset, of the spot account unless told otherwise. */
  balances(uid: string, account?: Account): Record<string, { free: string; locked: string }>;
  /** Weight that counts at this moment against an address and a user. */
  weightUsed(uid: string, ip?: string): { ip: number; uid: number };
  /** Throws when money was made or lost, or a book is crossed. */
  checkLedger(): void;
  /** How many things of each kind it keeps in memory; every one of them has a limit. */
  retained(): Readonly<Record<string, number>>;
}

const accountsOf = (uid: string): string[] => [holderOf(uid, 'spot'), holderOf(uid, 'margin')];

export function inspection(
  exchange: Exchange,
  limits: Limits,
  retained: () => Readonly<Record<string, number>>,
): Inspection {
  const { orders, accounts, instruments } = exchange;
  const row = (order: SimOrder): OrderRow => orderRow(order, exchange.matching(order.symbol).instrument);
  const allOrders = (uid: string): OrderRow[] => [...orders.all()].filter((order) => order.uid === uid).map(row);
  return {
    allTrades(uid) {
      const fills = [...instruments.values()].flatMap((at) => {
        // A trade with oneself is kept once for each side, and `fillRows` gives both.
        const own = accountsOf(uid).flatMap((holder) => orders.trades(holder, at.symbol));
        const trades = new Set(own.map(({ trade }) => trade));
        return [...trades].flatMap((trade) => fillRows(trade, at, (id) => orders.byId(id)));
      });
      return fills.filter((fill) => fill.uid === uid).sort((a, b) => (BigInt(a.tradeId) < BigInt(b.tradeId) ? -1 : 1));
    },
    allOrders,
    openOrders: (uid) => accountsOf(uid).flatMap((holder) => [...orders.open(holder)].map(row)),
    ordersByClientId: (uid, clientOrderId) => allOrders(uid).filter((order) => order.clientOrderId === clientOrderId),
    balances(uid, account = 'spot') {
      const text = [...accounts.holdings(holderOf(uid, account))].map(
        ([asset, { free, locked }]) => [asset, { free: unitsText(free), locked: unitsText(locked) }] as const,
      );
      return Object.fromEntries(text);
    },
    weightUsed: (uid, ip = '127.0.0.1') => limits.used(ip, uid, exchange.now),
    checkLedger: () => exchange.checkLedger(),
    retained,
  };
}
