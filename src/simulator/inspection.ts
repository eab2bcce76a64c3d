/** The true state of the exchange, for tests and reports: not what replies say. */
import { unitsText } from '../domain/money.ts';
import type { Account } from '../domain/order.ts';
import type { Exchange } from './core/exchange.ts';
import type { Limits } from './core/limits.ts';
import { holderOf, type SimOrder } from './core/order.ts';
import { type FillRow, fillRows, type OrderRow, orderRow } from './log.ts';

const accountsOf = (uid: string): string[] => [holderOf(uid, 'spot'), holderOf(uid, 'margin')];

export type Inspection = ReturnType<typeof inspection>;

export function inspection(exchange: Exchange, limits: Limits, retained: () => Readonly<Record<string, number>>) {
  const { orders, accounts, instruments } = exchange;
  const row = (order: SimOrder): OrderRow => orderRow(order, exchange.matching(order.symbol).instrument);
  const allOrders = (uid: string): OrderRow[] => [...orders.all()].filter((order) => order.uid === uid).map(row);
  return {
    /** Every fill of a user, on spot and on margin, the oldest first. */
    allTrades(uid: string): FillRow[] {
      const fills = [...instruments.values()].flatMap((instrument) => {
        // A trade with oneself is kept once for each side, and `fillRows` gives both.
        const own = accountsOf(uid).flatMap((holder) => orders.trades(holder, instrument.symbol));
        const trades = new Set(own.map(({ trade }) => trade));
        return [...trades].flatMap((trade) => fillRows(trade, instrument, (id) => orders.byId(id)));
      });
      return fills.filter((fill) => fill.uid === uid).sort((a, b) => (BigInt(a.tradeId) < BigInt(b.tradeId) ? -1 : 1));
    },
    /** Every order of a user, the oldest first. */
    allOrders,
    openOrders: (uid: string): OrderRow[] => accountsOf(uid).flatMap((holder) => [...orders.open(holder)].map(row)),
    /** Orders with a client id, the oldest first: repeated ids are accepted. */
    ordersByClientId: (uid: string, clientOrderId: string): OrderRow[] =>
      allOrders(uid).filter((order) => order.clientOrderId === clientOrderId),
    /** Decimal text by asset. */
    balances(uid: string, account: Account = 'spot'): Record<string, { free: string; locked: string }> {
      const text = [...accounts.holdings(holderOf(uid, account))].map(
        ([asset, { free, locked }]) => [asset, { free: unitsText(free), locked: unitsText(locked) }] as const,
      );
      return Object.fromEntries(text);
    },
    /** Weight in the current windows of an address and a user. */
    weightUsed: (uid: string, ip = '127.0.0.1'): { ip: number; uid: number } => limits.used(ip, uid, exchange.now),
    /** Throws when money was created or lost, or depth is crossed. */
    checkLedger: (): void => exchange.checkLedger(),
    /** How many objects of each kind are in memory; each kind has a limit. */
    retained,
  };
}
