/** Saved backtests and grids of this machine: lists that open reports. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type { GridRow, LibraryView, RunRow, Wanted } from '../../machine/library.ts';
import { useGet } from '../ask.ts';
import { day, minuteTime } from '../format.ts';
import { type Column, Gain, Panel, Shown, Table } from '../parts.ts';
import { openReport } from './open-report.ts';

/** Real ms between two answers: a backtest takes seconds, and a list of hundreds is long. */
const everyMs = 10_000;
/** As the server takes them. */
const maxCompared = 8;

const sought = signal('');
const marked = signal<readonly string[]>([]);

const fileName = (path: string): string => path.replace(/^.*\//, '');
const percent = (share: number): string => (100 * share).toFixed(2);

const ran = ({ at }: { readonly at: number }): VNode =>
  html`<time datetime=${new Date(at).toISOString()}>${day(at)} ${minuteTime(at)}</time>`;

/** The configuration with what was changed in it, and the strategies; on a phone with its time. */
const Configuration = ({ row }: { row: Pick<RunRow, 'at' | 'file' | 'set' | 'strategies'> }): VNode => html`
  <b title=${row.file}>${fileName(row.file)}</b>
  <span class="muted"> ${[...row.strategies.map(fileName), ...row.set].join(' · ')}</span>
  <span class="narrow">${ran(row)}</span>
`;

const span = ({ from, to }: { readonly from: number; readonly to: number }): string => `${day(from)} to ${day(to)}`;
const symbols = (row: Pick<RunRow, 'symbols'>): string =>
  row.symbols.length > 3
    ? `${row.symbols.slice(0, 3).join(', ')} and ${row.symbols.length - 3} more`
    : row.symbols.join(', ');
const ratio = (value: number | null): string => (value === null ? '–' : value.toFixed(2).replace('-', '−'));
const gain = (value: number | undefined): ComponentChildren =>
  value === undefined ? '–' : html`<${Gain} text=${percent(value)} unit=" %" />`;
const fall = (value: number | undefined): string => (value === undefined ? '–' : `${percent(Math.abs(value))} %`);

const Report = ({ wanted, of }: { wanted: Wanted; of: string }): VNode => html`
  <button type="button" class="button small" aria-label=${`Report of ${of}`} onClick=${() => void openReport(wanted)}>Report</button>
`;

function toggle(id: string): void {
  const others = marked.value.filter((one) => one !== id);
  marked.value = others.length < marked.value.length ? others : [...others, id].slice(-maxCompared);
}

const Mark = ({ id }: { id: string }): VNode => html`
  <input type="checkbox" aria-label=${`Compare ${id}`} checked=${marked.value.includes(id)} onChange=${() => toggle(id)} />
`;

const runColumns: readonly Column<RunRow>[] = [
  ['', undefined, ({ id }) => html`<${Mark} id=${id} />`],
  ['Ran (UTC)', 'wide', ran],
  ['Configuration', 'text', (row) => html`<${Configuration} row=${row} />`],
  ['Symbols', 'text wide', symbols],
  ['Span', 'wide', span],
  ['Return', 'number', (row) => gain(row.return)],
  ['Drawdown', 'number wide', ({ maxDrawdown }) => fall(maxDrawdown)],
  ['Sharpe', 'number', ({ sharpe }) => ratio(sharpe)],
  ['Verdict', 'text wide', ({ conclusion, notes }) => `${conclusion}${notes > 0 ? ' *' : ''}`],
  ['', 'buttons', ({ id }) => html`<${Report} wanted=${{ run: id }} of=${id} />`],
];

const gridColumns: readonly Column<GridRow>[] = [
  ['Ran (UTC)', 'wide', ran],
  ['Configuration', 'text', (row) => html`<${Configuration} row=${row} />`],
  ['Axes', 'text wide', ({ axes }) => axes.join(' × ')],
  ['Symbols', 'text wide', symbols],
  ['Span', 'wide', span],
  [
    'Best',
    'text wide',
    ({ best, missing }) => `${best?.values ?? 'none ranked'}${missing > 0 ? ` (${missing} sets not run)` : ''}`,
  ],
  ['Return', 'number', ({ best }) => gain(best?.return)],
  ['Drawdown', 'number wide', ({ best }) => fall(best?.maxDrawdown)],
  ['Sharpe', 'number', ({ best }) => ratio(best?.sharpe ?? null)],
  ['', 'buttons', ({ id }) => html`<${Report} wanted=${{ grid: id }} of=${`grid ${id}`} />`],
];

/** Whether a row has every word that is sought. */
function fits(row: RunRow | GridRow): boolean {
  const words = sought.value.toLowerCase().split(/\s+/);
  const text = [row.id, row.file, ...row.set, ...row.strategies, ...row.symbols].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

const Search = (): VNode => html`
  <input
    class="search"
    type="search"
    placeholder="Strategy, symbol or file"
    aria-label="Search saved runs"
    value=${sought.value}
    onInput=${(event: Event) => {
      sought.value = (event.currentTarget as HTMLInputElement).value;
    }}
  />
`;

function Compare({ there }: { there: readonly RunRow[] }): VNode {
  const chosen = marked.value.filter((id) => there.some((run) => run.id === id));
  return html`<button
    type="button"
    class="button small"
    disabled=${chosen.length < 2}
    onClick=${() => void openReport({ compare: chosen })}
  >${chosen.length < 2 ? 'Compare: mark two' : `Compare ${chosen.length}`}</button>`;
}

const Notes = ({ notes }: Pick<LibraryView, 'notes'>): VNode | null =>
  notes.length === 0 ? null : html`<ul class="pad muted">${notes.map((note) => html`<li>${note}</li>`)}</ul>`;

export function Backtests(): VNode {
  const answer = useGet<LibraryView>('api/runs', { everyMs });
  return html`<${Shown} answer=${answer}>${({ folder, runs, notes }: LibraryView) => {
    const shown = runs.filter(fits);
    return html`
      <${Panel}
        id="backtests"
        title="Backtests"
        count=${shown.length}
        aside=${html`<${Search} /><${Compare} there=${runs} />`}
        empty=${runs.length === 0 && `No saved backtest in ${folder}: each sluice backtest saves one.`}
      >
        <div class="sideways" tabindex="0" role="region" aria-label="Saved backtests">
          <${Table} caption="Saved backtests, newest first" columns=${runColumns} rows=${shown} keyOf=${({ id }: RunRow) => id} />
        </div>
        <p class="pad muted small">${folder}${runs.some((run) => run.notes > 0) ? ' · * with notes on its data: see its report' : ''}</p>
      <//>
      <${Notes} notes=${notes} />
    `;
  }}<//>`;
}

export function Grids(): VNode {
  const answer = useGet<LibraryView>('api/runs', { everyMs });
  return html`<${Shown} answer=${answer}>${({ folder, grids, notes }: LibraryView) => {
    const shown = grids.filter(fits);
    return html`
      <${Panel}
        id="grids"
        title="Grids"
        count=${shown.length}
        aside=${html`<${Search} />`}
        empty=${grids.length === 0 && `No saved grid in ${folder}: sluice backtest --grid saves one.`}
      >
        <div class="sideways" tabindex="0" role="region" aria-label="Saved grids">
          <${Table} caption="Saved grids, newest first, with their best parameter set" columns=${gridColumns} rows=${shown} keyOf=${({ id }: GridRow) => id} />
        </div>
      <//>
      <${Notes} notes=${notes} />
    `;
  }}<//>`;
}
