/** Several runs on one page, side by side. */
import type { Curve } from '../research/curves.ts';
import type { Summary } from '../research/summary.ts';
import { figureGroups, periodText, shareText } from './figures.ts';
import { about, type Html, html, numbers, section, stamp, tableHtml } from './html.ts';
import { pageText } from './page.ts';
import { high, linear, path, plot, rangeOf, roundSteps, timeLabels, wide } from './plot.ts';

export interface Compared {
  readonly name: string;
  /** How it differs from the others. */
  readonly about: string;
  readonly asset: string;
  readonly summary: Summary;
  readonly days: Curve;
}

function growthPlot(runs: readonly Compared[]): Html {
  const lines = runs.map(({ days: { time, equity } }) => ({
    time,
    values: equity.map((value) => value / (equity[0] as number) - 1),
  }));
  const [from, to] = rangeOf(lines.map(({ time }) => time));
  const [low, top] = rangeOf([Float64Array.of(0), ...lines.map(({ values }) => values)]);
  const margin = (top - low) * 0.05 || 0.01;
  const x = linear(from, to, wide);
  const y = linear(low - margin, top + margin, high, true);
  return html`<p class="key">${runs.map(
    ({ name, about: difference }, index) =>
      html`<span class="line run${index}"></span> ${name}${difference === '' ? '' : ` (${difference})`} `,
  )}</p>${plot({
    ...{ x, y, size: 'tall', xLabels: timeLabels(from, to), label: 'Growth of each run' },
    yLabels: roundSteps(y.low, y.high).map((value) => ({ value, text: shareText(value) })),
    body: html`<path class="start" d="M0 ${y.at(0).toFixed(1)}H${wide}"/>${lines.map(
      ({ time, values }, index) => html`<path class="line-own run${index}" d="${path(time, values, x, y)}"/>`,
    )}`,
  })}`;
}

/** What makes runs hard to compare: they cover other times. Undefined where all cover the same. */
export function timesNote(runs: readonly { readonly name: string; readonly summary: Pick<Summary, 'from' | 'to'> }[]) {
  for (const [index, one] of runs.entries())
    for (const other of runs.slice(index + 1))
      if (one.summary.to <= other.summary.from || other.summary.to <= one.summary.from)
        return `${one.name} and ${other.name} do not overlap in time: a difference may come from the market alone. Compare runs over the same time`;
  const times = new Set(runs.map(({ summary: { from, to } }) => `${from} ${to}`));
  return times.size === 1
    ? undefined
    : 'The runs overlap only in part: a difference may come from the time that one of them lacks';
}

function verdictTable(runs: readonly Compared[]): Html {
  const rows = runs.map(({ name, about: difference, summary }) => {
    const { verdict, from, to, rules } = summary;
    return [name, verdict.conclusion, difference, periodText(from, to), rules, verdict.reasons.join('; ')];
  });
  return tableHtml(['Run', 'Verdict', 'Difference', 'Time', 'Rules', 'Why'], rows, 'words');
}

/** What was found in the data of each: results on repaired or doubtful data are marked. */
function dataTable(runs: readonly Compared[]): Html {
  const found = runs.flatMap(({ name, summary }) => summary.warnings.map((warning) => [name, warning]));
  return found.length === 0 ? about('Nothing was found.') : tableHtml(['Run', 'Found in its data'], found, 'words');
}

function figureTable(runs: readonly Compared[]): Html {
  const all = runs.map(({ summary }) => figureGroups(summary));
  const rows = (all[0] ?? []).flatMap(({ title, figures }, group) => [
    [html`<b>${title}</b>`, ...runs.map(() => ''), ''],
    ...figures.map(([name, , means], figure) => [
      name,
      ...all.map((groups) => groups[group]?.figures[figure]?.[1]),
      html`<span class="muted small">${means}</span>`,
    ]),
  ]);
  return tableHtml(['', ...numbers(...runs.map(({ name }) => name)), 'What it means'], rows, 'words');
}

export function compareText(runs: readonly Compared[]): string {
  const title = `${runs.length} runs compared`;
  const body = html`<header class="top"><h1>${title}</h1><p class="muted">${runs.map(({ name }) => name).join(' · ')}</p></header>${[
    stamp(timesNote(runs)),
    section('growth', 'Growth', growthPlot(runs)),
    section('verdicts', 'Verdicts', verdictTable(runs)),
    section('data', 'Data', dataTable(runs)),
    section('figures', 'Figures', figureTable(runs)),
  ]}`;
  return pageText({ title, body });
}
