/** Sends the view to every open page, at most five times a second and only when something changed. */
import type { Clock } from '../clock/clock.ts';
import { type EquityPoint, maxEquityPoints, type Update, type View } from './view.ts';

/** Real ms between two pushes: quick enough for eyes, and half the work for a phone of ten a second. */
const pushEveryMs = 200;
/** A page that has this much unsent is too slow: it is dropped, and connects anew to a whole view. */
export const maxBufferedBytes = 4 * 1024 * 1024;
/** More pages at once are turned away. */
export const maxClients = 16;

/** A connected page; `ws` sockets are one. */
export interface Client {
  readonly bufferedAmount: number;
  send(text: string): void;
  terminate(): void;
}

export interface Pushed {
  view(): View;
}

/** What the pages have. */
interface Sent {
  readonly view: View;
  /** Each part as JSON, to see which have changed; of the equity curve its last point. */
  readonly texts: ReadonlyMap<string, string | undefined>;
}

/** The end of a series from `key` on: the last element sent may have changed since, so it goes again. */
function tail<T>(series: readonly T[], keyOf: (item: T) => number, key: number): readonly T[] {
  let from = series.length;
  while (from > 0 && keyOf(series[from - 1] as T) >= key) from--;
  return series.slice(from);
}

const withSeries = (view: View, series: readonly EquityPoint[]): View => ({
  ...view,
  equity: { ...view.equity, series },
});

function sentOf(all: View): Sent {
  const view = withSeries(all, all.equity.series.slice(-maxEquityPoints));
  const compared = Object.entries(withSeries(view, view.equity.series.slice(-1)));
  return { view, texts: new Map(compared.map(([name, part]) => [name, JSON.stringify(part)])) };
}

const lastAt = ({ view }: Sent): number => view.equity.series.at(-1)?.at ?? 0;

/** What the pages do not have yet; undefined while nothing has changed. */
function changes(before: Sent, now: Sent): Update | undefined {
  // Time was set back: the end of the series would show nothing.
  if (lastAt(now) < lastAt(before)) return { whole: true, view: now.view };
  const view = withSeries(
    now.view,
    tail(now.view.equity.series, ({ at }) => at, lastAt(before)),
  );
  const names = [...new Set([...before.texts.keys(), ...now.texts.keys()])] as (keyof View)[];
  const changed = names.filter((name) => before.texts.get(name) !== now.texts.get(name));
  if (changed.length === 0) return undefined;
  return { whole: false, view: Object.fromEntries(changed.map((name) => [name, view[name] ?? null])) };
}

export type Pusher = ReturnType<typeof pusher>;

/** Without pages no timer runs. */
export function pusher(source: Pushed, clock: Clock) {
  const clients = new Set<Client>();
  let sent: Sent | undefined;
  let stopTimer: (() => void) | undefined;

  function deliver(client: Client, text: string): void {
    if (client.bufferedAmount <= maxBufferedBytes) {
      client.send(text);
      return;
    }
    clients.delete(client);
    client.terminate();
  }

  function push(): void {
    const now = sentOf(source.view());
    const update = sent === undefined ? undefined : changes(sent, now);
    sent = now;
    if (update !== undefined) {
      const text = JSON.stringify(update);
      for (const client of clients) deliver(client, text);
    }
    schedule();
  }

  function schedule(): void {
    stopTimer = clients.size === 0 ? undefined : clock.at(clock.now() + clock.machine(pushEveryMs), push);
  }

  return {
    /** Sends a whole view and keeps the client until `remove`; false when there are too many. */
    add(client: Client): boolean {
      if (clients.size >= maxClients) return false;
      // It gets what the others have: the next changes are those since then.
      if (sent === undefined || clients.size === 0) sent = sentOf(source.view());
      clients.add(client);
      const update: Update = { whole: true, view: sent.view };
      deliver(client, JSON.stringify(update));
      if (stopTimer === undefined) schedule();
      return true;
    },
    remove(client: Client): void {
      clients.delete(client);
    },
    close(): void {
      stopTimer?.();
      for (const client of clients) client.terminate();
      clients.clear();
    },
  };
}
