/** The state of the page: one signal per part, changed at most once a frame. */
import { computed, signal } from '@preact/signals';
import type { EquityPoint, MarketView, Update, View, ViewChanges } from '../view.ts';

/** `refused`: the daemon is there, and does not take our token. */
export type Connection = 'connecting' | 'connected' | 'lost' | 'refused';

export const view = signal<View | undefined>(undefined);
export const equitySeries = signal<readonly EquityPoint[]>([]);
export const connection = signal<Connection>('connecting');
/** What the page shows is old, and no button can act. */
export const isOffline = computed(() => connection.value !== 'connected');
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

// As in the server's view.ts, which the page can import for its types only.
const maxEquityPoints = 2_000;

/** The curve with its new end: what begins at the end's first point is replaced. */
function joined(series: readonly EquityPoint[], end: readonly EquityPoint[]): readonly EquityPoint[] {
  const first = end[0]?.at ?? Number.POSITIVE_INFINITY;
  return [...series.slice(0, series.findLastIndex(({ at }) => at < first) + 1), ...end].slice(-maxEquityPoints);
}

let latest: View | undefined;
let scheduled = false;

function merge(before: View, { equity, ...changes }: ViewChanges): View {
  // JSON has no undefined: a part that is gone comes as null.
  const parts = Object.fromEntries(Object.entries(changes).map(([name, part]) => [name, part ?? undefined]));
  return {
    ...{ ...before, ...parts },
    equity: equity == null ? before.equity : { ...equity, series: joined(before.equity.series, equity.series) },
  };
}

function show(): void {
  scheduled = false;
  if (latest === undefined) return;
  equitySeries.value = latest.equity.series;
  view.value = latest;
}

/** Takes an update in; it is shown with the next frame, together with any that come before it. */
export function take(update: Update): void {
  if (update.whole) latest = update.view;
  else if (latest !== undefined) latest = merge(latest, update.view);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(show);
}
