/** Sends the view to every open page, at most five times a second and only when something changed. */
import type { Clock } from '../clock/clock.ts';
import { type KlineView, maxEquityPoints, maxKlines, type Update, type View } from './view.ts';

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

/** What is pushed: the view and the klines of its markets. */
export interface Pushed {
  view(): View;
  klines(symbol: string, interval: string): readonly KlineView[];
}

/** Where each series stood at the last push. */
interface Sent {
  equityAt: number;
  readonly klines: Map<string, readonly KlineView[]>;
}

/** The end of a series from `key` on: the last element sent may have changed since, so it goes again. */
function tail<T>(series: readonly T[], keyOf: (item: T) => number, key: number): readonly T[] {
  let from = series.length;
  while (from > 0 && keyOf(series[from - 1] as T) >= key) from--;
  return series.slice(from);
}

/** Where klines begin to differ from those of before, of which old ones may have gone; their number where nothing does. */
function changedFrom(before: readonly KlineView[], all: readonly KlineView[]): number {
  const gone = before.findIndex(({ openTime }) => openTime === all[0]?.openTime);
  if (gone < 0) return 0;
  const at = all.findIndex((kline, index) => !isSame(kline, before[index + gone]));
  return at < 0 ? all.length : at;
}

const names = ['openTime', 'open', 'high', 'low', 'close', 'volume'] as const;

const isSame = (a: KlineView, b: KlineView | undefined): boolean =>
  a === b || names.every((name) => a[name] === b?.[name]);

function whole(source: Pushed, view: View): Update {
  const klines = view.markets.flatMap(({ symbol, intervals }) =>
    intervals.map((interval) => [`${symbol} ${interval}`, source.klines(symbol, interval).slice(-maxKlines)] as const),
  );
  const equity = { ...view.equity, series: view.equity.series.slice(-maxEquityPoints) };
  return { whole: true, view: { ...view, equity }, klines: Object.fromEntries(klines) };
}

/** True when a series ends earlier than it did: time was set back, so tails would show nothing. */
const wentBack = ({ view, klines }: Update, sent: Sent): boolean =>
  (view.equity.series.at(-1)?.at ?? 0) < sent.equityAt ||
  Object.entries(klines).some(
    ([chart, all]) => (all.at(-1)?.openTime ?? 0) < (sent.klines.get(chart)?.at(-1)?.openTime ?? 0),
  );

function changes(full: Update, sent: Sent): Update {
  if (wentBack(full, sent)) return full;
  // A kline may be closed, or a hole filled, behind one that was sent; the last one goes again in any case.
  const klines = Object.entries(full.klines).map(([chart, all]) => {
    const from = Math.min(changedFrom(sent.klines.get(chart) ?? [], all), all.length - 1);
    return [chart, all.slice(Math.max(0, from))] as const;
  });
  const equity = { ...full.view.equity, series: tail(full.view.equity.series, ({ at }) => at, sent.equityAt) };
  return { whole: false, view: { ...full.view, equity }, klines: Object.fromEntries(klines) };
}

function remember(sent: Sent, { view, klines }: Update): void {
  sent.equityAt = view.equity.series.at(-1)?.at ?? 0;
  for (const [chart, all] of Object.entries(klines)) sent.klines.set(chart, all);
}

export type Pusher = ReturnType<typeof pusher>;

/** Without pages no timer runs. */
export function pusher(source: Pushed, clock: Clock) {
  const clients = new Set<Client>();
  const sent: Sent = { equityAt: 0, klines: new Map() };
  let lastText = '';
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
    const full = whole(source, source.view());
    const update = changes(full, sent);
    const text = JSON.stringify(update);
    if (text !== lastText) {
      for (const client of clients) deliver(client, text);
      lastText = text;
      remember(sent, full);
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
      clients.add(client);
      deliver(client, JSON.stringify(whole(source, source.view())));
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
