/** The chart of klines with fills and stops: klines as fine as the view has room for, evidence at a click. */
import {
  createSeriesMarkers,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineSeries,
  LineType,
  type Time,
} from 'lightweight-charts';
import {
  addKlines,
  colour,
  type KlineSeries,
  markersOf,
  openChart,
  paintChart,
  paintKlines,
  seconds,
} from '../../dashboard/page/charts/kline-chart.ts';
import type { Payload, PayloadSeries } from '../chart-data.ts';
import { IndicatorLines } from './indicator-lines.ts';
import { finestFor, intervalName, lengthOf, nearView, type OpenLevel } from './levels.ts';
import { fillsOf, indexAt, type Kline, klinesOf, type ShownFill, valuesOf, withinKlines } from './unpack.ts';

export interface Shown {
  readonly series: PayloadSeries;
  readonly levels: readonly OpenLevel[];
  readonly fills: readonly ShownFill[];
}

export interface Pointed {
  readonly kline: Kline;
  /** By line of an indicator. */
  readonly values: readonly number[];
  readonly ms: number;
}

/** What the page does when the reader points, clicks or moves. */
interface ChartListener {
  readonly pointed: (at: Pointed | undefined) => void;
  readonly clicked: (at: Pointed) => void;
  /** The interval of the klines in view, and of how many of them an arrow has the fills. */
  readonly viewed: (interval: string, klinesOfArrow: number) => void;
}

export async function openSeries(series: PayloadSeries, payload: Payload): Promise<Shown> {
  const levels = await Promise.all(
    series.levels.map(async (level) => ({
      ms: lengthOf(level, series.ms),
      isPartial: level.ms === 0,
      klines: await klinesOf(level, series, payload.unitMs),
      values: await valuesOf(level, series),
    })),
  );
  return { series, levels, fills: await fillsOf(series, payload) };
}

/** Arrows narrower than this, in pixels, would hide the klines: then one stands for the fills of several klines. */
const arrowWidth = 9;

/** Prices that multiply over a run are drawn on a logarithmic scale: the early ones would lie flat. */
const widest = 6;
function isWide({ levels }: Shown): boolean {
  const closes = levels[0]?.klines.map(({ close }) => close) ?? [];
  return Math.max(...closes) > widest * Math.min(...closes);
}

const noKlines = { klines: [], values: [] };

export class KlineChart {
  readonly #box: HTMLElement;
  readonly #listener: ChartListener;
  readonly #chart: IChartApi;
  readonly #klineSeries: KlineSeries;
  readonly #stops: ISeriesApi<'Line'>;
  readonly #targets: ISeriesApi<'Line'>;
  readonly #markers: ISeriesMarkersPluginApi<Time>;
  readonly #indicators: IndicatorLines;
  #shown: Shown | undefined;
  #level: OpenLevel | undefined;
  #klines: readonly Kline[] = [];
  #values: readonly Float64Array[] = [];
  #lines: IPriceLine[] = [];
  #isWaiting = false;

  constructor(box: HTMLElement, listener: ChartListener) {
    this.#box = box;
    this.#listener = listener;
    const chart = openChart(box, { rightOffset: 2, minBarSpacing: 0.3 });
    const quiet = { lastValueVisible: false, priceLineVisible: false } as const;
    const steps = { ...quiet, crosshairMarkerVisible: false, lineWidth: 1, lineType: LineType.WithSteps } as const;
    this.#chart = chart;
    this.#klineSeries = addKlines(chart, quiet);
    this.#stops = chart.addSeries(LineSeries, steps);
    this.#targets = chart.addSeries(LineSeries, steps);
    this.#markers = createSeriesMarkers(this.#klineSeries.prices, []);
    const line = { ...quiet, crosshairMarkerVisible: false, lineWidth: 1 } as const;
    this.#indicators = new IndicatorLines(chart, (pane) => chart.addSeries(LineSeries, line, pane));
    chart.timeScale().subscribeVisibleLogicalRangeChange(() => {
      if (this.#isWaiting) return;
      this.#isWaiting = true;
      requestAnimationFrame(() => this.#follow());
    });
    const at = (time: Time | undefined): Pointed | undefined =>
      typeof time === 'number' ? this.klineAt(time * 1_000) : undefined;
    chart.subscribeCrosshairMove(({ time }) => listener.pointed(at(time)));
    chart.subscribeClick(({ time }) => {
      const clicked = at(time);
      if (clicked !== undefined) listener.clicked(clicked);
    });
  }

  klineAt(time: number): Pointed | undefined {
    const index = indexAt(this.#klines, time + 1) - 1;
    const kline = this.#klines[index];
    const values = this.#values.map((line) => line[index] ?? Number.NaN);
    return kline === undefined || this.#level === undefined ? undefined : { kline, values, ms: this.#level.ms };
  }

  show(shown: Shown, from: number, to: number): void {
    if (this.#shown !== shown) this.#indicators.begin(shown.series.indicators, shown.levels[0] ?? noKlines);
    this.#shown = shown;
    const { pricePrecision } = shown.series;
    const priceFormat = { type: 'price', precision: pricePrecision, minMove: 10 ** -pricePrecision } as const;
    for (const line of [this.#klineSeries.prices, this.#stops, this.#targets]) line.applyOptions({ priceFormat });
    this.#chart.priceScale('right').applyOptions({ mode: isWide(shown) ? 1 : 0 });
    this.#load(from, to);
    this.#drawMarks(from, to);
  }

  paint(): void {
    paintChart(this.#chart);
    paintKlines(this.#klineSeries);
    this.#stops.applyOptions({ color: colour('down') });
    this.#targets.applyOptions({ color: colour('up') });
    this.#indicators.paint();
    const view = this.#view();
    if (view !== undefined) this.#drawMarks(...view);
  }

  /** What is in view as a picture: a chart does not fit itself to paper. */
  picture(): HTMLCanvasElement {
    return this.#chart.takeScreenshot();
  }

  mark(time: number): void {
    const { prices } = this.#klineSeries;
    for (const line of this.#lines) prices.removePriceLine(line);
    const rows = this.#shown?.series.stops.filter(([at]) => at <= time) ?? [];
    const inForce = [...new Map(rows.map((row) => [row[1], row])).values()];
    const lines = inForce.flatMap(([, strategy, stop, target]) => [
      { price: stop, title: `${strategy} stop`, color: colour('down') },
      { price: target, title: `${strategy} target`, color: colour('up') },
    ]);
    this.#lines = lines.flatMap(({ price, ...style }) =>
      price === null ? [] : [prices.createPriceLine({ ...style, price, lineStyle: 2, lineWidth: 1 })],
    );
  }

  /** More klines than this would be narrower than a pixel. */
  get #maxInView(): number {
    return Math.max(150, this.#box.clientWidth * 0.8);
  }

  #load(from: number, to: number): void {
    if (this.#shown === undefined) return;
    this.#level = finestFor(this.#shown.levels, from, to, this.#maxInView);
    if (this.#level === undefined) return;
    ({ klines: this.#klines, values: this.#values } = nearView(this.#level, from, to));
    this.#indicators.draw(this.#klines, this.#values);
    const { prices, volumes } = this.#klineSeries;
    prices.setData(
      this.#klines.map(({ time, open, high, low, close }) => ({ time: seconds(time), open, high, low, close })),
    );
    volumes.setData(this.#klines.map(({ time, volume }) => ({ time: seconds(time), value: volume })));
    this.#drawSteps(this.#stops, 2);
    this.#drawSteps(this.#targets, 3);
    this.#chart.timeScale().setVisibleRange({ from: seconds(from), to: seconds(to) });
  }

  /** A stop or a target as it was when each kline closed. */
  #drawSteps(line: ISeriesApi<'Line'>, column: 2 | 3): void {
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
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    const [first, last] = [this.#klines[0], this.#klines.at(-1)];
    const ms = this.#level?.ms ?? 0;
    if (range === null || first === undefined || last === undefined) return undefined;
    const timeOf = (index: number): number => {
      if (index < 0) return first.time + index * ms;
      const whole = Math.floor(index);
      const kline = this.#klines[whole];
      return kline === undefined
        ? last.time + (index - this.#klines.length + 1) * ms
        : kline.time + (index - whole) * ms;
    };
    return [timeOf(range.from), timeOf(range.to)];
  }

  #drawMarks(from: number, to: number): void {
    const inView = withinKlines(this.#shown?.fills ?? [], this.#klines, from, to);
    const placed = inView.flatMap((fill) => {
      const index = indexAt(this.#klines, fill.time + 1) - 1;
      return index < 0 ? [] : [{ index, isBuy: fill.quantity > 0, isAmbiguous: fill.ambiguous }];
    });
    const max = this.#box.clientWidth / arrowWidth;
    let each = 1;
    while (new Set(placed.map(({ index, isBuy }) => 2 * Math.floor(index / each) + Number(isBuy))).size > 2 * max)
      each *= 2;
    const marks = markersOf(
      placed.map(({ index, ...of }) => ({ ...of, klineAt: this.#klines[index - (index % each)]?.time ?? 0 })),
    );
    this.#markers.setMarkers(each === 1 ? marks : marks.map((mark) => ({ ...mark, text: '' })));
    this.#listener.viewed(intervalName(this.#level?.ms ?? 0), each);
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
    if (isAtEnd || finestFor(this.#shown.levels, from, to, this.#maxInView) !== level) this.#load(from, to);
    this.#drawMarks(from, to);
  }
}
