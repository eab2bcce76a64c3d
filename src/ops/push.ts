/** Sends the view to every open page, at most five times a second and only when something changed. */
import type { Clock } from '../clock/clock.ts';
import { type EquityPoint, type KlineView, maxEquityPoints, maxKlines, type Update, type View } from './view.ts';

/** Real ms between two pushes: quick enough for eyes, and half the work for a phone of ten a second. */
const pushEveryMs = 200;
/** A page that has this much unsent is too slow: it is dropped, and connects anew to a whole view. */
const maxBufferedBytes = 4 * 1024 * 1024;
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
  klines(symbol: string): readonly KlineView[];
}

/** Where each series stood at the last push. */
interface Sent {
  equityAt: number;
  readonly klineTimes: Map<string, number>;
}

/** The end of a series from `key` on: the last element sent may have changed since, so it goes again. */
function tail<T>(series: readonly T[], keyOf: (item: T) => number, key: number): readonly T[] {
  let from = series.length;
  while (from > 0 && keyOf(series[from - 1] as T) >= key) from--;
  return series.slice(from);
}

const openTime = (kline: KlineView): number => kline.openTime;
const pointTime = (point: EquityPoint): number => point.at;

function whole(source: Pushed, view: View): Update {
  const klines = view.markets.map(({ symbol }) => [symbol, source.klines(symbol).slice(-maxKlines)] as const);
  const equity = { ...view.equity, series: view.equity.series.slice(-maxEquityPoints) };
  return { whole: true, view: { ...view, equity }, klines: Object.fromEntries(klines) };
}

/** True when a series ends earlier than it did: time was set back, so tails would show nothing. */
const wentBack = ({ view, klines }: Update, sent: Sent): boolean =>
  (view.equity.series.at(-1)?.at ?? 0) < sent.equityAt ||
  Object.entries(klines).some(([symbol, all]) => (all.at(-1)?.openTime ?? 0) < (sent.klineTimes.get(symbol) ?? 0));

function changes(full: Update, sent: Sent): Update {
  if (wentBack(full, sent)) return full;
  const klines = Object.entries(full.klines).map(
    ([symbol, all]) => [symbol, tail(all, openTime, sent.klineTimes.get(symbol) ?? 0)] as const,
  );
  const equity = { ...full.view.equity, series: tail(full.view.equity.series, pointTime, sent.equityAt) };
  return { whole: false, view: { ...full.view, equity }, klines: Object.fromEntries(klines) };
}

function remember(sent: Sent, { view, klines }: Update): void {
  sent.equityAt = view.equity.series.at(-1)?.at ?? 0;
  for (const [symbol, all] of Object.entries(klines)) sent.klineTimes.set(symbol, all.at(-1)?.openTime ?? 0);
}

export interface Pusher {
  /** Sends a whole view and keeps the client until `remove`; false when there are too many. */
  add(client: Client): boolean;
  remove(client: Client): void;
  close(): void;
}

/** Without pages nothing is looked at and no timer runs. */
export function pusher(source: Pushed, clock: Clock): Pusher {
  const clients = new Set<Client>();
  const sent: Sent = { equityAt: 0, klineTimes: new Map() };
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
    add(client) {
      if (clients.size >= maxClients) return false;
      clients.add(client);
      deliver(client, JSON.stringify(whole(source, source.view())));
      if (stopTimer === undefined) schedule();
      return true;
    },
    remove(client) {
      clients.delete(client);
    },
    close() {
      stopTimer?.();
      for (const client of clients) client.terminate();
      clients.clear();
    },
  };
}
