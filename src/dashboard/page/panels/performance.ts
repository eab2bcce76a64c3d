/** Profit by day, week and month, and the curve of equity or of one strategy's profit, with its drawdown. */
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { PerformanceView, Period, PeriodUnit } from '../../history.ts';
import { chosenStrategy, useAnswer } from '../ask.ts';
import { Curves } from '../charts/curves.ts';
import { day, money } from '../format.ts';
import { Choice, type Column, Gain, Shown, StrategyChoice, Table } from '../parts.ts';

const unit = signal<PeriodUnit>('day');
const units: readonly (readonly [PeriodUnit, string])[] = [
  ['day', 'Days'],
  ['week', 'Weeks'],
  ['month', 'Months'],
];

const rateText = (wins: number, trips: number): string => (trips === 0 ? '–' : `${Math.round((100 * wins) / trips)} %`);

const nameOf = (start: number): string => {
  if (unit.value === 'month') return day(start).slice(-8);
  return unit.value === 'week' ? `week of ${day(start)}` : day(start);
};

const columns: readonly Column<Period>[] = [
  ['Period (UTC)', undefined, ({ start }) => nameOf(start)],
  ['Profit', 'number', ({ profit }) => html`<${Gain} text=${profit} />`],
  ['Fees', 'number wide', ({ fees }) => money(fees)],
  ['Fills', 'number', ({ fills }) => String(fills)],
  ['Round trips', 'number wide', ({ roundTrips }) => String(roundTrips)],
  ['Win rate', 'number', ({ wins, roundTrips }) => rateText(wins, roundTrips)],
];

function Performed({ of }: { of: PerformanceView }): VNode {
  const { maxDrawdown, roundTrips, wins, fees, curve, markets, otherMarkets, periods } = of;
  const name = chosenStrategy.value === '' ? 'Equity' : `Profit of ${chosenStrategy.value}`;
  return html`
    <dl class="facts pad">
      <div><dt>Max drawdown</dt><dd>${money(maxDrawdown.amount)}${/[1-9]/.test(maxDrawdown.amount) ? ` (${day(maxDrawdown.from)} to ${day(maxDrawdown.to)})` : ''}</dd></div>
      <div><dt>Round trips</dt><dd>${roundTrips}</dd></div>
      <div><dt>Win rate</dt><dd>${rateText(wins, roundTrips)}</dd></div>
      <div><dt>Fees</dt><dd>${money(fees)}</dd></div>
    </dl>
    ${curve.length < 2 ? html`<p class="empty">The curve begins with the second point.</p>` : html`<${Curves} label=${`${name} over time`} curves=${[{ name, points: curve }]} drawdown=${true} />`}
    ${markets.length === 0 ? '' : html`<h3 class="pad">Profit of each market, at its fills${otherMarkets === 0 ? '' : ` (the ${markets.length} that moved most; ${otherMarkets} others are not drawn)`}</h3><${Curves} label="Profit of each market over time" curves=${markets.map(({ symbol, curve: points }) => ({ name: symbol, points }))} />`}
    <div class="scroll" tabindex="0" role="region" aria-label="Profit by period">
      <${Table} caption="Profit by period, newest first" columns=${columns} rows=${periods[unit.value]} keyOf=${({ start }: Period) => String(start)} />
    </div>
  `;
}

export function Performance(): VNode {
  const answer = useAnswer('performance', { strategy: chosenStrategy.value });
  const choose = (value: PeriodUnit): void => {
    unit.value = value;
  };
  return html`
    <div class="controls">
      <${StrategyChoice} />
      <${Choice} label="Period" options=${units} chosen=${unit.value} choose=${choose} />
    </div>
    <${Shown} answer=${answer}>${(of: PerformanceView) => html`<${Performed} of=${of} />`}<//>
  `;
}
