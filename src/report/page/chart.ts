/** The chart of klines with fills and stops: klines as fine as the view has room for, evidence at a click. */
import type * as Charts from 'lightweight-charts';
import type { Payload, PayloadSeries } from '../chart-data.ts';
import { around, finestFor, intervalName, lengthOf, type Opened } from './levels.ts';
import { colour, marksOf, openPanes, type Panes, paintPanes, seconds } from './panes.ts';
import { fillsOf, type Kline, klinesOf, placeAt, type ShownFill, withinKlines } from './unpack.ts';

export interface Shown {
  readonly series: PayloadSeries;
  readonly opened: readonly Opened[];
  readonly fills: readonly ShownFill[];
}

export interface Pointed {
  readonly kline: Kline;
  readonly ms: number;
}

interface Told {
  readonly pointed: (at: Pointed | undefined) => void;
  readonly clicked: (at: Pointed) => void;
  /** The interval of the klines in view, and how many fills are not drawn because they are too many. */
  readonly viewed: (interval: string, hidden: number) => void;
}

export async function openSeries(series: PayloadSeries, payload: Payload): Promise<Shown> {
  const opened = await Promise.all(
    series.levels.map(async (level) => ({
      ms: lengthOf(level, series.ms),
      isPartial: level.ms === 0,
      klines: await klinesOf(level, series, payload.unitMs),
    })),
  );
  return { series, opened, fills: await fillsOf(series, payload) };
}

/** More marks than this in view would hide the klines. */
const mostMarks = 260;
/** More fills than this are not even sorted into marks. */
const mostFillsInView = 10_000;

/** Prices that multiply over a run are drawn on a logarithmic scale: the early ones would lie flat. */
const widest = 6;
function isWide({ opened }: Shown): boolean {
  const closes = opened[0]?.klines.map(({ close }) => close) ?? [];
  return Math.max(...closes) > widest * Math.min(...closes);
}

export class KlineChart {
  readonly #box: HTMLElement;
  readonly #told: Told;
  readonly #panes: Panes;
  #shown: Shown | undefined;
  #level: Opened | undefined;
  #klines: readonly Kline[] = [];
  #lines: Charts.IPriceLine[] = [];
  #isWaiting = false;

  constructor(box: HTMLElement, told: Told) {
    this.#box = box;
    this.#told = told;
    this.#panes = openPanes(box);
    const { chart } = this.#panes;
    chart.timeScale().subscribeVisibleLogicalRangeChange(() => {
      if (this.#isWaiting) return;
      this.#isWaiting = true;
      requestAnimationFrame(() => this.#follow());
    });
    const at = (time: Charts.Time | undefined): Pointed | undefined =>
      typeof time === 'number' ? this.klineAt(time * 1_000) : undefined;
    chart.subscribeCrosshairMove(({ time }) => told.pointed(at(time)));
    chart.subscribeClick(({ time }) => {
      const clicked = at(time);
      if (clicked !== undefined) told.clicked(clicked);
    });
  }

  klineAt(time: number): Pointed | undefined {
    const kline = this.#klines[placeAt(this.#klines, time + 1) - 1];
    return kline === undefined || this.#level === undefined ? undefined : { kline, ms: this.#level.ms };
  }

  show(shown: Shown, from: number, to: number): void {
    this.#shown = shown;
    const { pricePrecision } = shown.series;
    const priceFormat = { type: 'price', precision: pricePrecision, minMove: 10 ** -pricePrecision } as const;
    const { prices, stops, targets } = this.#panes;
    for (const line of [prices, stops, targets]) line.applyOptions({ priceFormat });
    this.#panes.chart.priceScale('right').applyOptions({ mode: isWide(shown) ? 1 : 0 });
    this.#load(from, to);
    this.#drawMarks(from, to);
  }

  paint(): void {
    paintPanes(this.#panes);
    const view = this.#view();
    if (view !== undefined) this.#drawMarks(...view);
  }

  /** What is in view as a picture: a chart does not fit itself to paper. */
  picture(): HTMLCanvasElement {
    return this.#panes.chart.takeScreenshot();
  }

  /** Draws the prices at which positions would have been left at a time. */
  mark(time: number): void {
    const { prices } = this.#panes;
    for (const line of this.#lines) prices.removePriceLine(line);
    const rows = this.#shown?.series.stops.filter(([at]) => at <= time) ?? [];
    const inForce = [...new Map(rows.map((row) => [row[1], row])).values()];
    const wanted = inForce.flatMap(([, strategy, stop, target]) => [
      { price: stop, title: `${strategy} stop`, color: colour('down') },
      { price: target, title: `${strategy} target`, color: colour('up') },
    ]);
    this.#lines = wanted.flatMap(({ price, ...look }) =>
      price === null ? [] : [prices.createPriceLine({ ...look, price, lineStyle: 2, lineWidth: 1 })],
    );
  }

  /** More klines than this would be narrower than a pixel. */
  get #mostInView(): number {
    return Math.max(150, this.#box.clientWidth * 0.8);
  }

  /** Draws the klines of a span from the level that suits it. */
  #load(from: number, to: number): void {
    if (this.#shown === undefined) return;
    this.#level = finestFor(this.#shown.opened, from, to, this.#mostInView);
    if (this.#level === undefined) return;
    this.#klines = around(this.#level, from, to);
    const { chart, prices, volumes, stops, targets } = this.#panes;
    prices.setData(
      this.#klines.map(({ time, open, high, low, close }) => ({ time: seconds(time), open, high, low, close })),
    );
    volumes.setData(this.#klines.map(({ time, volume }) => ({ time: seconds(time), value: volume })));
    this.#drawSteps(stops, 2);
    this.#drawSteps(targets, 3);
    chart.timeScale().setVisibleRange({ from: seconds(from), to: seconds(to) });
  }

  /** A stop or a target as it was when each kline closed. */
  #drawSteps(line: Charts.ISeriesApi<'Line'>, column: 2 | 3): void {
    const rows = this.#shown?.series.stops ?? [];
    const ms = this.#level?.ms ?? 0;
    let next = 0;
    let price: number | null = null;
    const levels = this.#klines.map(({ time }) => {
      for (let row = rows[next]; row !== undefined && row[0] < time + ms; row = rows[++next]) price = row[column];
      return price;
    });
    // A line goes on through points that have no value; between two stops it is there, but cannot be seen.
    const points = this.#klines.map(({ time, close }, index) => {
      const level = levels[index];
      return level === null || level === undefined
        ? { time: seconds(time), value: levels[index + 1] ?? close, color: 'transparent' }
        : { time: seconds(time), value: level };
    });
    line.setData(levels.every((level) => level === null) ? [] : points);
  }

  /** The span of time in view; beyond the klines that are drawn it goes on in steps of one. */
  #view(): readonly [from: number, to: number] | undefined {
    const range = this.#panes.chart.timeScale().getVisibleLogicalRange();
    const [first, last] = [this.#klines[0], this.#klines.at(-1)];
    const ms = this.#level?.ms ?? 0;
    if (range === null || first === undefined || last === undefined) return undefined;
    const timeOf = (place: number): number => {
      if (place < 0) return first.time + place * ms;
      const whole = Math.floor(place);
      const kline = this.#klines[whole];
      return kline === undefined
        ? last.time + (place - this.#klines.length + 1) * ms
        : kline.time + (place - whole) * ms;
    };
    return [timeOf(range.from), timeOf(range.to)];
  }

  #drawMarks(from: number, to: number): void {
    const all = this.#shown?.fills ?? [];
    const inView = withinKlines(all, this.#klines, from, to);
    const marks = inView.length > mostFillsInView ? [] : marksOf(inView, this.#klines);
    const isTooMany = inView.length > mostFillsInView || marks.length > mostMarks;
    this.#panes.markers.setMarkers(isTooMany ? [] : marks);
    this.#told.viewed(intervalName(this.#level?.ms ?? 0), isTooMany ? inView.length : 0);
  }

  /** After a drag or a zoom: other klines where these are too coarse, too fine or at their end. */
  #follow(): void {
    this.#isWaiting = false;
    const view = this.#view();
    const level = this.#level;
    if (view === undefined || this.#shown === undefined || level === undefined) return;
    const [from, to] = view;
    const [first, last] = [this.#klines[0]?.time ?? 0, this.#klines.at(-1)?.time ?? 0];
    const isAtEnd =
      (from < first && level.klines[0]?.time !== first) || (to > last && level.klines.at(-1)?.time !== last);
    if (isAtEnd || finestFor(this.#shown.opened, from, to, this.#mostInView) !== level) this.#load(from, to);
    this.#drawMarks(from, to);
  }
}
