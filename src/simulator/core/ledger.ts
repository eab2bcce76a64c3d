/** What must be true of the money and of the books after every step; anything else is a fault of this program. */
import type { Instrument } from '../../domain/instrument.ts';
import type { Side } from '../../domain/market.ts';
import { baseUnits, notional, type Units } from '../../domain/money.ts';
import type { Accounts } from './accounts.ts';
import type { Matching } from './matching.ts';
import { isOpen, remaining, type SimOrder } from './order.ts';
import type { OrderStore } from './order-store.ts';
import { isPending, type Withdrawals } from './withdrawals.ts';

/** What there is to check of an exchange. */
interface Books {
  readonly accounts: Accounts;
  readonly orders: OrderStore;
  readonly withdrawals: Withdrawals;
  readonly instruments: ReadonlyMap<string, Instrument>;
  matching(symbol: string): Matching;
}

/** The asset and amount that an order locks. */
export function needOf(
  order: Pick<SimOrder, 'type' | 'price' | 'quantity' | 'amount'> & { side: Side },
  at: Instrument,
): readonly [string, Units] {
  if (order.side === 'SELL') return [at.base, baseUnits(order.quantity, at)];
  return [at.quote, order.type === 'MARKET' ? order.amount : notional(order.price, order.quantity, at)];
}

/** Throws when the ledger is off, when what is locked is not what open orders and withdrawals need, or when a book is crossed. */
export function checkLedger(exchange: Books): void {
  const { accounts } = exchange;
  accounts.check();
  const locked = new Map<string, Map<string, bigint>>();
  const lock = (holder: string, asset: string, amount: bigint): void => {
    const assets = locked.get(holder) ?? new Map<string, bigint>();
    locked.set(holder, assets.set(asset, (assets.get(asset) ?? 0n) + amount));
  };
  for (const order of exchange.orders.all()) {
    if (!isOpen(order) && order.locked !== 0n) throw new Error(`order ${order.orderId} ended with funds locked`);
    const at = exchange.matching(order.symbol).instrument;
    if (isOpen(order) && order.locked !== needOf({ ...order, quantity: remaining(order) }, at)[1])
      throw new Error(`order ${order.orderId} locks ${order.locked}, which is not what it still needs`);
    lock(order.holder, order.side === 'BUY' ? at.quote : at.base, order.locked);
  }
  for (const one of exchange.withdrawals.list()) if (isPending(one)) lock(one.uid, one.asset, one.amount);
  for (const holder of accounts.holders()) {
    for (const [asset, holding] of accounts.holdings(holder)) {
      if (holding.locked !== (locked.get(holder)?.get(asset) ?? 0n))
        throw new Error(`user ${holder} has wrong funds locked: ${asset}`);
    }
  }
  for (const { symbol } of exchange.instruments.values()) checkBook(exchange, symbol);
}

function checkBook(exchange: Books, symbol: string): void {
  const { book } = exchange.matching(symbol);
  const bid = book.side('BUY').best()?.price;
  const ask = book.side('SELL').best()?.price;
  if (bid !== undefined && ask !== undefined && bid >= ask) throw new Error(`the book of ${symbol} is crossed`);
}
