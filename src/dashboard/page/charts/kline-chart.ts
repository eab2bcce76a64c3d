/** What the charts of the dashboard and of the report share: frame, klines with volumes, colours, and the arrows of fills. */
import {
  CandlestickSeries,
  ColorType,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type SeriesMarker,
  type SeriesPartialOptionsMap,
  type Time,
  type TimeScaleOptions,
  type UTCTimestamp,
} from 'lightweight-charts';

export const seconds = (at: number): UTCTimestamp => Math.floor(at / 1_000) as UTCTimestamp;

/** A colour of the style sheet as canvas understands it: a probe element resolves `light-dark()`. */
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

export function openChart(box: HTMLElement, timeScale: Partial<TimeScaleOptions>, attributionLogo = true): IChartApi {
  return createChart(box, {
    autoSize: true,
    layout: { fontSize: 11, attributionLogo },
    timeScale: { timeVisible: true, secondsVisible: false, ...timeScale },
    rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.2 } },
    handleScroll: { vertTouchDrag: false },
  });
}

export interface KlineSeries {
  readonly prices: ISeriesApi<'Candlestick'>;
  readonly volumes: ISeriesApi<'Histogram'>;
}

/** Klines above a strip of volumes. */
export function addKlines(chart: IChartApi, options: SeriesPartialOptionsMap['Candlestick'] = {}): KlineSeries {
  const prices = chart.addSeries(CandlestickSeries, { borderVisible: false, ...options });
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: '',
    priceFormat: { type: 'volume' },
    lastValueVisible: false,
    priceLineVisible: false,
  });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.85, bottom: 0 } });
  return { prices, volumes };
}

/** Gives the frame the colours of the page. */
export function paintChart(chart: IChartApi): void {
  const line = { color: colour('grid') };
  const border = { borderColor: colour('line') };
  const cross = { color: colour('muted'), labelBackgroundColor: colour('chip-ink') };
  chart.applyOptions({
    layout: {
      background: { type: ColorType.Solid, color: colour('panel') },
      textColor: colour('muted'),
      fontFamily: getComputedStyle(document.body).fontFamily,
      panes: { separatorColor: colour('line'), separatorHoverColor: colour('chip') },
    },
    grid: { vertLines: line, horzLines: line },
    timeScale: border,
    rightPriceScale: border,
    crosshair: { vertLine: cross, horzLine: cross },
  });
}

export function paintKlines({ prices, volumes }: KlineSeries): void {
  const [upColor, downColor] = [colour('kline-up'), colour('kline-down')];
  prices.applyOptions({
    ...{ upColor, downColor, wickUpColor: upColor, wickDownColor: downColor },
    priceLineColor: colour('muted'),
  });
  volumes.applyOptions({ color: colour('volume') });
}

export interface MarkedFill {
  /** The open time of its kline, UTC ms. */
  readonly klineAt: number;
  readonly isBuy: boolean;
  readonly isAmbiguous?: boolean;
}

/** One arrow per kline and side, with the number of its fills. */
export function markersOf(fills: readonly MarkedFill[]): SeriesMarker<Time>[] {
  const groups = Map.groupBy(fills, ({ klineAt, isBuy }) => `${klineAt} ${isBuy}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      return first === undefined ? [] : [{ ...first, group }];
    })
    .sort((a, b) => a.klineAt - b.klineAt)
    .map(({ klineAt, isBuy, group }) => ({
      time: seconds(klineAt),
      position: isBuy ? 'belowBar' : 'aboveBar',
      shape: isBuy ? 'arrowUp' : 'arrowDown',
      color: colour(group.some(({ isAmbiguous }) => isAmbiguous) ? 'warn' : isBuy ? 'buy' : 'sell'),
      ...(group.length > 1 ? { text: `×${group.length}` } : {}),
    }));
}
