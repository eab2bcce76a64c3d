/** Moves the exchange with its clock: one timer, set to whatever happens next, in the market or on the socket. */
import type { Clock } from '../clock/clock.ts';
import type { Changes, Exchange } from './core/exchange.ts';
import { fillRows, type LogEntry, orderRow } from './log.ts';
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
  readonly log: (entry: LogEntry) => void;
}

export function drive({ exchange, feed, clock, store, log }: DriverSetup): Driver {
  let cancel: () => void = () => undefined;
  let stopped = false;
  /** Saved, not pushed yet: a request may be saved several times before its answer has left. */
  let saved: Changes[] = [];

  function record({ orders, trades }: Changes): void {
    for (const order of orders)
      log({ at: exchange.now, kind: 'order', ...orderRow(order, exchange.matching(order.symbol).instrument) });
    for (const trade of trades) {
      const at = exchange.matching(trade.symbol).instrument;
      for (const row of fillRows(trade, at, (id) => exchange.orders.byId(id)))
        log({ at: exchange.now, kind: 'fill', ...row });
    }
  }

  const advance = (): void => exchange.advanceTo(clock.now());
  const save = (): void => {
    const changes = exchange.takeChanges();
    store?.save(exchange, changes);
    record(changes);
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
