/** An order of ours that is not closed yet, and a resting order that a signal asks for. */
import type { Instrument } from '../domain/instrument.ts';
import type { Side } from '../domain/market.ts';
import { type Lots, max, minus, noLots, notional, noUnits, type Ticks, type Units } from '../domain/money.ts';
import type { Intent, OrderState, VenueStatus } from '../domain/order.ts';

/** One of our orders that is not closed yet, and what is known of it. Only execution writes to it. */
export interface WorkingOrder {
  readonly intent: Intent;
  state: OrderState;
  orderId: string | undefined;
  filled: Lots;
  /** Quote paid by the fills so far, of an order that was given as an amount. */
  spent: Units;
  /** The executed quantity that the exchange reports, once the order is final. */
  executed: Lots | undefined;
  venueStatus: VenueStatus | undefined;
  signedAt: number | undefined;
  recvWindowMs: number | undefined;
  bodyHash: string | undefined;
  tradeFloor: string | undefined;
  cancelRequested: boolean;
  /** Why its outcome is in doubt, once it was quarantined. */
  quarantineReason: string | undefined;
  /** The batch in which it left, without a client id at the exchange; undefined when it leaves alone. */
  batch: string | undefined;
}

/** An order before anything is sent. */
export const intendedOrder = (intent: Intent): WorkingOrder => ({
  intent,
  state: 'intended',
  orderId: undefined,
  filled: noLots,
  spent: noUnits,
  executed: undefined,
  venueStatus: undefined,
  signedAt: undefined,
  recvWindowMs: undefined,
  bodyHash: undefined,
  tradeFloor: undefined,
  cancelRequested: false,
  quarantineReason: undefined,
  batch: undefined,
});

/** What is left of an order, in lots. A MARKET BUY by amount counts what the amount was expected to buy. */
export const remaining = (order: WorkingOrder): Lots => max(minus(order.intent.expectedLots, order.filled), noLots);

/** What is left of an order, in quote, at its own price; at the given one where it has none. */
export function openValue(order: WorkingOrder, at: Instrument, market: Ticks): Units {
  const { volume, price = market } = order.intent;
  return 'amount' in volume ? max(minus(volume.amount, order.spent), noUnits) : notional(price, remaining(order), at);
}

/** A resting order that a signal asks for: one that works already and equals it stays. */
export interface Resting {
  readonly side: Side;
  readonly price: Ticks;
  readonly lots: Lots;
  /** How far an existing order's rest may be off and still be this one. */
  readonly tolerance: Lots;
  readonly purpose: Intent['purpose'];
  readonly reason: string;
}
