/** The klines of one symbol with our fills as arrows and our prices in force as lines. */

import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import {
  createSeriesMarkers,
  type IChartApi,
  type IPriceLine,
  type ISeriesMarkersPluginApi,
  LineStyle,
  type Time,
} from 'lightweight-charts';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { DecisionView, FillView, KlineView, MarketView, View } from '../../view.ts';
import { day, drawn, minuteTime, money, shortDay } from '../format.ts';
import { whyFill } from '../panels/tables.ts';
import { openWhy, whyDecision } from '../panels/timeline.ts';
import { useChart } from '../parts.ts';
import { chartOf, shownMarket, view } from '../store.ts';
import { isDark } from '../theme.ts';
import { type DrawnIndicators, drawIndicators, IndicatorLegend, nothingDrawn, placementOf } from './indicator-lines.ts';
import { useIndicators } from './indicators.ts';
import { addKlines, colour, type KlineSeries, markersOf, openChart, paintKlines, seconds } from './kline-chart.ts';
import { klinesOf, useKlines } from './klines.ts';

interface Drawing extends KlineSeries {
  readonly container: HTMLElement;
  readonly chart: IChartApi;
  readonly markers: ISeriesMarkersPluginApi<Time>;
  lines: IPriceLine[];
  /** What is drawn already: the chart's name first. */
  drawn: string;
  drawnKlines: readonly KlineView[];
  marked: string;
  lined: string;
  readonly indicators: DrawnIndicators;
}

/** CSS px that a kline takes when the chart opens; older ones are a drag away. */
const klineWidth = 7;
/** Lines are named in full on charts at least this wide, CSS px. */
const wideChart = 560;
/** The open time of the kline under the pointer. */
const pointedAt = signal<number | undefined>(undefined);

/** Empty klines at the right, where the labels of lines stand. */
const labelRoom = (container: HTMLElement): number => (container.clientWidth >= wideChart ? 17 : 8);

function open(container: HTMLElement): Drawing {
  const chart = openChart(container, { rightOffset: labelRoom(container), barSpacing: klineWidth });
  const { prices, volumes } = addKlines(chart);
  const markers = createSeriesMarkers(prices, []);
  chart.subscribeCrosshairMove(({ time }) => {
    pointedAt.value = typeof time === 'number' ? time * 1_000 : undefined;
  });
  chart.subscribeClick(({ time }) => {
    if (typeof time === 'number') openMarked(time * 1_000);
  });
  return {
    ...{ container, chart, prices, volumes, markers, lines: [], drawn: '', drawnKlines: [], marked: '', lined: '' },
    indicators: nothingDrawn(),
  };
}

const priceOf = ({ openTime, open, high, low, close }: KlineView) => ({
  ...{ time: seconds(openTime), open, high, low, close },
});
const volumeOf = ({ openTime, volume }: KlineView) => ({ time: seconds(openTime), value: volume });

/** Draws only what is new: a whole redraw of a thousand klines ten times a second would be felt on a phone. */
function drawKlines(drawing: Drawing, market: MarketView, all: readonly KlineView[]): void {
  const before = drawing.drawnKlines;
  const chart = chartOf(market);
  if (all === before && drawing.drawn === chart) return;
  const last = before.at(-1);
  const known = last === undefined ? -1 : all.findLastIndex((kline) => kline.openTime === last.openTime);
  const fresh = drawing.drawn !== chart || known < 0;
  // What was sent again may begin before the end: a kline was closed, or a hole filled, behind it.
  const isWhole = fresh || (known > 0 && all[known - 1] !== before.at(-2));
  if (isWhole) {
    if (fresh) {
      const { pricePrecision: precision } = market;
      drawing.prices.applyOptions({ priceFormat: { type: 'price', precision, minMove: 10 ** -precision } });
    }
    drawing.prices.setData(all.map(priceOf));
    drawing.volumes.setData(all.map(volumeOf));
  } else {
    for (const kline of all.slice(known)) {
      drawing.prices.update(priceOf(kline));
      drawing.volumes.update(volumeOf(kline));
    }
  }
  if (fresh)
    drawing.chart.timeScale().setVisibleLogicalRange({
      from: all.length + labelRoom(drawing.container) - drawing.container.clientWidth / klineWidth,
      to: all.length + labelRoom(drawing.container),
    });
  drawing.drawn = chart;
  drawing.drawnKlines = all;
}

/** What happened in one symbol that has a mark on the chart. */
interface Marked {
  readonly fills: readonly FillView[];
  readonly decisions: readonly DecisionView[];
}

const markedIn = ({ fills, decisions }: View, symbol: string): Marked => ({
  fills: fills.filter((fill) => fill.symbol === symbol),
  decisions: decisions.filter((decision) => decision.symbol === symbol),
});

/** Circles at klines with decisions: those with a denial stand out. */
function decisionMarkers(decisions: readonly DecisionView[], klineAt: (at: number) => number | undefined) {
  const denied = new Map<number, boolean>();
  for (const { at, verdict } of decisions) {
    const place = klineAt(at);
    if (place !== undefined) denied.set(place, (denied.get(place) ?? false) || verdict === 'denied');
  }
  return [...denied].map(([place, isDenied]) => ({
    ...({ time: seconds(place), position: 'aboveBar', shape: 'circle' } as const),
    ...{ size: isDenied ? 0.8 : 0.4, color: colour(isDenied ? 'warn' : 'muted') },
  }));
}

function drawMarkers(drawing: Drawing, { fills, decisions }: Marked): void {
  const all = drawing.drawnKlines;
  const key = [
    ...[drawing.drawn, isDark(), fills[0]?.tradeId, fills.length, all[0]?.openTime, all.length],
    ...[decisions[0]?.at, decisions.length],
  ].join(' ');
  if (key === drawing.marked) return;
  drawing.marked = key;
  const klineAt = (at: number): number | undefined => all.findLast(({ openTime }) => openTime <= at)?.openTime;
  const arrows = fills.flatMap(({ time, side }) => {
    const place = klineAt(time);
    return place === undefined ? [] : [{ klineAt: place, isBuy: side === 'BUY' }];
  });
  const markers = [...markersOf(arrows), ...decisionMarkers(decisions, klineAt)];
  drawing.markers.setMarkers(markers.sort((a, b) => Number(a.time) - Number(b.time)));
}

/** Opens why something happened at the kline under the pointer; of several things a list. */
function openMarked(openTime: number): void {
  const shown = view.value;
  const market = shownMarket.value;
  if (shown === undefined || market === undefined) return;
  const all = klinesOf(market);
  const end = all.find((kline) => kline.openTime > openTime)?.openTime ?? Number.POSITIVE_INFINITY;
  const isWithin = (at: number): boolean => at >= openTime && at < end;
  const { fills, decisions } = markedIn(shown, market.symbol);
  openWhy(
    [
      ...fills.filter(({ time }) => isWithin(time)).map(whyFill),
      ...decisions.filter(({ at, verdict }) => isWithin(at) && verdict !== 'approved').map(whyDecision),
    ],
    `${market.symbol}, ${day(openTime)} ${minuteTime(openTime)} UTC`,
  );
}

interface Line {
  readonly price: string;
  readonly title: string;
  readonly colour: string;
  readonly style: LineStyle;
}

/** Entry, stop and target of each strategy, and its resting orders without a label. */
function linesOf(view: View, symbol: string, wide: boolean): Line[] {
  const named = (id: string, what: string): string => (wide ? `${id} ${what}` : what);
  const held = view.strategies.filter((strategy) => strategy.symbol === symbol);
  const protective = held.flatMap(({ id, position, stop, takeProfit }) => [
    { price: position.entryPrice, title: named(id, 'entry'), colour: 'accent', style: LineStyle.Dotted },
    { price: stop, title: named(id, 'stop'), colour: 'down', style: LineStyle.Dashed },
    { price: takeProfit, title: named(id, 'target'), colour: 'up', style: LineStyle.Dashed },
  ]);
  const resting = view.openOrders
    .filter((order) => order.symbol === symbol)
    .map(({ price, side }) => ({
      price,
      title: '',
      colour: side === 'BUY' ? 'buy' : 'sell',
      style: LineStyle.SparseDotted,
    }));
  return [...protective, ...resting].flatMap(({ price, ...line }) => (price === undefined ? [] : [{ ...line, price }]));
}

function drawLines(drawing: Drawing, lines: readonly Line[]): void {
  const key = `${drawing.drawn} ${isDark()} ${lines.map(({ price, title }) => price + title).join()}`;
  if (key === drawing.lined) return;
  drawing.lined = key;
  for (const line of drawing.lines) drawing.prices.removePriceLine(line);
  drawing.lines = lines.map((line) =>
    drawing.prices.createPriceLine({
      price: drawn(line.price),
      title: line.title,
      color: colour(line.colour),
      axisLabelTextColor: colour('panel'),
      lineStyle: line.style,
      lineWidth: 1,
      axisLabelVisible: line.title !== '',
    }),
  );
}

const volumeText = (volume: number): string => volume.toLocaleString('en', { maximumFractionDigits: 2 });

/** The kline under the pointer in numbers, or the last one. */
function Legend({ all, decimals, now }: { all: readonly KlineView[]; decimals: number; now: number }): VNode | null {
  const kline = all.find(({ openTime }) => openTime === pointedAt.value) ?? all.at(-1);
  if (kline === undefined) return null;
  const { openTime, open, high, low, close, volume } = kline;
  const prices = [
    ['O', open],
    ['H', high],
    ['L', low],
    ['C', close],
  ] as const;
  return html`
    <p class="legend" aria-hidden="true">
      <span class="at">${day(openTime) === day(now) ? '' : `${shortDay(openTime)} `}${minuteTime(openTime)}</span>
      ${prices.map(([name, price]) => html`<span>${name} <b class=${close >= open ? 'up' : 'down'}>${money(price.toFixed(decimals), decimals)}</b></span>`)}
      <span class="wide">V <b>${volumeText(volume)}</b></span>
    </p>
  `;
}

export function PriceChart({ shown, market }: { shown: View; market: MarketView }): VNode {
  const { box, drawing } = useChart(open, paintKlines);
  useKlines(market);
  const all = klinesOf(market);
  useIndicators(market);
  const placement = placementOf(market, all);
  useEffect(() => {
    if (drawing.current === undefined) return;
    drawKlines(drawing.current, market, all);
    drawIndicators(drawing.current.chart, drawing.current.indicators, placement, all);
    drawMarkers(drawing.current, markedIn(shown, market.symbol));
    drawLines(drawing.current, linesOf(shown, market.symbol, drawing.current.container.clientWidth >= wideChart));
  });
  const label = `${market.symbol}, ${market.interval} klines with our fills and decisions; the lists of fills and decisions have the same.`;
  return html`
    <${IndicatorLegend} placement=${placement} pointedAt=${pointedAt.value} decimals=${market.pricePrecision} />
    <div class="chart-box" style=${{ '--panes': placement.below.length }}>
      <div class="chart" ref=${box} role="img" aria-label=${label}></div>
      <${Legend} all=${all} decimals=${market.pricePrecision} now=${shown.marketTime} />
    </div>
  `;
}
