/** The truth log: what really happened at the exchange, one entry a line when written as JSON. Every amount is text. */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { priceText, quantityText, unitsText } from '../domain/money.ts';
import type { LimitSettings } from './core/limits.ts';
import type { Leg, SimOrder, SimTrade } from './core/order.ts';
import type { WithdrawalRow } from './core/withdrawals.ts';
import type { OutageHow } from './faults/events.ts';
import type { FaultAction, FaultEvent } from './faults/rules.ts';

/** `at` is exchange time, UTC ms. */
export type LogEntry = { readonly at: number } & (
  | {
      readonly kind: 'start';
      readonly profile: string;
      readonly seed: number;
      readonly limits: LimitSettings;
      /** Times real time; absent where a clock was handed in. */
      readonly speed?: number;
    }
  | {
      readonly kind: 'request';
      readonly ip: string;
      readonly method: string;
      readonly target: string;
      /** The body as it came, cut after 2,048 characters. */
      readonly body: string;
      /** How long ago it says that it was sent, ms; undefined without a timestamp. */
      readonly ageMs: number | undefined;
      /** 0 where the connection was destroyed instead. */
      readonly status: number;
      readonly uid: string | undefined;
      readonly weight: number;
      readonly code: number | undefined;
      /** The rule that answered in the exchange's place, which never saw the request: it weighed nothing. */
      readonly fault?: number;
      /** A fault delivered once more what the client had sent once. */
      readonly again?: true;
    }
  /** `madeBy` where it was no request of a client: a person, or a fault that delivered one again. */
  | ({ readonly kind: 'order'; readonly madeBy?: SimOrder['madeBy'] } & OrderRow)
  | ({ readonly kind: 'fill' } & FillRow)
  | ({ readonly kind: 'balance' } & BalanceRow)
  | ({ readonly kind: 'withdrawal' } & WithdrawalRow)
  | {
      readonly kind: 'fault';
      /** Its number. */
      readonly rule: number;
      readonly method: string;
      readonly path: string;
      readonly action: FaultAction;
    }
  /** A request that met an outage: the exchange never saw it. */
  | { readonly kind: 'away'; readonly method: string; readonly path: string; readonly how: OutageHow }
  /** Something that a rule or an operator made happen; `failed` says why it could not. */
  | { readonly kind: 'event'; readonly event: FaultEvent; readonly failed: string | undefined }
  | { readonly kind: 'ban'; readonly ip: string; readonly until: number }
  | { readonly kind: 'looped'; readonly symbol: string; readonly times: number }
);

/** What an account has of an asset since its last change. */
export interface BalanceRow {
  readonly uid: string;
  readonly account: 'spot' | 'margin';
  readonly asset: string;
  readonly free: string;
  readonly locked: string;
}

/** An order as the exchange knows it. */
export type OrderRow = Readonly<ReturnType<typeof orderRow>>;
/** One user's side of a trade, comparable field by field with a row of `sluice fills --json`. */
export type FillRow = Readonly<ReturnType<typeof fillRow>>;

export const orderRow = (order: SimOrder, at: Instrument) => ({
  orderId: order.orderId,
  clientOrderId: order.clientOrderId,
  uid: order.uid,
  account: order.account,
  symbol: order.symbol,
  side: order.side,
  type: order.type,
  status: order.status,
  price: priceText(order.price, at),
  /** Base quantity, or the quote amount of a MARKET BUY. */
  volume: order.amount > 0n ? unitsText(order.amount) : quantityText(order.quantity, at),
  executed: quantityText(order.executed, at),
  time: order.createdAt,
});

const fillRow = (trade: SimTrade, leg: Leg, side: Side, at: Instrument, clientOrderId: string) => ({
  tradeId: trade.tradeId,
  orderId: leg.orderId,
  clientOrderId,
  uid: leg.uid,
  symbol: trade.symbol,
  side,
  price: priceText(trade.price, at),
  qty: quantityText(trade.quantity, at),
  fee: unitsText(leg.fee),
  feeAsset: leg.feeAsset,
  maker: leg.maker,
  time: trade.time,
});

/** The users' sides of a trade: one row, or two for a trade between users. */
export function fillRows(
  trade: SimTrade,
  at: Instrument,
  orderOf: (orderId: string) => SimOrder | undefined,
): FillRow[] {
  const legs = [[trade.buyer, 'BUY'] as const, [trade.seller, 'SELL'] as const];
  return legs.flatMap(([leg, side]) =>
    leg === undefined ? [] : [fillRow(trade, leg, side, at, orderOf(leg.orderId)?.clientOrderId ?? '')],
  );
}
