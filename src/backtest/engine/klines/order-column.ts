/** The orders of a run that are over, as columns: an order takes some numbers, not a dozen objects that have to be cleared away. */
import { type Lots, noLots, noUnits, type Ticks, type Units } from '../../../domain/money.ts';
import type { Intent, OrderState, VenueStatus } from '../../../domain/order.ts';
import { intendedOrder, type WorkingOrder } from '../../../portfolio/working-order.ts';
import { ExactColumn, NumberColumn } from './columns.ts';

/** Our id of the order that is so many orders after the first, and the reverse. */
export const clientIdOf = (sequence: number): string => `b${String(sequence).padStart(9, '0')}`;
export const sequenceOf = (clientOrderId: string): number => Number(clientOrderId.slice(1));
/** Nothing waits in a run over klines, so nothing expires. */
export const lifeMs = 1;

/** What many orders have in common. */
export interface OrderKind
  extends Pick<Intent, 'strategy' | 'role' | 'account' | 'symbol' | 'side' | 'type' | 'purpose'> {
  readonly state: OrderState;
  readonly venueStatus: VenueStatus | undefined;
  readonly cancelRequested: boolean;
}
type OrderEnd = Pick<OrderKind, 'state' | 'venueStatus' | 'cancelRequested'>;

/** What every order has of its own. */
export interface OrderNumbers {
  readonly sequence: number;
  /** NaN for one that the venue did not accept. */
  readonly orderId: number;
  readonly decision: number;
  /** UTC ms. */
  readonly createdAt: number;
  readonly closedAt: number;
}

export class OrderColumn {
  readonly #kinds: OrderKind[] = [];
  readonly #kind = new NumberColumn();
  readonly #reasons: string[] = [];
  readonly #sequence = new NumberColumn();
  /** NaN for one that the venue did not accept. */
  readonly #orderId = new NumberColumn();
  readonly #decision = new NumberColumn();
  readonly #createdAt = new NumberColumn();
  readonly #closedAt = new NumberColumn();
  readonly #expected = new ExactColumn<Lots>();
  readonly #lots = new ExactColumn<Lots>();
  readonly #filled = new ExactColumn<Lots>();
  readonly #executed = new ExactColumn<Lots>();
  readonly #price = new ExactColumn<Ticks>();
  /** Of those that were given as an amount. */
  readonly #amounts = new Map<number, Units>();

  /** The numbers of a row. */
  numbers(row: number): OrderNumbers {
    return {
      sequence: this.#sequence.at(row),
      orderId: this.#orderId.at(row),
      decision: this.#decision.at(row),
      createdAt: this.#createdAt.at(row),
      closedAt: this.#closedAt.at(row),
    };
  }

  get length(): number {
    return this.#kind.length;
  }

  /** An order that is over, at UTC ms. */
  push(order: WorkingOrder, at: number): void {
    const { intent, orderId, filled, executed } = order;
    const { volume, price, expectedLots, createdAt, decision } = intent;
    if ('amount' in volume) this.#amounts.set(this.length, volume.amount);
    this.#lots.push('lots' in volume ? volume.lots : undefined);
    this.#expected.push(expectedLots);
    this.#filled.push(filled);
    this.#executed.push(executed);
    this.#price.push(price);
    const kind = this.kindOf(intent, order);
    const [sequence, id] = [sequenceOf(intent.clientOrderId), orderId === undefined ? Number.NaN : Number(orderId)];
    this.#push(kind, intent.reason, { sequence, orderId: id, decision, createdAt, closedAt: at });
  }

  /** A MARKET order that filled whole; lots as a safe integer. */
  pushFilled(kind: number, reason: string, lots: number, numbers: OrderNumbers): void {
    this.#lots.numbers.push(lots);
    this.#expected.numbers.push(lots);
    this.#filled.numbers.push(lots);
    this.#executed.numbers.push(lots);
    this.#price.numbers.push(Number.NaN);
    this.#push(kind, reason, numbers);
  }

  /** One more like the last, with these numbers of its own. */
  pushAgain(numbers: OrderNumbers): void {
    const last = this.length - 1;
    const amount = this.#amounts.get(last);
    if (amount !== undefined) this.#amounts.set(this.length, amount);
    for (const column of [this.#lots, this.#expected, this.#filled, this.#executed, this.#price]) column.pushAgain();
    this.#push(this.kindAt(last), this.#reasons[last] as string, numbers);
  }

  #push(kind: number, reason: string, { sequence, orderId, decision, createdAt, closedAt }: OrderNumbers): void {
    this.#kind.push(kind);
    this.#reasons.push(reason);
    this.#sequence.push(sequence);
    this.#orderId.push(orderId);
    this.#decision.push(decision);
    this.#createdAt.push(createdAt);
    this.#closedAt.push(closedAt);
  }

  /** The index of a kind. */
  kindOf(
    { strategy, role, account, symbol, side, type, purpose }: Omit<OrderKind, keyof OrderEnd>,
    { state, venueStatus, cancelRequested }: OrderEnd,
  ): number {
    const kinds = this.#kinds;
    for (let index = 0; index < kinds.length; index++) {
      const kind = kinds[index] as OrderKind;
      if (
        kind.side === side &&
        kind.purpose === purpose &&
        kind.state === state &&
        kind.strategy === strategy &&
        kind.symbol === symbol &&
        kind.type === type &&
        kind.venueStatus === venueStatus &&
        kind.cancelRequested === cancelRequested &&
        kind.role === role &&
        kind.account === account
      )
        return index;
    }
    const kind = { strategy, role, account, symbol, side, type, purpose, state, venueStatus, cancelRequested };
    return kinds.push(kind) - 1;
  }

  get kinds(): readonly OrderKind[] {
    return this.#kinds;
  }

  /** The index of its kind. */
  kindAt(row: number): number {
    return this.#kind.at(row);
  }

  kind(row: number): OrderKind {
    return this.#kinds[this.kindAt(row)] as OrderKind;
  }

  createdAt(row: number): number {
    return this.#createdAt.at(row);
  }

  closedAt(row: number): number {
    return this.#closedAt.at(row);
  }

  /** Whether nothing of it filled. */
  isUnfilled(row: number): boolean {
    return this.#filled.numbers.at(row) === 0;
  }

  /** One of them, made anew. */
  order(row: number): WorkingOrder {
    const { state, venueStatus, cancelRequested, ...shared } = this.kind(row);
    const amount = this.#amounts.get(row);
    const price = this.#price.at(row);
    const createdAt = this.#createdAt.at(row);
    const orderId = this.#orderId.at(row);
    const intent: Intent = {
      clientOrderId: clientIdOf(this.#sequence.at(row)),
      ...shared,
      decision: this.#decision.at(row),
      volume: amount === undefined ? { lots: this.#lots.at(row) ?? noLots } : { amount },
      ...(price !== undefined && { price }),
      expectedLots: this.#expected.at(row) ?? noLots,
      reason: this.#reasons[row] as string,
      ...{ createdAt, expiresAt: createdAt + lifeMs },
    };
    return {
      ...intendedOrder(intent),
      ...{ state, venueStatus, cancelRequested, spent: noUnits },
      orderId: Number.isNaN(orderId) ? undefined : String(orderId),
      filled: this.#filled.at(row) ?? noLots,
      executed: this.#executed.at(row),
    };
  }
}
