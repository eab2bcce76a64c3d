/** The klines of the chart that is shown, asked for while it is: after the first answer only what is new. */
import { signal } from '@preact/signals';
import type { KlinesView } from '../../klines.ts';
import type { KlineView, MarketView } from '../../view.ts';
import { useChartData } from '../ask.ts';
import { chartOf } from '../store.ts';

/** What was answered for one chart. */
interface Received {
  readonly chart: string;
  readonly run: number;
  readonly klines: readonly KlineView[];
}

/** Real ms between two questions. */
const againMs = 500;
// As in the server's view.ts, which the page can import for its types only.
const maxKlines = 1_000;

const received = signal<Received | undefined>(undefined);

const receivedOn = (market: MarketView): Received | undefined =>
  received.value?.chart === chartOf(market) ? received.value : undefined;

const none: readonly KlineView[] = [];
/** The klines of a chart; none of another than the one that is shown. */
export const klinesOf = (market: MarketView): readonly KlineView[] => receivedOn(market)?.klines ?? none;
/** The daemon answered, and has none. */
export const hasNoKlines = (market: MarketView): boolean => receivedOn(market)?.klines.length === 0;

const klinesIn = ({ openTime, open, high, low, close, volume }: KlinesView['columns']): KlineView[] =>
  openTime.map((time, index) => ({
    ...{ openTime: time, open: open[index] ?? 0, high: high[index] ?? 0 },
    ...{ low: low[index] ?? 0, close: close[index] ?? 0, volume: volume[index] ?? 0 },
  }));

/** The last kline may be open, so the page asks for those after the one before it. */
const lastClosed = (klines: readonly KlineView[]): number | undefined => klines.at(-2)?.openTime;

function take(chart: string, { run, whole, columns }: KlinesView): void {
  const before = received.value;
  const fresh = klinesIn(columns);
  const kept = whole || before?.chart !== chart ? [] : before.klines.slice(0, -1);
  received.value = { chart, run, klines: [...kept, ...fresh].slice(-maxKlines) };
}

/** Keeps the klines of a chart up to date while it is shown. */
export function useKlines(market: MarketView): void {
  const since = () => {
    const known = receivedOn(market);
    return known === undefined ? {} : { run: known.run, after: lastClosed(known.klines) };
  };
  useChartData<KlinesView>('klines', market, { since, take, everyMs: againMs });
}
