/** The klines of the charts: those of each market of the strategies, and those of the larger intervals that their indicators are over. */
import { type KlinesAsked, type KlinesView, klinesView } from '../../dashboard/klines.ts';
import { type KlineView, maxKlines } from '../../dashboard/view.ts';
import { aggregator } from '../../domain/aggregator.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { compareIntervals, type Interval, openTimeOf } from '../../domain/interval.ts';
import type { Kline, Trade } from '../../domain/market.ts';
import { plusVolume } from '../../domain/volumes.ts';
import type { Hosted } from '../../strategy/host.ts';
import { needsOf } from '../../strategy/warmup.ts';
import { marketsOf } from '../../trading/lanes.ts';

/** Klines that a chart begins with, also where a strategy needs more. */
const beginning = 300;

interface Chart {
  readonly interval: Interval;
  closed: KlineView[];
  /** The one that is still open, by prints. */
  forming: KlineView | undefined;
  /** Of a larger interval that no feed has: how it is made. */
  made: Made | undefined;
}

interface Made {
  /** The interval of the klines that it is made of. */
  readonly own: Interval;
  readonly take: (kline: KlineView) => void;
  /** The open time of the last kline that was taken. */
  until: number;
}

/** All of both, oldest first. */
const united = (some: readonly KlineView[], others: readonly KlineView[]): KlineView[] =>
  [...new Map([...some, ...others].map((kline) => [kline.openTime, kline])).values()].sort(
    (a, b) => a.openTime - b.openTime,
  );

function close(chart: Chart, kline: KlineView): void {
  if ((chart.closed.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY) < kline.openTime) {
    chart.closed.push(kline);
    if (chart.closed.length > maxKlines) chart.closed.splice(0, chart.closed.length - maxKlines);
  }
  if (chart.forming !== undefined && chart.forming.openTime <= kline.openTime) chart.forming = undefined;
}

/** Makes a larger chart of klines, and goes on after them. */
function begin(chart: Chart, own: Interval, klines: readonly KlineView[]): void {
  const past: KlineView[] = [];
  let isPast = true;
  const take = aggregator(own, chart.interval, (kline) => (isPast ? past.push(kline) : close(chart, kline)));
  for (const kline of klines) take(kline);
  isPast = false;
  chart.closed = united(chart.closed, past).slice(-maxKlines);
  chart.made = { own, take, until: klines.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY };
}

function grow(made: Made, kline: Kline): void {
  if (kline.openTime <= made.until) return;
  made.until = kline.openTime;
  made.take(kline);
}

export class KlineCharts {
  /** By symbol, that of the first strategy first. */
  readonly #charts = new Map<string, Chart[]>();
  /** Another number after each change of klines that were closed already. */
  #run = 0;

  /** Makes the charts of a strategy, where they are not there yet. */
  add(one: Hosted): void {
    this.#run++;
    for (const { role, symbol, interval } of marketsOf(one)) {
      // A feed takes the place of what was made.
      this.#chart(symbol, interval).made = undefined;
      for (const { of } of needsOf(one.strategy, one.params, one.markets === undefined ? undefined : role))
        if (of !== undefined && this.#find(symbol, of) === undefined) begin(this.#chart(symbol, of), interval, []);
    }
  }

  /** The intervals of a symbol that have a chart, the smallest first. */
  intervals(symbol: string): readonly Interval[] {
    return [...(this.#charts.get(symbol) ?? [])].map(({ interval }) => interval).sort(compareIntervals);
  }

  /** Adds past klines, oldest first, after a warm-up or a gap that was filled. */
  addHistory(history: readonly Kline[]): void {
    const [first] = history;
    if (first === undefined) return;
    this.#run++;
    const { symbol, interval } = first;
    const known = united(this.#find(symbol, interval)?.closed ?? [], history);
    for (const chart of this.#charts.get(symbol) ?? []) {
      if (chart.interval === interval) chart.closed = united(chart.closed, history.slice(-beginning)).slice(-maxKlines);
      else if (chart.made?.own === interval) begin(chart, interval, known);
    }
  }

  /** A closed kline. Several strategies of one market repeat it without effect. */
  addKline(kline: Kline): void {
    for (const chart of this.#charts.get(kline.symbol) ?? []) {
      if (chart.interval === kline.interval) close(chart, kline);
      else if (chart.made?.own === kline.interval) grow(chart.made, kline);
    }
  }

  /** A print: the klines that are still open grow by it. */
  addTrade({ symbol, time, price, quantity }: Trade): void {
    for (const chart of this.#charts.get(symbol) ?? []) {
      if (chart.made !== undefined) continue;
      const openTime = openTimeOf(chart.interval, time);
      if (openTime <= (chart.closed.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY)) continue;
      const { forming } = chart;
      chart.forming =
        forming?.openTime === openTime
          ? {
              ...forming,
              high: Math.max(forming.high, price),
              low: Math.min(forming.low, price),
              close: price,
              volume: forming.volume + quantity,
            }
          : { openTime, open: price, high: price, low: price, close: price, volume: quantity };
    }
  }

  /** The klines of a chart, the last one may be open. */
  klines(symbol: string, interval: string): readonly KlineView[] {
    const chart = this.#find(symbol, interval);
    if (chart === undefined) return [];
    const forming = chart.made === undefined ? chart.forming : this.#growing(symbol, chart, chart.made.own);
    return forming === undefined ? chart.closed : [...chart.closed, forming];
  }

  /** The klines of a chart for a page; only those that are new where it has the others. */
  view(asked: KlinesAsked): KlinesView {
    return klinesView(this.klines(asked.symbol, asked.interval), this.#run, asked);
  }

  /** The open kline of a larger interval, where the klines that it is made of reach back to its beginning. */
  #growing(symbol: string, { interval, closed }: Chart, own: Interval): KlineView | undefined {
    const parts = this.klines(symbol, own);
    const last = parts.at(-1);
    if (last === undefined) return undefined;
    const openTime = openTimeOf(interval, last.openTime);
    if (openTime <= (closed.at(-1)?.openTime ?? Number.NEGATIVE_INFINITY)) return undefined;
    const from = parts.findLastIndex((kline) => kline.openTime <= openTime);
    const first = parts[from];
    if (first?.openTime !== openTime) return undefined;
    return parts.slice(from).reduce(
      (sum, { high, low, close, volume }) => ({
        ...{ openTime, open: sum.open, close, volume: plusVolume(sum.volume, volume) },
        ...{ high: Math.max(sum.high, high), low: Math.min(sum.low, low) },
      }),
      { ...first, volume: 0 },
    );
  }

  #find(symbol: string, interval: string): Chart | undefined {
    return this.#charts.get(symbol)?.find((chart) => chart.interval === interval);
  }

  #chart(symbol: string, interval: Interval): Chart {
    const known = this.#find(symbol, interval);
    if (known !== undefined) return known;
    const made: Chart = { interval, closed: [], forming: undefined, made: undefined };
    getOrMake(this.#charts, symbol, () => []).push(made);
    return made;
  }
}
