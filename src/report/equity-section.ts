/** Equity against buy & hold, drawdown and exposure through time; returns month by month. */
import { grouped } from '../domain/words.ts';
import type { Curve } from '../research/curves.ts';
import { largestDrawdowns, rollingSharpe, windowDays } from '../research/drawdowns.ts';
import { fixed, momentText, shareText } from './figures.ts';
import { about, type Content, type Html, heatClass, html, numbers, section, tableHtml } from './html.ts';
import type { ReportInput } from './input.ts';
import {
  area,
  factorSteps,
  high,
  linear,
  logarithmic,
  monthNames,
  path,
  percentLabel,
  plot,
  rangeOf,
  roundSteps,
  type Scale,
  timeLabels,
  wide,
} from './plot.ts';

/** `12.5 k`, `3.4 M`. */
export function shortMoney(value: number): string {
  const size = Math.abs(value);
  const text = (scaled: number): string => String(Number(scaled.toPrecision(4)));
  if (size >= 1e9) return `${text(value / 1e9)} B`;
  if (size >= 1e6) return `${text(value / 1e6)} M`;
  return size >= 1e4 ? `${text(value / 1e3)} k` : grouped(text(value));
}

/** A larger factor between the lowest and the highest equity is drawn on a logarithmic scale. */
const widest = 4;

interface TimePlot {
  readonly size: 'tall' | 'mid' | 'low';
  readonly label: string;
  readonly y: Scale;
  readonly steps: readonly number[];
  readonly text: (value: number) => string;
  readonly body: (x: Scale) => Content;
}

export function timePlot({ time }: Pick<Curve, 'time'>, { size, label, y, steps, text, body }: TimePlot): Html {
  const [from, to] = [time[0] as number, time[time.length - 1] as number];
  const x = linear(from, to, wide);
  const yLabels = steps.map((value) => ({ value, text: text(value) }));
  return plot({ x, y, size, xLabels: timeLabels(from, to), yLabels, label, body: body(x) });
}

function equityPlot(curve: Curve, asset: string): Html {
  const { time, equity, buyAndHold } = curve;
  const [low, top] = rangeOf([equity, buyAndHold]);
  const isLogarithmic = low > 0 && top / low > widest;
  const margin = (top - low) * 0.05 || Math.abs(top) * 0.01 || 1;
  const y = isLogarithmic ? logarithmic(low * 0.95, top * 1.05, high) : linear(low - margin, top + margin, high, true);
  const start = y.at(equity[0] as number).toFixed(1);
  return html`<p class="key"><span class="line own"></span> strategy <span class="line hold"></span> buy &amp; hold, net of one entry fee${isLogarithmic ? html` <span class="muted">· logarithmic</span>` : ''}</p>${timePlot(
    curve,
    {
      ...{ size: 'tall', label: `Equity in ${asset} against buy & hold`, y, text: shortMoney },
      steps: isLogarithmic ? factorSteps(y.low, y.high) : roundSteps(y.low, y.high),
      body: (x) => [
        html`<path class="start" d="M0 ${start}H${wide}"/><path class="line-hold" d="${path(time, buyAndHold, x, y)}"/>`,
        ownLine(curve, x, y),
      ],
    },
  )}`;
}

const ownLine = ({ time, equity }: Curve, x: Scale, y: Scale): Html =>
  html`<path class="area-own" d="${area(time, equity, x, y, y.low)}"/><path class="line-own" d="${path(time, equity, x, y)}"/>`;

/** The strategy alone, where buy & hold moved so far that the strategy's line lies flat beside it. */
function ownPlot(curve: Curve, asset: string): Content {
  const [low, top] = rangeOf([curve.equity]);
  const [, holdTop] = rangeOf([curve.buyAndHold]);
  if (holdTop - low < widest * (top - low)) return undefined;
  const margin = (top - low) * 0.05 || 1;
  const y = linear(low - margin, top + margin, high, true);
  return html`<h3>The strategy alone</h3>${timePlot(curve, {
    ...{ size: 'mid', label: `Equity in ${asset}`, y, steps: roundSteps(y.low, y.high), text: shortMoney },
    body: (x) => ownLine(curve, x, y),
  })}`;
}

/** An area between zero and the values of a share. */
function sharePlot(curve: Curve, values: Float64Array, y: Scale, label: string, cls: string, labels: number): Html {
  return timePlot(curve, {
    ...{ size: 'low', label, y, steps: roundSteps(y.low, y.high, labels), text: percentLabel },
    body: (x) => html`<path class="${cls}" d="${area(curve.time, values, x, y, 0)}"/>`,
  });
}

const listedDrawdowns = 8;

/** A value of the positions over equity below which only a rest is held, which fees leave. */
const restShare = 0.001;

/** Until the day of the last fill, where nothing but a rest is held after it: equity still moves a little then. */
export function tradedDays({
  days,
  table,
}: Pick<ReportInput, 'days'> & { readonly table: Pick<ReportInput['table'], 'time'> }): Curve {
  if (Math.abs(days.exposure.at(-1) ?? 0) >= restShare) return days;
  const last = days.time.findIndex((time) => time >= (table.time.at(-1) ?? 0));
  const cut = (values: Float64Array): Float64Array => (last < 0 ? values : values.subarray(0, last + 1));
  return {
    ...{ time: cut(days.time), equity: cut(days.equity), buyAndHold: cut(days.buyAndHold) },
    ...{ drawdown: cut(days.drawdown), exposure: cut(days.exposure) },
  };
}

export function drawdownTable({ days, table }: Pick<ReportInput, 'days' | 'table'>): Content {
  const rows = largestDrawdowns(tradedDays({ days, table }), listedDrawdowns);
  if (rows.length === 0) return undefined;
  // A close at midnight is that of the day before; the first point is the start.
  const day = (time: number): string => momentText(Math.max(days.time[0] ?? 0, time - 1)).slice(0, 10);
  const end = days.time.at(-1) ?? 0;
  return html`<h3>Largest drawdowns <span class="muted">from and to UTC day closes</span></h3>${tableHtml(
    ['Peak', 'Lowest', 'Recovered', ...numbers('Drawdown', 'Days')],
    rows.map(({ peakTime, lowTime, recoveryTime, fall }) => [
      day(peakTime),
      day(lowTime),
      recoveryTime === undefined ? 'not yet' : day(recoveryTime),
      shareText(fall),
      grouped(Math.round(((recoveryTime ?? end) - peakTime) / 86_400_000)),
    ]),
  )}`;
}

function rollingSharpePlot(days: Curve): Content {
  const window = windowDays(days.time.length);
  const rolling = rollingSharpe(days, window);
  if (rolling === undefined) return undefined;
  const { time, values } = rolling;
  const [low, top] = rangeOf([Float64Array.of(0), values]);
  const y = linear(low * 1.05, top * 1.05 || 1, high, true);
  const zero = y.at(0).toFixed(1);
  return html`<h3>Rolling Sharpe ratio <span class="muted">of the last ${window} days, without a risk-free rate</span></h3>${timePlot(
    { time },
    {
      ...{ size: 'low', label: `Sharpe ratio of the last ${window} days`, y, steps: roundSteps(y.low, y.high, 3) },
      text: (value) => fixed(value, 1),
      body: (x) =>
        html`<path class="start" d="M0 ${zero}H${wide}"/><path class="line-own" d="${path(time, values, x, y)}"/>`,
    },
  )}`;
}

export function equitySection({ chart, days, table, asset, summary }: ReportInput): Html {
  const { maxDrawdown, longestDrawdownDays, buyAndHoldDrawdown, timeInMarket, exposure } = summary.metrics;
  const fallScale = linear(Math.min(rangeOf([chart.drawdown])[0] * 1.05, -0.001), 0, high, true);
  const exposureScale = linear(0, Math.max(rangeOf([chart.exposure])[1] * 1.05, 0.001), high, true);
  return section(
    'equity',
    'Equity against buy & hold',
    equityPlot(chart, asset),
    ownPlot(chart, asset),
    html`<h3>Drawdown <span class="muted">maximum ${shareText(maxDrawdown)} at kline closes, longest ${longestDrawdownDays.toFixed(1)} days; of buy &amp; hold ${buyAndHoldDrawdown === null ? 'n/a' : `${shareText(Math.abs(buyAndHoldDrawdown))} at UTC day closes`}</span></h3>`,
    sharePlot(chart, chart.drawdown, fallScale, 'Drawdown from the peak so far', 'area-fall', 3),
    drawdownTable({ days, table }),
    rollingSharpePlot(days),
    html`<h3>Exposure <span class="muted">in the market ${shareText(timeInMarket)} of the time, ${shareText(exposure)} of equity on average</span></h3>`,
    sharePlot(chart, chart.exposure, exposureScale, 'Value of the positions over equity', 'area-held', 2),
  );
}

/** The return of a month, 0 to 11. */
interface MonthReturn {
  readonly year: number;
  readonly month: number;
  readonly value: number;
}

/** From the last equity of the month before to the last equity of the month. */
export function monthReturns({ time, equity }: Pick<Curve, 'time' | 'equity'>): readonly MonthReturn[] {
  const found: MonthReturn[] = [];
  // A day's close at midnight belongs to the day that ends then.
  const monthOf = (at: number): number => {
    const date = new Date(at - 1);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  };
  let before = equity[0] as number;
  for (let index = 1; index < time.length; index++) {
    const month = monthOf(time[index] as number);
    if (index + 1 < time.length && monthOf(time[index + 1] as number) === month) continue;
    const now = equity[index] as number;
    if (before > 0) found.push({ year: Math.floor(month / 12), month: month % 12, value: now / before - 1 });
    before = now;
  }
  return found;
}

const percentText = (value: number): string => fixed(value * 100, Math.abs(value) >= 1 ? 0 : 1);

export function monthSection({ days }: ReportInput): Html {
  const months = monthReturns(days);
  const max = Math.max(0.01, ...months.map(({ value }) => Math.abs(value)));
  const cell = (value: number | undefined, month: string, year: number): Html =>
    value === undefined
      ? html`<td class="none" data-month="${month}"></td>`
      : html`<td class="${Math.abs(value) < 0.0005 ? 'h0' : heatClass(value, max)}" data-month="${month}" title="${month} ${year}: ${shareText(value)}">${percentText(value)}</td>`;
  const row = ([year, own]: readonly [number, readonly MonthReturn[]]): Html => {
    const total = own.reduce((product, { value }) => product * (1 + value), 1) - 1;
    return html`<tr><th scope="row">${year}</th>${monthNames.map((name, month) =>
      cell(own.find((one) => one.month === month)?.value, name, year),
    )}<td class="sum">${percentText(total)}</td></tr>`;
  };
  const sorted = months.toSorted((a, b) => b.value - a.value);
  const [best, worst] = [sorted[0], sorted.at(-1)];
  const nameOf = (one: MonthReturn): string => `${monthNames[one.month]} ${one.year} ${shareText(one.value)}`;
  return section(
    'months',
    'Returns by month',
    about(
      'In %, from the last equity of a month to that of the next, UTC.',
      best === undefined || worst === undefined || best === worst
        ? ''
        : ` Best ${nameOf(best)}, worst ${nameOf(worst)}.`,
    ),
    html`<div class="scroll-x"><table class="heat months"><thead><tr><th></th>${monthNames.map((name) => html`<th scope="col">${name}</th>`)}<th scope="col">Year</th></tr></thead><tbody>${[
      ...Map.groupBy(months, ({ year }) => year),
    ].map(row)}</tbody></table></div>`,
  );
}
