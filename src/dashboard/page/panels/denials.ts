/** Denied orders by the rule that denied them, each with its last example. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { DenialsByRule } from '../../history.ts';
import { ask, useAnswer } from '../ask.ts';
import { Choice, type Column, Shown, Table, When } from '../parts.ts';
import { Why } from './timeline.ts';

const hours = signal('24');
const choices = [
  ['1', 'Hour'],
  ['24', 'Day'],
  ['168', 'Week'],
  ['8784', 'Year'],
] as const;

const total = (rows: readonly DenialsByRule[]): number => rows.reduce((sum, { times }) => sum + times, 0);

const columnsOf = (all: number): readonly Column<DenialsByRule>[] => [
  ['Rule', 'folds', ({ rule }) => html`<b>${rule}</b>`],
  ['Times', 'number', ({ times }) => times.toLocaleString('en')],
  ['Share', 'number wide', ({ times }) => `${Math.round((100 * times) / Math.max(1, all))} %`],
  ['Last', 'folds', ({ lastAt }) => html`<${When} at=${lastAt} />`],
  [
    'Last order',
    'text',
    ({ strategy, symbol, order, text }) => html`
      ${strategy} ${symbol} ${order}
      <${Why} subject=${{ label: `denials of ${strategy}`, ask: () => ask('why', { subject: strategy }) }} /><br />
      <span class="muted">${text}</span>
    `,
  ],
];

export function Denials(): VNode {
  const answer = useAnswer('denials', { hours: hours.value });
  const choose = (value: string): void => {
    hours.value = value;
  };
  return html`
    <div class="controls"><${Choice} label="Period" options=${choices} chosen=${hours.value} choose=${choose} /></div>
    <${Shown} answer=${answer}>
      ${(rows: readonly DenialsByRule[]) =>
        rows.length === 0
          ? html`<p class="empty">No order was denied in this period. Orders that a limit forbids appear here, by rule.</p>`
          : html`<${Table} caption="Denied orders by rule" columns=${columnsOf(total(rows))} rows=${rows} keyOf=${({ rule }: DenialsByRule) => rule} />`}
    <//>
  `;
}
