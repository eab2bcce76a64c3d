/** Several runs on one page, side by side. */
import { conventions } from '../research/conventions.ts';
import type { Curve } from '../research/curves.ts';
import type { Summary } from '../research/summary.ts';
import { spanOf } from './curves.ts';
import { figureText, shareText } from './figures.ts';
import { type Html, html, section, tableHtml } from './html.ts';
import { pageText } from './page.ts';
import { high, linear, path, plot, roundSteps, timeLabels, wide } from './plot.ts';

export interface Compared {
  readonly name: string;
  /** What tells it from the others. */
  readonly about: string;
  readonly asset: string;
  readonly summary: Summary;
  readonly days: Curve;
}

/** Growth of each, from 0 % on; holding is drawn once, of the run that lasts longest. */
function growthPlot(runs: readonly Compared[]): Html {
  const growth = (values: Float64Array): Float64Array => values.map((value) => value / (values[0] as number) - 1);
  const from = Math.min(...runs.map(({ days }) => days.time[0] as number));
  const to = Math.max(...runs.map(({ days }) => days.time.at(-1) as number));
  const lines = runs.map(({ days }) => ({ time: days.time, values: growth(days.equity) }));
  const all = lines.flatMap(({ values }) => [...values]);
  const low = all.reduce((a, b) => Math.min(a, b), 0);
  const top = all.reduce((a, b) => Math.max(a, b), 0);
  const margin = (top - low) * 0.05 || 0.01;
  const x = linear(from, to, wide);
  const y = linear(low - margin, top + margin, high, true);
  return html`<p class="key">${runs.map(
    ({ name, about }, index) =>
      html`<span class="line run${index}"></span> ${name}${about === '' ? '' : ` (${about})`} `,
  )}</p>${plot({
    ...{ x, y, size: 'tall', xLabels: timeLabels(from, to), about: 'Growth of each run' },
    yLabels: roundSteps(y.low, y.high).map((value) => ({ value, text: shareText(value) })),
    body: html`<path class="start" d="M0 ${y.at(0).toFixed(1)}H${wide}"/>${lines.map(
      ({ time, values }, index) => html`<path class="line-own run${index}" d="${path(time, values, x, y)}"/>`,
    )}`,
  })}`;
}

/** What was found in the data of each: a result on repaired or doubtful data is told from the others. */
function dataTable(runs: readonly Compared[]): Html {
  const found = runs.flatMap(({ name, summary }) => summary.warnings.map((warning) => [name, warning]));
  return found.length === 0
    ? html`<p class="about">Nothing was found that a reader should know of.</p>`
    : tableHtml(['Run', 'Found in its data'], found, 'words');
}

export function compareText(runs: readonly Compared[]): string {
  const title = `${runs.length} runs compared`;
  const values = ({ summary }: Compared): Readonly<Record<string, unknown>> => summary.metrics;
  const body = html`<header class="top"><h1>${title}</h1><p class="muted">${runs.map(({ name }) => name).join(' · ')}</p></header>${[
    section('growth', 'Growth', growthPlot(runs)),
    section(
      'verdicts',
      'Verdicts',
      tableHtml(
        ['Run', 'Verdict', 'Difference', 'Time', 'Rules', 'Why'],
        runs.map(({ name, about, summary }) => [
          name,
          summary.verdict.conclusion,
          about,
          spanOf(summary.from, summary.to),
          summary.rules,
          summary.verdict.reasons.join('; '),
        ]),
        'words',
      ),
    ),
    section('data', 'Data', dataTable(runs)),
    section(
      'figures',
      'Figures',
      tableHtml(
        ['', ...runs.map(({ name }) => [name, 'n'] as const), 'What it means'],
        conventions.flatMap(({ title: group, of }) => [
          [html`<b>${group}</b>`, ...runs.map(() => ''), ''],
          ...Object.entries(of).map(([key, { name, form, means }]) => [
            name,
            ...runs.map((run) => {
              const value = values(run)[key];
              return figureText(typeof value === 'number' ? value : null, form);
            }),
            html`<span class="muted small">${means}</span>`,
          ]),
        ]),
        'words',
      ),
    ),
  ]}`;
  return pageText({ title, body });
}
