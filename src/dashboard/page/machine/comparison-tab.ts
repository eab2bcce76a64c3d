/** The live results of each strategy beside the backtest that is the most like it: a tab of a daemon's page where `sluice dashboard` serves it. */
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type {
  ComparisonView,
  DayPair,
  PriceDifference,
  SideFigures,
  StrategyComparison,
} from '../../machine/comparison.ts';
import { chosenStrategy, useGet } from '../ask.ts';
import { day, minuteTime } from '../format.ts';
import { type Column, Shown, StrategyChoice, Table } from '../parts.ts';
import { daemonName } from './daemon-name.ts';
import { openReport } from './open-report.ts';

/** Real ms between two answers: it reads all fills. */
const everyMs = 30_000;

const percent = (share: number | null, decimals = 2): string =>
  share === null ? '–' : `${(100 * share).toFixed(decimals).replace('-', '−')} %`;
const gain = (share: number | null, decimals: number): ComponentChildren =>
  share === null
    ? '–'
    : html`<span class=${share > 0 ? 'up' : share < 0 ? 'down' : ''}>${share > 0 ? '+' : ''}${percent(share, decimals)}</span>`;

type Figure = readonly [name: string, about: string, of: (side: SideFigures) => ComponentChildren];
const figures: readonly Figure[] = [
  ['Days', 'since it first ran; of the backtest', ({ days }) => days.toFixed(1)],
  [
    'Return per day',
    'closed round trips after fees, of the allocation or cash',
    ({ returnPerDay }) => gain(returnPerDay, 3),
  ],
  ['Fills per day', '', ({ fillsPerDay }) => (fillsPerDay === null ? '–' : fillsPerDay.toFixed(2))],
  ['Fee per fill', 'of its value', ({ feePerFill }) => percent(feePerFill, 3)],
  [
    'Slippage',
    'MARKET orders, beyond the price at approval; not saved by backtests',
    ({ slippage }) => percent(slippage, 3),
  ],
  ['Denied', 'of denied and sent orders; live of the last 30 days', ({ denialShare }) => percent(denialShare, 1)],
  ['Win rate', 'of round trips', ({ winRate }) => percent(winRate, 0)],
  ['Round trips', '', ({ roundTrips }) => String(roundTrips)],
];

const Figures = ({ live, backtest }: Pick<StrategyComparison, 'live' | 'backtest'>): VNode => {
  const cell = (side: SideFigures | null, of: Figure[2]): ComponentChildren => (side === null ? '–' : of(side));
  const columns: readonly Column<Figure>[] = [
    ['', undefined, ([name]) => name],
    ['Live', 'number', ([, , of]) => cell(live, of)],
    ['Backtest', 'number', ([, , of]) => cell(backtest, of)],
    ['', 'text wide muted', ([, about]) => about],
  ];
  return html`<${Table} caption="Live beside the backtest" columns=${columns} rows=${figures} keyOf=${([name]: Figure) => name} />`;
};

const dayColumns: readonly Column<DayPair>[] = [
  ['Day (UTC)', undefined, (pair) => day(pair.day)],
  ['Return live', 'number', ({ live }) => gain(live.return, 3)],
  ['Return backtest', 'number', ({ backtest }) => gain(backtest.return, 3)],
  ['Fills live', 'number', ({ live }) => String(live.fills)],
  ['Fills backtest', 'number', ({ backtest }) => String(backtest.fills)],
];

const differenceText = ({ of, matched, fills }: PriceDifference): string =>
  `live paid ${percent(of, 3)} beyond the backtest (${matched} of ${fills} fills within one kline of each other)`;

function Days({ days, noDays, priceDifference }: StrategyComparison): VNode {
  if (noDays !== undefined) return html`<p class="empty">${noDays}</p>`;
  return html`
    <h3>The same days${priceDifference === null ? '' : `: ${differenceText(priceDifference)}`}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="The same days">
      <${Table} caption="The same days, newest first" columns=${dayColumns} rows=${days} keyOf=${(pair: DayPair) => String(pair.day)} />
    </div>
  `;
}

function One({ of }: { of: StrategyComparison }): VNode {
  const { strategy, use, run, differences } = of;
  return html`
    <section class="beside" aria-label=${`${strategy} beside its backtest`}>
      <header class="line">
        <b>${strategy}</b> <span class="muted">${use}</span>
        ${
          run === null
            ? null
            : html`<span>beside ${run.id}, ran ${day(run.at)} ${minuteTime(run.at)}</span>
          <button type="button" class="button small" aria-label=${`Report of ${run.id}`} onClick=${() => void openReport({ run: run.id }, '../../')}>Report</button>`
        }
      </header>
      ${run === null ? html`<p class="muted">No saved backtest of this strategy: run sluice backtest with it.</p>` : null}
      ${differences.length === 0 ? null : html`<ul class="warned">${differences.map((text) => html`<li>${text}</li>`)}</ul>`}
      ${run !== null && differences.length === 0 ? html`<p class="muted">Same code, parameters and markets.</p>` : null}
      <${Figures} live=${of.live} backtest=${of.backtest} />
      <${Days} ...${of} />
    </section>
  `;
}

export function ComparisonTab(): VNode {
  const answer = useGet<ComparisonView>(`../../api/comparison/${daemonName}`, { everyMs });
  return html`
    <div class="controls"><${StrategyChoice} /></div>
    <${Shown} answer=${answer}>${({ strategies, notes }: ComparisonView) => html`
      ${notes.map((note) => html`<p class="pad muted">${note}</p>`)}
      ${strategies
        .filter(({ strategy }) => chosenStrategy.value === '' || strategy === chosenStrategy.value)
        .map((one) => html`<${One} key=${one.strategy} of=${one} />`)}
    `}<//>
  `;
}
