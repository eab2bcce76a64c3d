/** Curves over time in one chart, such as equity; of one curve its drawdown below, too. */
import { html } from 'htm/preact';
import { AreaSeries, type IChartApi, type ISeriesApi, LineSeries, type SeriesType } from 'lightweight-charts';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { EquityPoint } from '../../view.ts';
import { drawn } from '../format.ts';
import { useChart } from '../parts.ts';
import { isDark } from '../theme.ts';
import { colour, openChart, seconds } from './kline-chart.ts';

export interface Curve {
  readonly name: string;
  readonly points: readonly EquityPoint[];
}

interface Drawing {
  readonly chart: IChartApi;
  series: ISeriesApi<SeriesType>[];
}

const colours = ['accent', 'sell', 'up', 'muted', 'warn', 'down', 'brand', 'ink'] as const;

/** A chart that shows a curve from its first point to its last, also once the labels of its prices take some of the width. */
export function openWhole(box: HTMLElement, minBarSpacing: number): IChartApi {
  const chart = openChart(box, { minBarSpacing, fixLeftEdge: true, fixRightEdge: true }, false);
  const scale = chart.timeScale();
  scale.subscribeSizeChange(() => scale.fitContent());
  return chart;
}

/** The chart takes one value for each second, in order. */
function dataOf(points: readonly EquityPoint[]) {
  const places = new Map(points.map(({ at, equity }) => [seconds(at), drawn(equity)]));
  return [...places].sort(([a], [b]) => a - b).map(([time, value]) => ({ time, value }));
}

/** How far below its highest point so far the curve is. */
function fallOf(points: readonly EquityPoint[]): readonly EquityPoint[] {
  let peak = Number.NEGATIVE_INFINITY;
  return points.map(({ at, equity }) => {
    peak = Math.max(peak, drawn(equity));
    return { at, equity: String(drawn(equity) - peak) };
  });
}

function draw(drawing: Drawing, curves: readonly Curve[], drawdown: boolean): void {
  const { chart } = drawing;
  for (const one of drawing.series) chart.removeSeries(one);
  drawing.series = curves.map(({ name, points }, index) => {
    const line = chart.addSeries(LineSeries, {
      color: colour(colours[index % colours.length] ?? 'accent'),
      lineWidth: 2,
      title: curves.length > 1 ? name : '',
      priceLineVisible: false,
    });
    line.setData(dataOf(points));
    return line;
  });
  const [first] = curves;
  if (drawdown && first !== undefined) {
    const soft = colour('down-soft');
    const fall = chart.addSeries(
      AreaSeries,
      {
        ...{ lineColor: colour('down'), topColor: soft, bottomColor: soft, invertFilledArea: true, lineWidth: 1 },
        priceLineVisible: false,
      },
      1,
    );
    fall.setData(dataOf(fallOf(first.points)));
    drawing.series.push(fall);
    chart.panes()[1]?.setHeight(56);
  }
  chart.timeScale().fitContent();
}

/** `drawdown`: of the first curve, in a lower pane. */
export function Curves({
  label,
  curves,
  drawdown = false,
}: {
  label: string;
  curves: readonly Curve[];
  drawdown?: boolean;
}): VNode {
  const { box, drawing } = useChart(
    (container): Drawing => ({ chart: openWhole(container, 0.01), series: [] }),
    () => {},
  );
  const key = curves.map(({ name, points }) => `${name} ${points.length} ${points.at(-1)?.at}`).join('|');
  useEffect(() => {
    if (drawing.current !== undefined) draw(drawing.current, curves, drawdown);
  }, [key, isDark()]);
  return html`<div class="curves" ref=${box} role="img" aria-label=${label}></div>`;
}
