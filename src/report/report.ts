/** The report of one run. */

import type { Payload } from './chart-data.ts';
import { equitySection, monthSection, spanOf } from './curves.ts';
import { type Html, html } from './html.ts';
import type { ReportInput } from './input.ts';
import { pageText } from './page.ts';
import { mostFills, payloadOf } from './payload.ts';
import { endedText } from './stopped-runs.ts';
import {
  configurationSection,
  costSection,
  currencySection,
  dataSection,
  evidenceSection,
  flowSection,
  groupSection,
  headline,
  metricSection,
  verdictSection,
} from './tables.ts';
import { tradeSection } from './trades.ts';

function chartSection({ series, table, missing }: ReportInput): Html {
  if (series.length === 0)
    return html`<section class="panel" id="chart"><h2>Klines and fills</h2><p class="stamp">${missing ?? 'no klines'}</p></section>`;
  const buttons =
    series.length === 1
      ? html``
      : html`<div class="segmented">${series.map(({ symbol }) => html`<button type="button" data-choose="${symbol}" aria-pressed="false">${symbol}</button>`)}</div>`;
  const cut = table.length > mostFills ? ` Only the first ${mostFills} fills are drawn.` : '';
  return html`<section class="panel" id="chart"><div class="chart-head"><h2>Klines and fills</h2>${buttons}<span class="muted small" id="chart-note"></span></div><div id="legend"></div><div id="kline-chart" role="img" aria-label="Klines with fills; round trips and doubtful fills are listed below"></div><div id="printed" aria-hidden="true"></div><p class="about">Click a kline for its fills and their evidence; drag, pinch or turn the wheel to move. ▲ bought, ▼ sold; stops in red, targets in green.${cut}</p><div id="clicked"></div><noscript><p class="stamp">The chart of klines needs JavaScript; everything else does not.</p></noscript></section>`;
}

const contents: readonly (readonly [id: string, title: string])[] = [
  ['verdict', 'Verdict'],
  ['chart', 'Klines'],
  ['equity', 'Equity'],
  ['months', 'Months'],
  ['trips', 'Round trips'],
  ['costs', 'Costs'],
  ['groups', 'Where'],
  ['evidence', 'Evidence'],
  ['metrics', 'All figures'],
  ['data', 'Data'],
  ['configuration', 'Configuration'],
];

export function reportText(input: ReportInput): string {
  const { title, summary, series, asset } = input;
  const symbols = [...new Set(input.table.places.map(({ symbol }) => symbol))];
  const body = html`<header class="top"><h1>${title}</h1><p class="muted">${
    symbols.join(', ') || series.map(({ symbol }) => symbol).join(', ')
  } · ${spanOf(summary.from, summary.to)} · rules ${summary.rules} · in ${asset}</p><nav class="toc">${contents.map(
    ([id, name]) => html`<a href="#${id}">${name}</a>`,
  )}</nav></header>${[
    summary.endedAt === undefined ? '' : html`<p class="stamp">Stopped ${endedText(summary.endedAt)}.</p>`,
    verdictSection(input),
    headline(input),
    chartSection(input),
    equitySection(input),
    ...input.extra,
    monthSection(input),
    tradeSection(input),
    costSection(input),
    currencySection(input),
    flowSection(input),
    groupSection(input),
    evidenceSection(input),
    metricSection(input),
    dataSection(input),
    configurationSection(input),
  ]}`;
  const payload: Payload | undefined = series.length === 0 ? undefined : payloadOf(input);
  return pageText({ title, body, ...(payload === undefined ? {} : { payload }) });
}
