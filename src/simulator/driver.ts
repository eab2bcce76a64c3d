/** Moves the exchange with its clock: one timer, set to the next event of the market or the socket. */
import type { Clock } from '../clock/clock.ts';
import type { Changes, Exchange } from './core/exchange.ts';
import type { Leg, SimOrder } from './core/order.ts';
import type { Store } from './persist/store.ts';
import type { Recorder } from './recorder.ts';
import type { Feed } from './ws/feed.ts';

export class Driver {
  readonly #exchange: Exchange;
  readonly #feed: Feed;
  readonly #clock: Clock;
  readonly #store: Store | undefined;
  readonly #record: Recorder;
  #cancel = (): void => undefined;
  #stopped = false;
  /** Saved, not pushed yet: a request may be saved several times before its answer has left. */
  #saved: Changes[] = [];

  constructor(exchange: Exchange, feed: Feed, clock: Clock, store: Store | undefined, record: Recorder) {
    this.#exchange = exchange;
    this.#feed = feed;
    this.#clock = clock;
    this.#store = store;
    this.#record = record;
  }

  /** Lets the market reach the clock's time. */
  advance(): void {
    this.#exchange.advanceTo(this.#clock.now());
  }

  /** Saves and logs the changes since the last call. Nothing of them may be shown before. */
  save(): void {
    const changes = this.#exchange.takeChanges();
    const { changed } = this.#exchange.accounts;
    const holders = [...changed];
    this.#store?.save(this.#exchange, lasting(changes, this.#exchange));
    changed.clear();
    this.#record(changes, holders);
    this.#saved.push(changes);
  }

  /** Pushes what was saved, and sets the timer anew. */
  publish(): void {
    const due = this.#saved;
    this.#saved = [];
    for (const changes of due) this.#feed.publish(changes);
    this.#cancel();
    const at = Math.min(this.#exchange.nextAt(), this.#feed.nextAt());
    if (!this.#stopped && at < Number.POSITIVE_INFINITY) this.#cancel = this.#clock.at(at, () => this.tick());
  }

  tick(): void {
    this.advance();
    this.save();
    this.publish();
  }

  /** Does something to the exchange at the current time, then saves and publishes it. */
  act<T>(act: () => T): T {
    this.advance();
    try {
      return act();
    } finally {
      this.save();
      this.publish();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }
}

/** Without the orders and trades of other participants, who start anew after a restart: they would fill the store. */
function lasting(changes: Changes, { orders: { passing } }: Exchange): Changes {
  if (passing.size === 0) return changes;
  const ofUsers = (orders: ReadonlySet<SimOrder>) => new Set([...orders].filter(({ holder }) => !passing.has(holder)));
  const isOfUser = (leg: Leg | undefined): boolean => leg !== undefined && !passing.has(leg.uid);
  const trades = changes.trades.filter(({ buyer, seller }) => isOfUser(buyer) || isOfUser(seller));
  return { ...changes, orders: ofUsers(changes.orders), queues: ofUsers(changes.queues), trades };
}
