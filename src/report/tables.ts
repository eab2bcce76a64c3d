/** The parts of a report that are text: verdict, figures, costs, groups, evidence and data. */
import { units, unitsNumber } from '../domain/money.ts';
import { aloneText, counted, grouped } from '../domain/words.ts';
import { isLateRule, lateText } from '../research/late-fills.ts';
import { type GroupRow, groupTitles } from '../research/round-trip-groups.ts';
import { doubtsText, movedText, unmovedText, type Verdict, withoutImpactText } from '../research/verdict.ts';
import { figureGroups, figureText, momentText, moneyFigure, shareText } from './figures.ts';
import {
  about,
  type Content,
  fact,
  figuresHtml,
  type Html,
  html,
  listHtml,
  numbers,
  section,
  signed,
  stamp,
  tableHtml,
} from './html.ts';
import { missingRates, type ReportInput } from './input.ts';
import {
  conclusionText,
  entriesIn,
  lockoutText,
  refusedRows,
  restText,
  soldIn,
  staleText,
  stoppedTexts,
  stressedText,
} from './notes.ts';
import { filled } from './plot.ts';
import { jump } from './round-trip-section.ts';

/** An exact amount as a number for the eye. */
const drawn = (text: string): number => unitsNumber(units(text, 'down'));

const conclusionKind: Readonly<Record<Verdict['conclusion'], string>> = {
  'better than luck so far': 'good',
  'not distinguishable from luck': 'warn',
  'too little to judge': 'warn',
  'lost money': 'bad',
};

const dsrNeeds = ({ sharpe, trials }: Verdict): string =>
  sharpe === null ? 'needs a Sharpe ratio' : trials < 2 ? 'needs two trials' : 'needs two trials with a Sharpe ratio';

/** The verdict card: whether to believe the result, and why not. */
export function verdictSection({ summary, asset }: Pick<ReportInput, 'summary' | 'asset'>): Html {
  const { verdict, stress, metrics, criticalWarnings: doubts } = summary;
  const { sharpe, sharpeLow, sharpeHigh, trials, psr, dsr, worstProfit, bestProfit } = verdict;
  const isExact = worstProfit === bestProfit;
  const { trackRecordYears } = metrics;
  return html`<section class="panel verdict ${conclusionKind[verdict.conclusion]}" id="verdict"><h2>${conclusionText(summary)}</h2><dl class="facts">${[
    fact(
      'Sharpe ratio',
      figureText(sharpe, 'ratio'),
      sharpeLow === null || sharpeHigh === null ? '' : `95 %: ${sharpeLow.toFixed(2)} … ${sharpeHigh.toFixed(2)}`,
    ),
    fact(
      'Trials',
      grouped(trials),
      trials === 1 ? 'on overlapping data, as far as was kept' : 'of these strategies on overlapping data',
    ),
    fact('PSR', figureText(psr, 'ratio'), 'true ratio above 0'),
    fact('DSR', figureText(dsr, 'ratio'), dsr === null ? dsrNeeds(verdict) : 'above the best by luck'),
    fact(
      `Profit, ${asset}`,
      isExact ? moneyFigure(worstProfit) : `${moneyFigure(worstProfit)} … ${moneyFigure(bestProfit)}`,
      isExact ? 'no ambiguous kline' : 'ambiguous klines against us … for us',
    ),
    fact('Ambiguous fills', figureText(verdict.ambiguousShare, 'share')),
    fact(
      'Break-even fees',
      figureText(verdict.breakEvenFees, 'factor'),
      verdict.breakEvenFees !== null
        ? 'with the same fills'
        : drawn(metrics.fees) <= 0
          ? 'no fee was paid'
          : 'nothing was earned before them',
    ),
    ...stress.map((one) => fact(one.name, signed(one.return, shareText(one.return)), stressedText(one))),
  ]}</dl>${stamp(summary.entries === null ? undefined : `${entriesIn(summary)}.`)}${
    verdict.reasons.length > 0
      ? listHtml(verdict.reasons)
      : stamp(doubts.length === 0 ? undefined : `Its data are doubtful: ${doubtsText(doubts)}.`)
  }${trackRecordYears === null || metrics.psr === null || metrics.psr >= 0.95 ? '' : about(`If this ratio is the true one, ${figureText(trackRecordYears, 'years')} are needed to show it.`)}</section>`;
}

/** The figures to see first. */
export function headline({ summary, asset }: ReportInput): Html {
  const { metrics: m, finalEquity, cash, fillCount } = summary;
  const sold = soldIn(summary);
  return html`<dl class="facts headline">${[
    fact('Return', signed(m.return, shareText(m.return)), `buy & hold ${shareText(m.buyAndHoldReturn)}`),
    fact(
      'Final equity',
      moneyFigure(drawn(finalEquity)),
      `${asset}, from ${moneyFigure(drawn(cash))}${sold === undefined ? '' : `; sold at the end ${sold}, which the curve and all ratios count`}`,
    ),
    fact('Max drawdown', shareText(m.maxDrawdown), `longest ${m.longestDrawdownDays.toFixed(1)} days`),
    fact('Round trips', grouped(m.roundTrips), m.winRate === null ? '' : `win rate ${shareText(m.winRate)}`),
    fact('Profit factor', figureText(m.profitFactor, 'ratio'), counted(fillCount, 'fill')),
    fact(
      `Fees, ${asset}`,
      moneyFigure(drawn(m.fees)),
      m.feeShare === null ? '' : `${shareText(m.feeShare)} of the gross profit`,
    ),
  ]}</dl>`;
}

export const metricSection = ({ summary }: ReportInput): Html =>
  section(
    'metrics',
    'All figures and what they mean',
    html`<div class="metrics">${figureGroups(summary).map(
      ({ title, figures }) => html`<div><h3>${title}</h3>${figuresHtml(figures)}</div>`,
    )}</div>`,
  );

function groupTable(rows: readonly GroupRow[], asset: string): Html {
  const max = Math.max(...rows.map(({ profit }) => Math.abs(profit)), 1e-9);
  return tableHtml(
    ['', ...numbers('Round trips', 'Win rate', `Profit, ${asset}`, 'Fees'), ''],
    rows.map(({ name, roundTrips, winRate, profit, fees }) => [
      name,
      grouped(roundTrips),
      shareText(winRate),
      signed(profit, moneyFigure(profit)),
      moneyFigure(fees),
      filled(Math.abs(profit) / max, profit < 0 ? 'down' : 'up'),
    ]),
    'groups',
  );
}

export function groupSection({ summary, asset }: ReportInput): Content {
  const shown = groupTitles.filter(([key]) => summary.groups[key].length > 0);
  if (shown.length === 0) return undefined;
  const tables = shown.map(
    ([key, title]) => html`<div><h3>${title}</h3>${groupTable(summary.groups[key], asset)}</div>`,
  );
  return section(
    'groups',
    'Profit and loss by group',
    about('Round trips after fees, counted at their exit.'),
    html`<div class="metrics">${tables}</div>`,
  );
}

export function costSection(input: ReportInput): Html {
  const { summary, table, asset } = input;
  let [maker, taker, makers] = [0, 0, 0];
  for (let fill = 0; fill < table.length; fill++)
    if (table.maker[fill] === 1) {
      maker += table.fee[fill] as number;
      makers++;
    } else taker += table.fee[fill] as number;
  const paidIn = summary.cashFlows.reduce((sum, { value, refused }) => sum + (refused === null ? drawn(value) : 0), 0);
  const net = drawn(summary.finalEquity) - drawn(summary.cash) - paidIn;
  const { metrics: m, margin, impact } = summary;
  const interest = drawn(margin?.interest ?? '0');
  const forced = drawn(margin?.liquidationFees ?? '0');
  // Exact, and in the currency of the equity, also where nothing gives the rates of the single fills.
  const fees = drawn(m.fees);
  const earned = net + fees + interest + forced;
  const takers = table.length - makers;
  const costs = margin ? 'fees and interest' : 'fees';
  const rows: (readonly [string, Content, string])[] = [
    [
      `Earned before ${costs}`,
      signed(earned, moneyFigure(earned)),
      `final equity less cash${paidIn === 0 ? '' : ' and what was paid in'}, ${costs} added back`,
    ],
  ];
  if (missingRates(input) !== undefined) rows.push(['Fees', moneyFigure(-fees), counted(table.length, 'fill')]);
  else
    rows.push(
      ['Fees of makers', moneyFigure(-maker), counted(makers, 'fill')],
      ['Fees of takers', moneyFigure(-taker), `${grouped(takers)} ${takers === 1 ? 'fill' : 'fills'}`],
    );
  if (margin)
    rows.push(
      ['Interest', moneyFigure(-interest), 'on what was borrowed'],
      ['Fees of liquidations', moneyFigure(-forced), `${grouped(margin.liquidations)} liquidations`],
    );
  rows.push(['Net profit', signed(net, moneyFigure(net)), 'open positions at the last close']);
  if (impact) {
    const share = shareText(drawn(impact.cost) / drawn(m.turnover));
    rows.push([
      'Impact',
      moneyFigure(-drawn(impact.cost)),
      `${share} of the turnover, in the prices above: ${movedText(impact)}`,
    ]);
  }
  rows.push(
    ['A round trip', m.roundTrips === 0 ? 'n/a' : moneyFigure(fees / m.roundTrips), 'fees, on average'],
    ['Turnover', moneyFigure(drawn(m.turnover)), `${figureText(m.turnoverYearly, 'factor')} mean equity a year`],
    ['Break-even fees', figureText(m.breakEvenFees, 'factor'), 'the factor at which the same fills would earn nothing'],
  );
  return section(
    'costs',
    `Costs, in ${asset}`,
    figuresHtml(rows),
    about('Spread, slippage and impact are in the prices of the fills; the configuration has their rates.'),
    stamp(impact && impact.unknownOrders > 0 ? `${withoutImpactText(impact)}.` : undefined),
    stamp(summary.withoutImpact ? `${unmovedText(summary.withoutImpact)}.` : undefined),
  );
}

/** The money in each currency, and the rates by which it counts. */
export function currencySection({ summary, asset }: ReportInput): Content {
  const { currencies } = summary;
  if (currencies.length === 0) return undefined;
  return section(
    'currencies',
    `Counted together in ${asset}`,
    tableHtml(
      ['Currency', ...numbers('At the start', 'At the end'), 'Rate by', ...numbers('First', 'Last', 'Oldest')],
      currencies.map(({ asset: own, cash, finalEquity, pair, firstRate, lastRate, oldestRateMs }) => [
        ...[own, cash, finalEquity],
        ...(pair === null
          ? ['', '', '', '']
          : [pair, String(firstRate), String(lastRate), `${(oldestRateMs / 3_600_000).toFixed(1)} h`]),
      ]),
    ),
    about(
      'A rate is the last close of its pair at that time. Where klines are missing, the last one serves until the next. Fees, turnover and round trips count at the rate of each fill, so the profit of a round trip contains the change of the currency. Risk limits count in each currency by itself.',
    ),
  );
}

export function flowSection({ summary }: ReportInput): Content {
  const { cashFlows } = summary;
  if (cashFlows.length === 0) return undefined;
  return section(
    'flows',
    'Money paid in and out',
    tableHtml(
      ['Asked for, UTC', 'Counts from', ['Amount', 'n'], 'Reason', ''],
      cashFlows.map(({ time, at, asset, amount, reason, refused }) => [
        momentText(time),
        momentText(at),
        `${moneyFigure(drawn(amount))} ${asset}`,
        reason,
        refused === null ? '' : `refused: ${refused}`,
      ]),
    ),
    about(
      'Each counts from the first kline that closes at or after its time. Returns, drawdowns and the equity curve leave it out (time-weighted): the curve shows what the cash at the start would have become.',
    ),
  );
}

/** Rules whose fills rest on an assumption, beside late ones, such as a print after a long wait or an assumed place in the queue. */
const assuming: ReadonlySet<string> = new Set([
  'trade-next-stale',
  'depth-beyond-book',
  'trade-touch',
  'trade-queue',
  'trade-cross',
]);
const maxListed = 100;

/** Ambiguous fills and those that rest on an assumption. */
function weakFills({ table, tookMore }: ReportInput): readonly number[] {
  const found: number[] = [];
  for (let fill = 0; fill < table.length; fill++) {
    const rule = table.rules[table.rule[fill] as number] ?? '';
    // Only a print grants more than it traded. Evidence is read for these alone: reading all takes as long as the report.
    const isAssumed = assuming.has(rule) || isLateRule(rule) || (rule === 'trade-next' && tookMore(fill));
    if (isAssumed || table.ambiguous[fill] === 1) found.push(fill);
  }
  return found;
}

function weakFillRow({ table, detail }: ReportInput, fill: number): readonly Content[] {
  const { strategy, symbol } = table.positions[table.position[fill] as number] ?? { strategy: '', symbol: '' };
  const quantity = table.quantity[fill] as number;
  const rule = table.rules[table.rule[fill] as number] ?? '';
  return [
    jump(symbol, table.time[fill] as number),
    strategy,
    `${quantity > 0 ? 'BUY' : 'SELL'} ${Math.abs(quantity)} ${symbol}`,
    String(table.price[fill]),
    `${rule}${table.ambiguous[fill] === 1 ? ', ambiguous' : ''}`,
    detail(fill),
  ];
}

export function evidenceSection(input: ReportInput): Html {
  const { summary, table } = input;
  const weak = weakFills(input);
  const rules = Object.entries(summary.fillsByRule).toSorted(([, a], [, b]) => b - a);
  const shareOf = (count: number): number => count / Math.max(1, summary.fillCount);
  return section(
    'evidence',
    'Evidence of the fills',
    tableHtml(
      ['Rule', ...numbers('Fills', 'Share'), ''],
      rules.map(([rule, count]) => [
        rule || 'unknown',
        grouped(count),
        shareText(shareOf(count)),
        filled(shareOf(count), 'own'),
      ]),
      'groups',
    ),
    stamp(summary.delayedFills ? `${lateText(summary.delayedFills)}.` : undefined),
    html`<h3>Fills that are ambiguous or rest on an assumption</h3>`,
    weak.length === 0
      ? about('None. ', summary.ambiguousKlines === 0 ? '' : `${summary.ambiguousKlines} klines were ambiguous.`)
      : [
          about(
            `${grouped(weak.length)} of ${grouped(table.length)}${weak.length > maxListed ? `; the first ${maxListed} are listed` : ''}. Where a kline reached a stop and a target, the stop counts as first, unless the rules choose a path (kline-rest-path). The final equity would be between ${moneyFigure(drawn(summary.worstEquity))} and ${moneyFigure(drawn(summary.bestEquity))}.`,
          ),
          tableHtml(
            ['Time (UTC)', 'Strategy', 'Fill', ['Price', 'n'], 'Rule', 'Evidence'],
            weak.slice(0, maxListed).map((fill) => weakFillRow(input, fill)),
          ),
        ],
  );
}

const maxGaps = 40;

export function dataSection({ summary, series, missing }: ReportInput): Html {
  const { stalePositions: stale, remainders: rests, reentryLockouts: lockouts, legsAlone: alone, refused } = summary;
  // A series also has the gaps of its warm-up, before the run.
  const gaps = series.flatMap(({ symbol, gaps: all }) =>
    all.filter((gap) => gap.to > summary.from && gap.from < summary.to).map((gap) => ({ ...gap, symbol })),
  );
  const isClean = [summary.warnings, summary.kills, refused, lockouts, alone].every(({ length }) => length === 0);
  return section(
    'data',
    'Data',
    about(`${counted(summary.klines, 'kline')}, ${momentText(summary.from)} to ${momentText(summary.to)} UTC.`),
    stamp(missing),
    [
      ...stale.map(staleText),
      ...rests.map(restText),
      ...lockouts.map((row) => lockoutText(row, alone)),
      ...alone.map(aloneText),
    ].map((text) => stamp(`${text}.`)),
    isClean ? about('Nothing was found.') : '',
    listHtml(summary.warnings),
    summary.kills.length === 0 ? '' : [html`<h3>Stopped by a limit</h3>`, listHtml(stoppedTexts(summary))],
    refusedRows(refused).map(([name, text]) => html`<h3>${name}</h3><p>${text}.</p>`),
    gaps.length === 0
      ? ''
      : html`<h3>Gaps <span class="muted">${grouped(gaps.length)}${gaps.length > maxGaps ? `, the first ${maxGaps}` : ''}</span></h3>${tableHtml(
          ['From (UTC)', 'To (UTC)', 'Symbol', 'Cause'],
          gaps.slice(0, maxGaps).map((gap) => [momentText(gap.from), momentText(gap.to), gap.symbol, gap.cause]),
        )}`,
  );
}
