/** The equity curve. */

import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { AreaSeries } from 'lightweight-charts';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { EquityPoint } from '../../view.ts';
import { clockTime, day, drawn, money } from '../format.ts';
import { useChart } from '../parts.ts';
import { equitySeries } from '../store.ts';
import { openWhole } from './curves.ts';
import { colour, seconds } from './kline-chart.ts';

/** The place on the time axis under the pointer, seconds. */
const pointedAt = signal<number | undefined>(undefined);

const axisMoney = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });

/** Seconds between two places on the time axis: the smallest of these that needs at most `maxPlaces`. */
const steps = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];
const maxPlaces = 800;

const stepOf = (points: readonly EquityPoint[]): number => {
  const span = seconds((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0));
  return steps.find((step) => span / step <= maxPlaces) ?? Math.ceil(span / maxPlaces);
};
const placeOf = ({ at }: EquityPoint, step: number): number => Math.floor(seconds(at) / step) * step;

/** The chart draws places at equal distances. Places without a point keep a night without the daemon as wide as a night. */
function data(points: readonly EquityPoint[]) {
  const step = stepOf(points);
  const known = new Map(points.map((point) => [placeOf(point, step), drawn(point.equity)]));
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  const start = placeOf(first, step);
  return Array.from({ length: (placeOf(last, step) - start) / step + 1 }, (_, index) => {
    const place = start + index * step;
    const value = known.get(place);
    const time = seconds(place * 1_000);
    return value === undefined ? { time } : { time, value };
  });
}

/** The point under the pointer in words, or the last one. */
export function EquityReadout({ asset }: { asset: string }): VNode | null {
  const points = equitySeries.value;
  const until = (pointedAt.value ?? Number.POSITIVE_INFINITY) + stepOf(points);
  const point = points.findLast(({ at }) => seconds(at) < until) ?? points.at(-1);
  return point === undefined
    ? null
    : html`<span class="muted">${day(point.at)} ${clockTime(point.at)}</span> <b>${money(point.equity)} ${asset}</b>`;
}

function open(box: HTMLElement) {
  const chart = openWhole(box, 0.1);
  chart.applyOptions({ localization: { priceFormatter: axisMoney } });
  chart.subscribeCrosshairMove(({ time }) => {
    pointedAt.value = typeof time === 'number' ? time : undefined;
  });
  return {
    chart,
    line: chart.addSeries(AreaSeries, { lineWidth: 2, lastValueVisible: false, priceLineVisible: false }),
  };
}

export function EquityChart({ asset }: { asset: string }): VNode {
  const { box, drawing } = useChart(open, ({ line }) => {
    const soft = colour('accent-soft');
    line.applyOptions({ lineColor: colour('accent'), topColor: soft, bottomColor: soft });
  });
  const points = equitySeries.value;
  useEffect(() => {
    drawing.current?.line.setData(data(points));
    drawing.current?.chart.timeScale().fitContent();
  }, [points]);
  return html`<div class="equity-chart" ref=${box} role="img" aria-label=${`Equity in ${asset} over time`}></div>`;
}
