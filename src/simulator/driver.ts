/** Moves the exchange with its clock: one timer, set to the next event of the market or the socket. */
import type { Clock } from '../clock/clock.ts';
import type { Changes, Exchange } from './core/exchange.ts';
import type { Leg, SimOrder } from './core/order.ts';
import type { Store } from './persist/store.ts';
import type { Recorder } from './recorder.ts';
import type { Feed } from './ws/feed.ts';

export type Driver = ReturnType<typeof openDriver>;

export function openDriver(exchange: Exchange, feed: Feed, clock: Clock, store: Store | undefined, record: Recorder) {
  let cancel = (): void => undefined;
  let isStopped = false;
  /** Saved, not pushed yet: a request may be saved several times before its answer has left. */
  let saved: Changes[] = [];

  /** Lets the market reach the clock's time. */
  const advance = (): void => exchange.advanceTo(clock.now());

  /** Saves and logs the changes since the last call. Nothing of them may be shown before. */
  function save(): void {
    const changes = exchange.takeChanges();
    const { changed } = exchange.accounts;
    const holders = [...changed];
    store?.save(exchange, lasting(changes, exchange));
    changed.clear();
    record(changes, holders);
    saved.push(changes);
  }

  /** Pushes what was saved, and sets the timer anew. */
  function publish(): void {
    const due = saved;
    saved = [];
    for (const changes of due) feed.publish(changes);
    cancel();
    const at = Math.min(exchange.nextAt(), feed.nextAt());
    if (!isStopped && at < Number.POSITIVE_INFINITY) cancel = clock.at(at, tick);
  }

  /** Does something to the exchange at the current time, then saves and publishes it. */
  function act<T>(work: () => T): T {
    advance();
    try {
      return work();
    } finally {
      save();
      publish();
    }
  }

  const tick = (): void => act(() => undefined);

  return {
    tick,
    advance,
    save,
    publish,
    act,
    stop(): void {
      isStopped = true;
      cancel();
    },
  };
}

/** Without the orders and trades of other participants, who start anew after a restart: they would fill the store. */
function lasting(changes: Changes, { orders: { passing } }: Exchange): Changes {
  if (passing.size === 0) return changes;
  const ofUsers = (orders: ReadonlySet<SimOrder>) => new Set([...orders].filter(({ holder }) => !passing.has(holder)));
  const isOfUser = (leg: Leg | undefined): boolean => leg !== undefined && !passing.has(leg.uid);
  const trades = changes.trades.filter(({ buyer, seller }) => isOfUser(buyer) || isOfUser(seller));
  return { ...changes, orders: ofUsers(changes.orders), queues: ofUsers(changes.queues), trades };
}
