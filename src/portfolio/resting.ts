/** Resting orders as a plan wants them. */
import type { Side } from '../domain/market.ts';
import type { Lots, Ticks } from '../domain/money.ts';
import type { Intent } from '../domain/order.ts';

/** A resting order that a signal asks for. */
export interface Resting {
  readonly side: Side;
  readonly price: Ticks;
  readonly lots: Lots;
  /** How far an existing order's rest may be off and still be this one. */
  readonly tolerance: Lots;
  readonly purpose: Intent['purpose'];
  readonly reason: string;
}
