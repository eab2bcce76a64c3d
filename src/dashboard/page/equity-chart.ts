/** The equity curve. */

import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { EquityPoint } from '../view.ts';
import { axisTime, clockTime, day, drawn, money } from './format.ts';
import { equitySeries } from './store.ts';
import { colour, isDark } from './theme.ts';

const height = 150;
/** The index of the point under the pointer. */
const pointedAt = signal<number | undefined>(undefined);
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
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    hooks: {
      setCursor: [
        ({ cursor }) => {
          pointedAt.value = cursor.idx ?? undefined;
        },
      ],
    },
    series: [{}, { stroke: colour('accent'), width: 1.5, fill: colour('accent-soft'), points: { show: false } }],
    axes: [
      { ...axis, space: 90, size: 26, values: (_plot, marks) => marks.map((mark) => axisTime(mark * 1_000)) },
      { ...axis, side: 1, size: 64, space: 34, values: (_plot, marks) => marks.map(axisMoney) },
    ],
  };
}

/** The point under the pointer in words, or the last one. */
export function EquityReadout({ asset }: { asset: string }): VNode | null {
  const points = equitySeries.value;
  const point = points[pointedAt.value ?? points.length - 1] ?? points.at(-1);
  return point === undefined
    ? null
    : html`<span class="muted">${day(point.at)} ${clockTime(point.at)}</span> <b>${money(point.equity)} ${asset}</b>`;
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
