/** One of our orders while it is not closed, and what is left of it. */
import type { Instrument } from '../domain/instrument.ts';
import {
  greatest,
  type Lots,
  minus,
  noLots,
  noTicks,
  notional,
  noUnits,
  type Ticks,
  type Units,
} from '../domain/money.ts';
import type { Intent, OrderState, VenueStatus } from '../domain/order.ts';

/** One of our orders that is not closed yet, and what is known of it. Only execution writes to it. */
export interface WorkingOrder {
  readonly intent: Intent;
  state: OrderState;
  orderId: string | undefined;
  filled: Lots;
  /** Quote paid by the fills so far, of an order that was given as an amount. */
  spent: Units;
  /** What the exchange says was executed, once it calls the order final. */
  executed: Lots | undefined;
  venueStatus: VenueStatus | undefined;
  signedAt: number | undefined;
  recvWindowMs: number | undefined;
  bodyHash: string | undefined;
  tradeFloor: string | undefined;
  cancelRequested: boolean;
  /** Why nobody can say what became of it, once it was quarantined. */
  quarantineReason: string | undefined;
  /** The batch in which it left, without a client id at the exchange; undefined when it leaves alone. */
  batch: string | undefined;
}

/** An order that was only meant so far. */
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
export const remaining = (order: WorkingOrder): Lots =>
  greatest(minus(order.intent.expectedLots, order.filled), noLots);

/** Quote that an order may still spend; nothing for a MARKET order in lots, whose price nobody knows. */
export const reservedQuote = (order: WorkingOrder, at: Instrument): Units =>
  order.intent.side === 'SELL' ? noUnits : openValue(order, at, noTicks);

/** What is left of an order, in quote, at its own price; at the given one where it has none. */
export function openValue(order: WorkingOrder, at: Instrument, market: Ticks): Units {
  const { volume, price = market } = order.intent;
  return 'amount' in volume
    ? greatest(minus(volume.amount, order.spent), noUnits)
    : notional(price, remaining(order), at);
}
