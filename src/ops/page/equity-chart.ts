/** The equity curve. */

import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { EquityPoint } from '../view.ts';
import { clockTime, day, drawn, minuteTime } from './format.ts';
import { equitySeries } from './store.ts';
import { colour, isDark } from './theme.ts';

const height = 150;
const atSeconds = (seconds: number): string => `${day(seconds * 1_000)} ${clockTime(seconds * 1_000)}`;
const axisMoney = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });

function data(points: readonly EquityPoint[]): uPlot.AlignedData {
  return [points.map(({ at }) => at / 1_000), points.map(({ equity }) => drawn(equity))];
}

function options(width: number): uPlot.Options {
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: colour('muted'), font, grid: { stroke: colour('grid'), width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    padding: [8, 0, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    legend: { show: false },
    scales: { x: { time: false } },
    series: [
      { value: (_plot, seconds) => atSeconds(seconds) },
      { stroke: colour('accent'), width: 1.5, fill: colour('accent-soft'), points: { show: false } },
    ],
    axes: [
      { ...axis, space: 90, size: 26, values: (_plot, marks) => marks.map((mark) => minuteTime(mark * 1_000)) },
      { ...axis, side: 1, size: 76, space: 34, values: (_plot, marks) => marks.map(axisMoney) },
    ],
  };
}

export function EquityChart({ asset }: { asset: string }): VNode {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const points = equitySeries.value;
  const dark = isDark();
  useEffect(() => {
    const box = container.current;
    if (box === null) return undefined;
    const opened = new uPlot(options(box.clientWidth), data(points), box);
    plot.current = opened;
    const resized = new ResizeObserver(() => opened.setSize({ width: box.clientWidth, height }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      opened.destroy();
    };
  }, [dark]);
  useEffect(() => plot.current?.setData(data(points)), [points]);
  return html`<div class="equity-chart" ref=${container} role="img" aria-label=${`Equity in ${asset} over time`}></div>`;
}
