/** The state of the page: one signal per part, changed at most once a frame. */
import { computed, signal } from '@preact/signals';
import type { EquityPoint, KlineView, MarketView, Update, View } from '../view.ts';

/** `refused`: the daemon is there, and does not take our token. */
export type Connection = 'connecting' | 'connected' | 'lost' | 'refused';

export const view = signal<View | undefined>(undefined);
const klines = signal<Readonly<Record<string, readonly KlineView[]>>>({});
export const equitySeries = signal<readonly EquityPoint[]>([]);
export const connection = signal<Connection>('connecting');
/** The result of the last action. */
export interface Answered {
  readonly ok: boolean;
  readonly message: string;
}
export const toast = signal<Answered | undefined>(undefined);

const chosen = signal<string | undefined>(undefined);
/** By symbol. */
const chosenIntervals = signal<Readonly<Record<string, string>>>({});
/** The market on the chart: the chosen one, or the first; in its chosen interval. */
export const shownMarket = computed((): MarketView | undefined => {
  const markets = view.value?.markets ?? [];
  const market = markets.find(({ symbol }) => symbol === chosen.value) ?? markets[0];
  if (market === undefined) return undefined;
  const interval = chosenIntervals.value[market.symbol];
  return interval === undefined || !market.intervals.includes(interval) ? market : { ...market, interval };
});
export const showSymbol = (symbol: string): void => {
  chosen.value = symbol;
};
export function showInterval(interval: string): void {
  const market = shownMarket.value;
  if (market !== undefined) chosenIntervals.value = { ...chosenIntervals.value, [market.symbol]: interval };
}
/** The name of the chart of a market, such as `BTCUSDT 1min`. */
export const chartOf = ({ symbol, interval }: MarketView): string => `${symbol} ${interval}`;
export const klinesOf = (market: MarketView): readonly KlineView[] => klines.value[chartOf(market)] ?? [];

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
  for (const [chart, end] of Object.entries(update.klines)) {
    merged[chart] = joined(before.klines[chart] ?? [], end, (kline) => kline.openTime, maxKlines);
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
