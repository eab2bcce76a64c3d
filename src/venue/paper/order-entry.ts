/** The order port of a simulated account. */
import type { Clock } from '../../clock/clock.ts';
import type { Units } from '../../domain/money.ts';
import type { Intent, Outcome } from '../../domain/order.ts';
import { type AccountReader, type CancelOutcome, failed, type OrderEntry, type OrderRef, ok } from '../venue.ts';
import type { PaperAccount } from './account.ts';
import { reportOf } from './records.ts';

/** How requests reach the simulated exchange, and when: what differs between klines and a live feed. */
export interface PaperWire {
  submit(intent: Intent): Promise<Outcome>;
  cancel(order: OrderRef): Promise<CancelOutcome>;
  /** A query: reads when it has arrived, resolves when the answer is back. */
  ask<T>(read: () => T): Promise<T>;
}

/** Real exchanges act on an order for 2 s after it was signed; nothing depends on it here, but it is journalled. */
const recvWindowMs = 2000;
const orderMissing = { code: '-2013', message: 'Order does not exist.' };

export function paperOrders(account: PaperAccount, wire: PaperWire, clock: Clock): OrderEntry {
  const { records } = account;
  return {
    admit: () => Promise.resolve(true),
    prepare: (intent) => ({
      signedAt: clock.now(),
      recvWindowMs,
      // No bytes leave, so there are none to hash.
      bodyHash: '',
      async send(gate) {
        const against = await gate;
        if (against !== undefined) return { kind: 'notSent', cause: against };
        // A promise that is returned costs three turns, one that is awaited one.
        return await wire.submit(intent);
      },
    }),
    cancel: (order) => wire.cancel(order),
    query: ({ symbol, orderId }) =>
      wire.ask(() => {
        const order = records.order(orderId);
        return order?.intent.symbol === symbol ? ok(reportOf(order)) : failed(orderMissing.message, orderMissing.code);
      }),
    openOrders: (symbol) =>
      wire.ask(() => {
        const open = records.openOrders().filter(({ intent }) => intent.symbol === symbol);
        return ok({ rows: open.map(reportOf), full: false });
      }),
    tradesSince: (symbol, fromId) => wire.ask(() => ok(records.tradesSince(symbol, fromId))),
  };
}

export const paperBalances = (account: PaperAccount, wire: PaperWire): AccountReader => ({
  balances: () => wire.ask(() => ok(account.balances())),
});

/** What the simulated venues share: orders reach the account first, then the market of their symbol. */
export class PaperMarkets<Market extends { submit(intent: Intent): void; cancel(clientOrderId: string): void }> {
  readonly funds: PaperAccount;
  readonly #markets = new Map<string, Market>();

  constructor(account: PaperAccount, symbols: Iterable<string>, open: (symbol: string) => Market) {
    this.funds = account;
    for (const symbol of symbols) this.#markets.set(symbol, open(symbol));
  }

  all(): IterableIterator<Market> {
    return this.#markets.values();
  }

  market(symbol: string): Market {
    const market = this.#markets.get(symbol);
    if (market === undefined) throw new Error(`no market for ${symbol}`);
    return market;
  }

  /** Pays an amount in or out (negative); false when less is free. */
  transfer(asset: string, amount: Units): boolean {
    return this.funds.transfer(asset, amount);
  }

  submit(intent: Intent): Outcome {
    const outcome = this.funds.accept(intent);
    if (outcome.kind === 'accepted') this.market(intent.symbol).submit(intent);
    return outcome;
  }

  /** Cancelling a closed order is refused, as at real exchanges. Only a query proves the order's state. */
  cancel({ symbol, orderId }: OrderRef): CancelOutcome {
    const { records } = this.funds;
    const order = records.order(orderId);
    const isOpen = order?.intent.symbol === symbol && records.working(order.intent.clientOrderId) === order;
    if (!isOpen) return { kind: 'refused', ...orderMissing };
    this.market(symbol).cancel(order.intent.clientOrderId);
    return { kind: 'requested' };
  }
}
