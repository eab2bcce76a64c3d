/** Moves the exchange with its clock: one timer, set to whatever happens next, in the market or on the socket. */
import type { Clock } from '../clock/clock.ts';
import type { Recorder } from './changes.ts';
import type { Changes, Exchange } from './core/exchange.ts';
import type { Leg, SimOrder } from './core/order.ts';
import type { Store } from './persist/store.ts';
import type { Feed } from './ws/feed.ts';

export interface Driver {
  /** Lets the market reach the clock's time. */
  readonly advance: () => void;
  /** Saves and logs what changed since the last time; before that, none of it may be shown. */
  readonly save: () => void;
  /** Pushes what was saved, and sets the timer anew. */
  readonly publish: () => void;
  /** All three. */
  readonly tick: () => void;
  readonly stop: () => void;
}

export interface DriverSetup {
  readonly exchange: Exchange;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly store: Store | undefined;
  readonly record: Recorder;
}

export function drive({ exchange, feed, clock, store, record }: DriverSetup): Driver {
  let cancel: () => void = () => undefined;
  let stopped = false;
  /** Saved, not pushed yet: a request may be saved several times before its answer has left. */
  let saved: Changes[] = [];

  const advance = (): void => exchange.advanceTo(clock.now());
  const save = (): void => {
    const changes = exchange.takeChanges();
    const { changed } = exchange.accounts;
    const holders = [...changed];
    store?.save(exchange, lasting(changes, exchange));
    changed.clear();
    record(changes, holders);
    saved.push(changes);
  };
  const publish = (): void => {
    const due = saved;
    saved = [];
    for (const changes of due) feed.publish(changes);
    cancel();
    const at = Math.min(exchange.nextAt(), feed.nextAt());
    if (!stopped && at < Number.POSITIVE_INFINITY) cancel = clock.at(at, tick);
  };
  const tick = (): void => {
    advance();
    save();
    publish();
  };
  return {
    advance,
    save,
    publish,
    tick,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** Without the orders of other participants, who begin anew after a restart, and their trades among themselves: they would fill the store. */
function lasting(changes: Changes, { orders: { passing } }: Exchange): Changes {
  if (passing.size === 0) return changes;
  const ofUsers = (orders: ReadonlySet<SimOrder>) => new Set([...orders].filter(({ holder }) => !passing.has(holder)));
  const isOfUser = (leg: Leg | undefined): boolean => leg !== undefined && !passing.has(leg.uid);
  const trades = changes.trades.filter(({ buyer, seller }) => isOfUser(buyer) || isOfUser(seller));
  return { ...changes, orders: ofUsers(changes.orders), queues: ofUsers(changes.queues), trades };
}
