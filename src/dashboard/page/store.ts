/** The state of the page: one signal per part, changed at most once a frame. */
import { computed, signal } from '@preact/signals';
import type { EquityPoint, KlineView, Update, View } from '../view.ts';

/** `refused`: the daemon is there, and does not take our token. */
export type Connection = 'connecting' | 'connected' | 'lost' | 'refused';

export const view = signal<View | undefined>(undefined);
export const klines = signal<Readonly<Record<string, readonly KlineView[]>>>({});
export const equitySeries = signal<readonly EquityPoint[]>([]);
export const connection = signal<Connection>('connecting');
/** The result of the last action. */
export interface Answered {
  readonly ok: boolean;
  readonly message: string;
}
export const toast = signal<Answered | undefined>(undefined);

const chosen = signal<string | undefined>(undefined);
/** The market on the chart: the chosen one, or the first. */
export const shownMarket = computed(() => {
  const markets = view.value?.markets ?? [];
  return markets.find(({ symbol }) => symbol === chosen.value) ?? markets[0];
});
export const showSymbol = (symbol: string): void => {
  chosen.value = symbol;
};

// As in the server's view.ts, which the page can import for its types only.
const maxKlines = 1_000;
const maxEquityPoints = 2_000;

/** A series with its new end: what begins at the tail's first key is replaced. */
function joined<T>(series: readonly T[], end: readonly T[], keyOf: (item: T) => number, max: number): readonly T[] {
  const first = end[0];
  if (first === undefined) return series;
  let keep = series.length;
  while (keep > 0 && keyOf(series[keep - 1] as T) >= keyOf(first)) keep--;
  return [...series.slice(0, keep), ...end].slice(-max);
}

let latest: Update | undefined;
let scheduled = false;

function merge(before: Update, update: Update): Update {
  const equity = joined(before.view.equity.series, update.view.equity.series, (point) => point.at, maxEquityPoints);
  const merged: Record<string, readonly KlineView[]> = {};
  for (const [symbol, end] of Object.entries(update.klines)) {
    merged[symbol] = joined(before.klines[symbol] ?? [], end, (kline) => kline.openTime, maxKlines);
  }
  return { ...update, view: { ...update.view, equity: { ...update.view.equity, series: equity } }, klines: merged };
}

function show(): void {
  scheduled = false;
  if (latest === undefined) return;
  klines.value = latest.klines;
  equitySeries.value = latest.view.equity.series;
  view.value = latest.view;
}

/** Takes an update in; it is shown with the next frame, together with any that come before it. */
export function take(update: Update): void {
  latest = update.whole || latest === undefined ? update : merge(latest, update);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(show);
}
