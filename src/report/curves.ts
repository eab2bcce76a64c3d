/** Equity against holding, falls and exposure through time; returns month by month. */
import type { Curve } from '../research/curves.ts';
import { fixed, grouped, momentText, shareText } from './figures.ts';
import { type Html, html, section } from './html.ts';
import type { ReportInput } from './input.ts';
import {
  area,
  factorSteps,
  high,
  type Label,
  linear,
  logarithmic,
  path,
  plot,
  roundSteps,
  timeLabels,
  wide,
} from './plot.ts';

/** `12.5 k`, `3.4 M`. */
function shortMoney(value: number): string {
  const size = Math.abs(value);
  const text = (scaled: number): string => String(Number(scaled.toPrecision(4)));
  if (size >= 1e9) return `${text(value / 1e9)} B`;
  if (size >= 1e6) return `${text(value / 1e6)} M`;
  return size >= 1e4 ? `${text(value / 1e3)} k` : grouped(text(value));
}

const range = (curves: readonly Float64Array[]): readonly [low: number, top: number] => {
  let low = Number.POSITIVE_INFINITY;
  let top = Number.NEGATIVE_INFINITY;
  for (const curve of curves)
    for (const value of curve) {
      if (value < low) low = value;
      if (value > top) top = value;
    }
  return [low, top];
};

/** Beyond this factor between the lowest and the highest value, equal steps would hide one of the two lines. */
const widest = 4;

function equityPlot({ time, equity, hold }: Curve, labels: readonly Label[], asset: string): Html {
  const [low, top] = range([equity, hold]);
  const isLogarithmic = low > 0 && top / low > widest;
  const margin = (top - low) * 0.05 || Math.abs(top) * 0.01 || 1;
  const y = isLogarithmic ? logarithmic(low * 0.95, top * 1.05, high) : linear(low - margin, top + margin, high, true);
  const x = linear(time[0] as number, time[time.length - 1] as number, wide);
  const steps = isLogarithmic ? factorSteps(y.low, y.high) : roundSteps(y.low, y.high);
  const start = y.at(equity[0] as number);
  return html`<p class="key"><span class="line own"></span> strategy <span class="line hold"></span> holding, net of one entry fee${isLogarithmic ? html` <span class="muted">· logarithmic</span>` : ''}</p>${plot(
    {
      ...{ x, y, size: 'tall', xLabels: labels, about: `Equity in ${asset} against holding` },
      yLabels: steps.map((value) => ({ value, text: shortMoney(value) })),
      body: html`<path class="start" d="M0 ${start.toFixed(1)}H${wide}"/><path class="line-hold" d="${path(time, hold, x, y)}"/><path class="area-own" d="${area(time, equity, x, y, y.low)}"/><path class="line-own" d="${path(time, equity, x, y)}"/>`,
    },
  )}`;
}

/** The strategy alone, where holding went so far that its own line lies flat beside it. */
function ownPlot({ time, equity, hold }: Curve, labels: readonly Label[], asset: string): Html {
  const [low, top] = range([equity]);
  const [, held] = range([hold]);
  if (held - low < widest * (top - low)) return html``;
  const margin = (top - low) * 0.05 || 1;
  const x = linear(time[0] as number, time[time.length - 1] as number, wide);
  const y = linear(low - margin, top + margin, high, true);
  return html`<h3>The strategy alone</h3>${plot({
    ...{ x, y, size: 'mid', xLabels: labels, about: `Equity in ${asset}` },
    yLabels: roundSteps(y.low, y.high).map((value) => ({ value, text: shortMoney(value) })),
    body: html`<path class="area-own" d="${area(time, equity, x, y, y.low)}"/><path class="line-own" d="${path(time, equity, x, y)}"/>`,
  })}`;
}

function fallPlot({ time, fall }: Curve, labels: readonly Label[]): Html {
  const [low] = range([fall]);
  const x = linear(time[0] as number, time[time.length - 1] as number, wide);
  const y = linear(Math.min(low * 1.05, -0.001), 0, high, true);
  return plot({
    ...{ x, y, size: 'low', xLabels: labels, about: 'Falls from the peak so far' },
    yLabels: roundSteps(y.low, 0, 3).map((value) => ({ value, text: percentLabel(value) })),
    body: html`<path class="area-fall" d="${area(time, fall, x, y, 0)}"/>`,
  });
}

const percentLabel = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

function exposurePlot({ time, exposure }: Curve, labels: readonly Label[]): Html {
  const [, top] = range([exposure]);
  const x = linear(time[0] as number, time[time.length - 1] as number, wide);
  const y = linear(0, Math.max(top * 1.05, 0.001), high, true);
  return plot({
    ...{ x, y, size: 'low', xLabels: labels, about: 'What was held, over equity' },
    yLabels: roundSteps(0, y.high, 2).map((value) => ({ value, text: percentLabel(value) })),
    body: html`<path class="area-held" d="${area(time, exposure, x, y, 0)}"/>`,
  });
}

export function equitySection({ chart, asset, summary }: ReportInput): Html {
  const labels = timeLabels(chart.time[0] as number, chart.time[chart.time.length - 1] as number);
  const {
    maxDrawdown,
    longestDrawdownDays: drawdownDays,
    buyAndHoldDrawdown: holdDrawdown,
    timeInMarket,
    exposure,
  } = summary.metrics;
  return section(
    'equity',
    'Equity against buy & hold',
    equityPlot(chart, labels, asset),
    ownPlot(chart, labels, asset),
    html`<h3>Drawdown <span class="muted">largest ${shareText(maxDrawdown)} at kline closes, longest ${drawdownDays.toFixed(1)} days; holding fell by ${holdDrawdown === null ? 'n/a' : `${shareText(Math.abs(holdDrawdown))} at UTC day closes`}</span></h3>`,
    fallPlot(chart, labels),
    html`<h3>Exposure <span class="muted">in the market ${shareText(timeInMarket)} of the time, ${shareText(exposure)} of equity on average</span></h3>`,
    exposurePlot(chart, labels),
  );
}

export interface MonthReturn {
  readonly year: number;
  /** 0 to 11. */
  readonly month: number;
  readonly value: number;
}

/** From the last equity of the month before to the last of this one. */
export function monthReturns({ time, equity }: Curve): readonly MonthReturn[] {
  const found: MonthReturn[] = [];
  let before = equity[0] as number;
  for (let index = 1; index < time.length; index++) {
    // A day's close at midnight belongs to the day that ends then.
    const date = new Date((time[index] as number) - 1);
    const next = index + 1 < time.length ? new Date((time[index + 1] as number) - 1) : undefined;
    if (
      next !== undefined &&
      next.getUTCMonth() === date.getUTCMonth() &&
      next.getUTCFullYear() === date.getUTCFullYear()
    )
      continue;
    const now = equity[index] as number;
    if (before > 0) found.push({ year: date.getUTCFullYear(), month: date.getUTCMonth(), value: now / before - 1 });
    before = now;
  }
  return found;
}

const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const cellText = (value: number): string => {
  const percent = value * 100;
  return fixed(percent, Math.abs(percent) >= 100 ? 0 : 1);
};

export function monthSection({ days }: ReportInput): Html {
  const months = monthReturns(days);
  const most = Math.max(0.01, ...months.map(({ value }) => Math.abs(value)));
  const heat = (value: number): string =>
    Math.abs(value) < 0.0005
      ? 'h0'
      : `${value > 0 ? 'g' : 'r'}${Math.max(1, Math.ceil(5 * Math.sqrt(Math.abs(value) / most)))}`;
  const years = [...new Set(months.map(({ year }) => year))];
  const cell = (value: number | undefined, month: string, year: number): Html =>
    value === undefined
      ? html`<td class="none" data-month="${month}"></td>`
      : html`<td class="${heat(value)}" data-month="${month}" title="${month} ${year}: ${shareText(value)}">${cellText(value)}</td>`;
  const row = (year: number): Html => {
    const own = months.filter((one) => one.year === year);
    const total = own.reduce((product, { value }) => product * (1 + value), 1) - 1;
    return html`<tr><th scope="row">${year}</th>${names.map((name, month) =>
      cell(own.find((one) => one.month === month)?.value, name, year),
    )}<td class="sum">${cellText(total)}</td></tr>`;
  };
  const best = months.toSorted((a, b) => b.value - a.value);
  const [first, last] = [best[0], best.at(-1)];
  const nameOf = (one: MonthReturn): string => `${names[one.month]} ${one.year} ${shareText(one.value)}`;
  return section(
    'months',
    'Returns by month',
    html`<p class="about">In %, from the last equity of a month to that of the next, UTC.${
      first === undefined || last === undefined || first === last
        ? ''
        : ` Best ${nameOf(first)}, worst ${nameOf(last)}.`
    }</p><div class="scroll-x"><table class="heat months"><thead><tr><th></th>${names.map((name) => html`<th scope="col">${name}</th>`)}<th scope="col">Year</th></tr></thead><tbody>${years.map(row)}</tbody></table></div>`,
  );
}

/** `2020-03-12 08:00 to 2020-03-14 00:00 UTC`. */
export const spanOf = (from: number, to: number): string => `${momentText(from)} to ${momentText(to)} UTC`;
