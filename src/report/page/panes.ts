/** The empty chart: its series, its colours, and the marks of fills. */
import type * as Charts from 'lightweight-charts';
import { type Kline, placeAt, type ShownFill } from './unpack.ts';

declare const LightweightCharts: typeof Charts;

export interface Panes {
  readonly chart: Charts.IChartApi;
  readonly prices: Charts.ISeriesApi<'Candlestick'>;
  readonly volumes: Charts.ISeriesApi<'Histogram'>;
  readonly stops: Charts.ISeriesApi<'Line'>;
  readonly targets: Charts.ISeriesApi<'Line'>;
  readonly markers: Charts.ISeriesMarkersPluginApi<Charts.Time>;
}

export const seconds = (time: number): Charts.UTCTimestamp => Math.floor(time / 1_000) as Charts.UTCTimestamp;

/** A colour of the style sheet as canvas understands it. */
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.className = `probe-${name}`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

export function openPanes(box: HTMLElement): Panes {
  const { CandlestickSeries, HistogramSeries, LineSeries, LineType, createChart, createSeriesMarkers } =
    LightweightCharts;
  const chart = createChart(box, {
    autoSize: true,
    layout: { fontSize: 11, attributionLogo: true },
    timeScale: { timeVisible: true, secondsVisible: false, rightOffset: 2, minBarSpacing: 0.3 },
    rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.2 } },
    handleScroll: { vertTouchDrag: false },
  });
  const quiet = { lastValueVisible: false, priceLineVisible: false } as const;
  const steps = { ...quiet, crosshairMarkerVisible: false, lineWidth: 1, lineType: LineType.WithSteps } as const;
  const prices = chart.addSeries(CandlestickSeries, { borderVisible: false, ...quiet });
  const volumes = chart.addSeries(HistogramSeries, { priceScaleId: '', ...quiet });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.85, bottom: 0 } });
  const stops = chart.addSeries(LineSeries, steps);
  const targets = chart.addSeries(LineSeries, steps);
  return { chart, prices, volumes, stops, targets, markers: createSeriesMarkers(prices, []) };
}

/** Gives everything the colours of the page. */
export function paintPanes({ chart, prices, volumes, stops, targets }: Panes): void {
  const fontFamily = getComputedStyle(document.body).fontFamily;
  const line = { color: colour('grid') };
  const border = { borderColor: colour('line') };
  chart.applyOptions({
    layout: { background: { color: colour('panel') }, textColor: colour('muted'), fontFamily },
    grid: { vertLines: line, horzLines: line },
    timeScale: border,
    rightPriceScale: border,
  });
  const [up, down] = [colour('kline-up'), colour('kline-down')];
  prices.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
  volumes.applyOptions({ color: colour('volume') });
  stops.applyOptions({ color: colour('down') });
  targets.applyOptions({ color: colour('up') });
}

/** One arrow a kline and side, however many fills it had. */
export function marksOf(fills: readonly ShownFill[], klines: readonly Kline[]): Charts.SeriesMarker<Charts.Time>[] {
  const counts = new Map<string, { time: Charts.UTCTimestamp; buys: boolean; count: number; ambiguous: boolean }>();
  for (const { time, quantity, ambiguous } of fills) {
    const kline = klines[placeAt(klines, time + 1) - 1];
    if (kline === undefined) continue;
    const key = `${kline.time} ${quantity > 0}`;
    const known = counts.get(key) ?? { time: seconds(kline.time), buys: quantity > 0, count: 0, ambiguous: false };
    counts.set(key, { ...known, count: known.count + 1, ambiguous: known.ambiguous || ambiguous });
  }
  return [...counts.values()]
    .sort((a, b) => a.time - b.time)
    .map(({ time, buys, count, ambiguous }) => ({
      time,
      position: buys ? 'belowBar' : 'aboveBar',
      shape: buys ? 'arrowUp' : 'arrowDown',
      color: colour(ambiguous ? 'warn' : buys ? 'buy' : 'sell'),
      ...(count > 1 ? { text: `×${count}` } : {}),
    }));
}
