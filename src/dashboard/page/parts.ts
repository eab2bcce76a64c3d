/** Small pieces that several panels use. */
import { html } from 'htm/preact';
import type { IChartApi } from 'lightweight-charts';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, chosenStrategy, strategyIds } from './ask.ts';
import { paintChart } from './charts/kline-chart.ts';
import { direction, signed, when } from './format.ts';
import { view } from './store.ts';
import { isDark } from './theme.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export const Pill = ({ tone, children }: { tone: Tone; children?: ComponentChildren }): VNode =>
  html`<span class=${`pill ${tone}`}>${children}</span>`;

/** An amount with its sign and colour. */
export const Gain = ({ text, unit = '' }: { text: string; unit?: string }): VNode =>
  html`<span class=${direction(text)}>${signed(text)}${unit}</span>`;

export const Side = ({ side }: { side: 'BUY' | 'SELL' }): VNode =>
  html`<span class=${side === 'BUY' ? 'side buy' : 'side sell'}>${side === 'BUY' ? 'Buy' : 'Sell'}</span>`;

/** A moment, with its day where that is not the market's of now: a daemon runs for weeks, and shows what earlier ones did. */
export const When = ({ at }: { at: number }): VNode =>
  html`<time datetime=${new Date(at).toISOString()}>${when(at, view.value?.marketTime ?? at)}</time>`;

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
  readonly choose: (value: string) => void;
  readonly kind?: string;
}
/** More options than this do not fit as buttons. */
const maxButtons = 5;

/** Buttons of which one is pressed; a list where there are many, and nothing where there is no choice. */
export function Choice({ label, options, chosen, choose, kind = '' }: ChoiceProps): VNode | null {
  if (options.length < 2) return null;
  if (options.length > maxButtons)
    return html`<${Select} label=${label} options=${options} chosen=${chosen} choose=${choose} />`;
  return html`
    <div class=${`segmented ${kind}`} role="group" aria-label=${label}>
      ${options.map(
        ([value, text]) =>
          html`<button type="button" aria-pressed=${chosen === value} onClick=${() => choose(value)}>${text}</button>`,
      )}
    </div>
  `;
}

const Select = ({ label, options, chosen, choose }: Omit<ChoiceProps, 'kind'>): VNode => html`
  <label class="choice">
    <span class="unseen">${label}</span>
    <select value=${chosen} onChange=${(event: Event) => choose((event.currentTarget as HTMLSelectElement).value)}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
    </select>
  </label>
`;

interface PanelProps {
  readonly id: string;
  readonly title: string;
  readonly count?: number | undefined;
  /** Stands at the right of the title. */
  readonly aside?: ComponentChildren;
  /** Says what will appear here, as long as nothing does. */
  readonly empty?: string | false;
  readonly children?: ComponentChildren;
}
export const Panel = ({ id, title, count, aside, empty = false, children }: PanelProps): VNode => html`
  <section class="panel" id=${id} aria-labelledby=${`${id}-title`}>
    <header class="panel-head">
      <h2 id=${`${id}-title`}>${title}${count === undefined ? '' : html` <span class="count">${count}</span>`}</h2>
      <div class="aside">${aside}</div>
    </header>
    ${empty === false ? children : html`<p class="empty">${empty}</p>`}
  </section>
`;

interface ShownProps<T> {
  readonly answer: Answer<T>;
  readonly children: (value: T) => ComponentChildren;
}
/** What the daemon answered, or that it has not yet, or why it cannot. */
export function Shown<T>({ answer, children }: ShownProps<T>): VNode {
  if (answer.kind === 'answered') return html`${children(answer.value)}`;
  if (answer.kind === 'failed') return html`<p class="error pad" role="alert">${answer.message}</p>`;
  return html`<p class="empty" role="status">Reading …</p>`;
}

/** Which strategy the panels are about. */
export function StrategyChoice(): VNode {
  const options = [['', 'All strategies'], ...strategyIds().map((id) => [id, id])];
  const choose = (id: string): void => {
    chosenStrategy.value = id;
  };
  return html`<${Select} label="Strategy" options=${options} chosen=${chosenStrategy.value} choose=${choose} />`;
}

/** Columns marked `wide` are left out on a phone. */
export type Column<T> = readonly [title: string, classes: string | undefined, cell: (row: T) => ComponentChildren];

interface TableProps<T> {
  /** What the table is, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}
export const Table = <T>({ caption, columns, rows, keyOf }: TableProps<T>): VNode => html`
  <table>
    <caption class="unseen">${caption}</caption>
    <thead><tr>${columns.map(([title, classes]) => html`<th scope="col" class=${classes}>${title}</th>`)}</tr></thead>
    <tbody>
      ${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map(([, classes, cell]) => html`<td class=${classes}>${cell(row)}</td>`)}</tr>`)}
    </tbody>
  </table>
`;

/** A chart in an element: opened once, painted whenever the colours change, and removed with the element. */
export function useChart<T extends { readonly chart: IChartApi }>(
  open: (box: HTMLElement) => T,
  paint: (drawing: T) => void,
) {
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<T>(undefined);
  useEffect(() => {
    if (box.current === null) return undefined;
    drawing.current = open(box.current);
    return () => drawing.current?.chart.remove();
  }, []);
  useEffect(() => {
    if (drawing.current === undefined) return;
    paintChart(drawing.current.chart);
    paint(drawing.current);
  }, [isDark()]);
  return { box, drawing };
}
