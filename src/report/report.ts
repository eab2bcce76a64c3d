/** The report of one run. */
import { equitySection, monthSection } from './equity-section.ts';
import { periodText } from './figures.ts';
import { about, configurationSection, type Html, html, stamp } from './html.ts';
import type { ReportInput } from './input.ts';
import { marketSection } from './market-section.ts';
import { endedText } from './notes.ts';
import { pageText } from './page.ts';
import { maxFills, payloadOf } from './payload.ts';
import { roundTripSection } from './round-trip-section.ts';
import {
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

function chartSection({ series, table, missing }: ReportInput): Html {
  if (series.length === 0)
    return html`<section class="panel" id="chart"><h2>Klines and fills</h2>${stamp(missing ?? 'no klines')}</section>`;
  const buttons =
    series.length === 1
      ? undefined
      : html`<div class="segmented">${series.map(({ symbol }) => html`<button type="button" data-choose="${symbol}" aria-pressed="false">${symbol}</button>`)}</div>`;
  return html`<section class="panel" id="chart"><div class="chart-head"><h2>Klines and fills</h2>${buttons}<span class="muted small" id="chart-note"></span></div><div id="legend"></div><div id="indicators" aria-label="Indicators"></div><div id="kline-chart" role="img" aria-label="Klines with fills; round trips and doubtful fills are listed below"></div><div id="printed" aria-hidden="true"></div>${about(
    'Click a kline for its fills and their evidence; drag, pinch or turn the wheel to move. ▲ bought, ▼ sold; stops in red, targets in green. Lines are the indicators that the strategy decided on.',
    table.length > maxFills ? ` Only the first ${maxFills} fills are drawn.` : '',
  )}<div id="clicked"></div><noscript>${stamp('The chart of klines needs JavaScript; everything else does not.')}</noscript></section>`;
}

const contents: readonly (readonly [id: string, title: string])[] = [
  ['verdict', 'Verdict'],
  ['chart', 'Klines'],
  ['equity', 'Equity'],
  ['months', 'Months'],
  ['trips', 'Round trips'],
  ['costs', 'Costs'],
  ['markets', 'Markets'],
  ['groups', 'Groups'],
  ['evidence', 'Evidence'],
  ['metrics', 'All figures'],
  ['data', 'Data'],
  ['configuration', 'Configuration'],
];

export function reportText(input: ReportInput): string {
  const { title, summary, series, asset, table } = input;
  const traded = [...new Set(table.positions.map(({ symbol }) => symbol))].join(', ');
  const markets = marketSection(input);
  const shown = contents.filter(([id]) => id !== 'markets' || markets !== undefined);
  const body = html`<header class="top"><h1>${title}</h1><p class="muted">${
    traded || series.map(({ symbol }) => symbol).join(', ')
  } · ${periodText(summary.from, summary.to)} · rules ${summary.rules} · in ${asset}</p><nav class="toc">${shown.map(
    ([id, name]) => html`<a href="#${id}">${name}</a>`,
  )}</nav></header>${[
    stamp(summary.endedAt === undefined ? undefined : `Stopped ${endedText(summary.endedAt)}.`),
    verdictSection(input),
    headline(input),
    chartSection(input),
    equitySection(input),
    monthSection(input),
    roundTripSection(input),
    costSection(input),
    currencySection(input),
    flowSection(input),
    markets,
    groupSection(input),
    evidenceSection(input),
    metricSection(input),
    dataSection(input),
    configurationSection(input),
  ]}`;
  return pageText({ title, body, ...(series.length > 0 && { payload: payloadOf(input) }) });
}
