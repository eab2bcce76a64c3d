/** The order port of a simulated account. */
import { createHash } from 'node:crypto';
import { Subject } from 'rxjs';
import type { Clock } from '../../clock/clock.ts';
import type { Intent, Outcome } from '../../domain/order.ts';
import { type AccountReader, type CancelOutcome, failed, type OrderEntry, type OrderRef, ok } from '../venue.ts';
import type { PaperAccount } from './account.ts';
import { reportOf } from './records.ts';

/** How requests reach the simulated exchange, and when: what differs between klines and a live feed. */
export interface PaperWire {
  submit(intent: Intent): Promise<Outcome>;
  cancel(order: OrderRef): Promise<CancelOutcome>;
  /** Resolves when an answer to a query would be here. */
  roundTrip(): Promise<void>;
}

export interface PaperPorts {
  readonly orders: OrderEntry;
  readonly account: AccountReader;
  /** Says that something happened to the orders of a symbol. */
  announce(symbol: string): void;
}

/** Real exchanges act on an order for 2 s after it was signed; nothing depends on it here, but it is journalled. */
const recvWindowMs = 2000;
const orderMissing = { code: '-2013', message: 'Order does not exist.' };

export function paperPorts(account: PaperAccount, wire: PaperWire, clock: Clock): PaperPorts {
  const news = new Subject<string>();
  const orders: OrderEntry = {
    news,
    admit: () => Promise.resolve(true),
    prepare: (intent) => ({
      signedAt: clock.now(),
      recvWindowMs,
      bodyHash: createHash('sha256').update(bodyOf(intent)).digest('hex'),
      send: () => wire.submit(intent),
    }),
    cancel: (order) => wire.cancel(order),
    async query({ symbol, orderId }) {
      await wire.roundTrip();
      const order = account.records.order(orderId);
      if (order === undefined || order.intent.symbol !== symbol) return failed(orderMissing.message, orderMissing.code);
      return ok(reportOf(order));
    },
    async openOrders(symbol) {
      await wire.roundTrip();
      const open = [...account.records.openOrders()].filter(({ intent }) => intent.symbol === symbol);
      return ok({ rows: open.map(reportOf), full: false });
    },
    async tradesSince(symbol, fromId) {
      await wire.roundTrip();
      return ok(account.records.tradesSince(symbol, fromId));
    },
  };
  const reader: AccountReader = {
    async balances() {
      await wire.roundTrip();
      return ok(account.balances());
    },
  };
  return { orders, account: reader, announce: (symbol) => news.next(symbol) };
}

/** Cancelling an order that is over is refused, as exchanges do; whatever the answer, only a query tells the truth. */
export function cancelable(account: PaperAccount, { symbol, orderId }: OrderRef): Intent | CancelOutcome {
  const order = account.records.order(orderId);
  if (
    order === undefined ||
    order.intent.symbol !== symbol ||
    account.records.working(order.intent.clientOrderId) !== order
  )
    return { kind: 'refused', ...orderMissing };
  return order.intent;
}

function bodyOf({ clientOrderId, symbol, side, type, volume, price }: Intent): string {
  const size = 'lots' in volume ? `lots=${volume.lots}` : `amount=${volume.amount}`;
  return `${clientOrderId}&${symbol}&${side}&${type}&${size}&price=${price ?? ''}`;
}
