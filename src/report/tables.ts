/** The parts of a report that are text: verdict, figures, costs, groups, evidence, data, configuration. */
import { units, unitsNumber } from '../domain/money.ts';
import { conventions } from '../research/conventions.ts';
import { isLateRule, lateText } from '../research/late-fills.ts';
import type { Summary } from '../research/summary.ts';
import type { GroupRow, Groups } from '../research/trip-groups.ts';
import { doubtsText, movedText, unmovedText, type Verdict, withoutImpactText } from '../research/verdict.ts';
import { figureText, grouped, momentText, moneyFigure, shareText } from './figures.ts';
import { type Content, type Html, html, section, signed, tableHtml } from './html.ts';
import { type ReportInput, uncounted } from './input.ts';
import { filled } from './plot.ts';
import { refusedRows } from './refusals.ts';
import { restText, soldIn, staleText, stayText } from './stale-positions.ts';
import { stoppedTexts, stressedText } from './stopped-runs.ts';
import { jump } from './trades.ts';

/** An amount in text, for the eye. */
const drawn = (text: string): number => unitsNumber(units(text, 'down'));

const conclusionKind: Readonly<Record<Summary['verdict']['conclusion'], string>> = {
  'better than luck so far': 'good',
  'not distinguishable from luck': 'warn',
  'too little to judge': 'warn',
  'lost money': 'bad',
};

const fact = (name: string, value: Content, about = ''): Html =>
  html`<div class="fact"><dt>${name}</dt><dd>${value}</dd>${about === '' ? '' : html`<dd class="muted small">${about}</dd>`}</div>`;

/** Where reasons are given it is one of them. */
const doubtStamp = ({ criticalWarnings: doubts = [] }: Summary): Html | string =>
  doubts.length === 0 ? '' : html`<p class="stamp">Its data are doubtful: ${doubtsText(doubts)}.</p>`;

/** What a DSR that cannot be told lacks. */
const dsrNeeds = ({ sharpe, trials: tries }: Verdict): string =>
  sharpe === null ? 'needs a Sharpe ratio' : tries < 2 ? 'needs two trials' : 'needs two trials with a Sharpe ratio';

/** The verdict card: whether to believe it, and why not. */
export function verdictSection({ summary, asset }: ReportInput): Html {
  const { verdict, stress, metrics } = summary;
  const {
    sharpe,
    sharpeLow: low,
    sharpeHigh: high,
    trials: tries,
    psr,
    dsr,
    worstProfit,
    bestProfit,
    ambiguousShare,
    breakEvenFees,
  } = verdict;
  const band =
    worstProfit === bestProfit ? moneyFigure(worstProfit) : `${moneyFigure(worstProfit)} … ${moneyFigure(bestProfit)}`;
  return html`<section class="panel verdict ${conclusionKind[verdict.conclusion]}" id="verdict"><h2>${verdict.conclusion}</h2><dl class="facts">${[
    fact(
      'Sharpe ratio',
      figureText(sharpe, 'ratio'),
      low === null || high === null ? '' : `95 %: ${low.toFixed(2)} … ${high.toFixed(2)}`,
    ),
    fact(
      'Trials',
      grouped(tries),
      tries === 1 ? 'on overlapping data, as far as was kept' : 'of these strategies on overlapping data',
    ),
    fact('PSR', figureText(psr, 'ratio'), 'true ratio above 0'),
    fact('DSR', figureText(dsr, 'ratio'), dsr === null ? dsrNeeds(verdict) : 'above the best by luck'),
    fact(
      `Profit, ${asset}`,
      band,
      worstProfit === bestProfit ? 'no ambiguous kline' : 'ambiguous klines against us … for us',
    ),
    fact('Ambiguous fills', figureText(ambiguousShare, 'share')),
    fact(
      'Break-even fees',
      figureText(breakEvenFees, 'factor'),
      breakEvenFees !== null
        ? 'with the same fills'
        : drawn(metrics.fees) <= 0
          ? 'no fee was paid'
          : 'nothing was earned before them',
    ),
    ...stress.map((one) => fact(one.name, signed(one.return, shareText(one.return)), stressedText(one))),
  ]}</dl>${
    verdict.reasons.length === 0
      ? doubtStamp(summary)
      : html`<ul class="reasons">${verdict.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`
  }${metrics.trackRecordYears === null || metrics.psr === null || metrics.psr >= 0.95 ? '' : html`<p class="about">Were this ratio the true one, ${figureText(metrics.trackRecordYears, 'years')} would make it believable.</p>`}</section>`;
}

/** What to see first. */
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
    fact('Profit factor', figureText(m.profitFactor, 'ratio'), `${grouped(fillCount)} fills`),
    fact(
      `Fees, ${asset}`,
      moneyFigure(drawn(m.fees)),
      m.feeShare === null ? '' : `${shareText(m.feeShare)} of the gross profit`,
    ),
  ]}</dl>`;
}

export function metricSection({ summary }: ReportInput): Html {
  const values: Readonly<Record<string, unknown>> = summary.metrics;
  return section(
    'metrics',
    'All figures and what they mean',
    html`<div class="metrics">${conventions.map(
      ({ title, of }) =>
        html`<div><h3>${title}</h3><table class="plain"><tbody>${Object.entries(of).map(
          ([key, { name, form, means }]) => {
            const value = values[key];
            return html`<tr><th scope="row">${name}</th><td class="n">${figureText(typeof value === 'number' ? value : null, form)}</td><td class="muted small">${means}</td></tr>`;
          },
        )}</tbody></table></div>`,
    )}</div>`,
  );
}

const groupTitles: Readonly<Record<keyof Groups, string>> = {
  strategy: 'By strategy',
  symbol: 'By symbol',
  side: 'By side',
  exit: 'By exit',
  weekday: 'By weekday',
  month: 'By month',
  hour: 'By hour, UTC',
};

function groupTable(rows: readonly GroupRow[], asset: string): Html {
  const most = Math.max(...rows.map(({ profit }) => Math.abs(profit)), 1e-9);
  return tableHtml(
    ['', ['Trips', 'n'], ['Won', 'n'], [`Profit, ${asset}`, 'n'], ['Fees', 'n'], ''],
    rows.map(({ name, roundTrips, winRate, profit, fees }) => [
      name,
      grouped(roundTrips),
      shareText(winRate),
      signed(profit, moneyFigure(profit)),
      moneyFigure(fees),
      filled(Math.abs(profit) / most, profit < 0 ? 'down' : 'up'),
    ]),
    'groups',
  );
}

export function groupSection({ summary, asset }: ReportInput): Html {
  const shown = (Object.keys(groupTitles) as (keyof Groups)[]).filter((key) => summary.groups[key].length > 0);
  return shown.length === 0
    ? html``
    : section(
        'groups',
        'Where it was earned and lost',
        html`<p class="about">Round trips after fees, where they closed.</p><div class="metrics">${shown.map(
          (key) => html`<div><h3>${groupTitles[key]}</h3>${groupTable(summary.groups[key], asset)}</div>`,
        )}</div>`,
      );
}

export function costSection(input: ReportInput): Html {
  const { summary, table, asset } = input;
  let [maker, taker, makers] = [0, 0, 0];
  for (let fill = 0; fill < table.length; fill++) {
    const isMaker = table.maker[fill] === 1;
    if (isMaker) maker += table.fee[fill] as number;
    else taker += table.fee[fill] as number;
    if (isMaker) makers++;
  }
  const paid = (summary.cashFlows ?? []).reduce(
    (sum, { value: worth, refused }) => sum + (refused === null ? drawn(worth) : 0),
    0,
  );
  const net = drawn(summary.finalEquity) - drawn(summary.cash) - paid;
  const { metrics: m, margin, impact } = summary;
  const interest = drawn(margin?.interest ?? '0');
  const forced = drawn(margin?.liquidationFees ?? '0');
  // Exact, and in the currency of the equity also where that of each fill is not known any more.
  const fees = drawn(m.fees);
  const earned = net + fees + interest + forced;
  const takers = table.length - makers;
  const missing = uncounted(input);
  const costs = margin ? 'fees and interest' : 'fees';
  const rows: (readonly [string, Content, string])[] = [
    [
      `Earned before ${costs}`,
      signed(earned, moneyFigure(earned)),
      `final equity less cash${paid === 0 ? '' : ' and what was paid in'}, ${costs} added back`,
    ],
    ...(missing === undefined
      ? [
          ['Fees of makers', moneyFigure(-maker), `${grouped(makers)} fills`] as const,
          ['Fees of takers', moneyFigure(-taker), `${grouped(takers)} ${takers === 1 ? 'fill' : 'fills'}`] as const,
        ]
      : [['Fees', moneyFigure(-fees), `${grouped(table.length)} fills`] as const]),
    ...(!margin
      ? []
      : [
          ['Interest', moneyFigure(-interest), 'on what was borrowed'] as const,
          ['Fees of liquidations', moneyFigure(-forced), `${grouped(margin.liquidations)} of them`] as const,
        ]),
    ['Left', signed(net, moneyFigure(net)), 'open positions at the last close'],
    ...(!impact
      ? []
      : [
          [
            'Impact',
            moneyFigure(-drawn(impact.cost)),
            `${shareText(drawn(impact.cost) / drawn(m.turnover))} of the turnover, in the prices above: ${movedText(impact)}`,
          ] as const,
        ]),
    ['A round trip', m.roundTrips === 0 ? 'n/a' : moneyFigure(fees / m.roundTrips), 'fees, on average'],
    ['Turnover', moneyFigure(drawn(m.turnover)), `${figureText(m.turnoverYearly, 'factor')} mean equity a year`],
    ['Break-even fees', figureText(m.breakEvenFees, 'factor'), 'the factor at which the same fills would earn nothing'],
  ];
  return section(
    'costs',
    `What it cost, in ${asset}`,
    html`<table class="plain"><tbody>${rows.map(
      ([name, value, about]) =>
        html`<tr><th scope="row">${name}</th><td class="n">${value}</td><td class="muted small">${about}</td></tr>`,
    )}</tbody></table>`,
    html`<p class="about">Spread, slippage and impact are in the prices of the fills; the rules say how much (see the configuration).</p>`,
    impact && impact.unknownOrders > 0 ? html`<p class="stamp">${withoutImpactText(impact)}.</p>` : '',
    summary.withoutImpact ? html`<p class="stamp">${unmovedText(summary.withoutImpact)}.</p>` : '',
  );
}

/** What was kept and traded in each currency, and how it is counted together. */
export function currencySection({ summary, asset }: ReportInput): Html {
  const { currencies = [] } = summary;
  if (currencies.length === 0) return html``;
  return section(
    'currencies',
    `Counted together in ${asset}`,
    html`${tableHtml(
      [
        'Currency',
        ['At the start', 'n'],
        ['At the end', 'n'],
        'Rate by',
        ['First', 'n'],
        ['Last', 'n'],
        ['Oldest', 'n'],
      ],
      currencies.map(({ asset: own, cash, finalEquity, pair, firstRate, lastRate, oldestRateMs }) => [
        own,
        cash,
        finalEquity,
        pair ?? '',
        pair === null ? '' : String(firstRate),
        pair === null ? '' : String(lastRate),
        pair === null ? '' : `${(oldestRateMs / 3_600_000).toFixed(1)} h`,
      ]),
    )}<p class="about">A rate is the close of the last kline of its pair that had closed; none is made up where klines are missing, the last one serves until the next. Fees, turnover and round trips count at the rate of each fill, so a round trip's profit has what the currency did meanwhile in it. Limits, and losses of a day, are judged in each currency by itself.</p>`,
  );
}

/** Money that came and went beside trading. */
export function flowSection({ summary }: ReportInput): Html {
  const { cashFlows = [] } = summary;
  if (cashFlows.length === 0) return html``;
  return section(
    'flows',
    'Money paid in and out',
    html`${tableHtml(
      ['Asked for, UTC', 'Counts from', ['Amount', 'n'], 'Reason', ''],
      cashFlows.map(({ time, at, asset, amount, reason, refused }) => [
        momentText(time),
        momentText(at),
        `${moneyFigure(drawn(amount))} ${asset}`,
        reason,
        refused === null ? '' : `refused: ${refused}`,
      ]),
    )}<p class="about">Each counts from the first kline that closes at or after its time. Returns, drawdowns and the equity curve leave it out: the account's return up to it is chained to the one after it (time-weighted), so the curve shows what the cash at the start would have become.</p>`,
  );
}

/**
 * Rules whose fills lean on an assumption, beside late ones: a print after a long wait, what lies beyond the shown book, a touch that chance let count, a
 * queue that was assumed, and what crossed the last print whole, whose size nobody showed.
 */
const leaning: ReadonlySet<string> = new Set([
  'trade-next-stale',
  'depth-beyond-book',
  'trade-touch',
  'trade-queue',
  'trade-cross',
]);
const mostListed = 100;

export function evidenceSection(input: ReportInput): Html {
  const { summary, table } = input;
  const weak: number[] = [];
  let weakCount = 0;
  for (let fill = 0; fill < table.length; fill++) {
    const rule = table.rules[table.rule[fill] as number] ?? '';
    // Only a print gives what it did not trade; asking of all others would cost as much as the report.
    const isLeaning = leaning.has(rule) || isLateRule(rule) || (rule === 'trade-next' && input.isMore(fill));
    const isWeak = table.ambiguous[fill] === 1 || isLeaning;
    if (!isWeak) continue;
    weakCount++;
    if (weak.length < mostListed) weak.push(fill);
  }
  const rows = weak.map((fill) => {
    const place = table.places[table.place[fill] as number];
    const quantity = table.quantity[fill] as number;
    return [
      jump(place?.symbol ?? '', table.time[fill] as number),
      place?.strategy ?? '',
      `${quantity > 0 ? 'BUY' : 'SELL'} ${Math.abs(quantity)} ${place?.symbol ?? ''}`,
      String(table.price[fill]),
      `${table.rules[table.rule[fill] as number] ?? ''}${table.ambiguous[fill] === 1 ? ', ambiguous' : ''}`,
      input.detail(fill),
    ];
  });
  const mix = Object.entries(summary.fillsByRule).toSorted(([, a], [, b]) => b - a);
  return section(
    'evidence',
    'By what evidence orders filled',
    tableHtml(
      ['Rule', ['Fills', 'n'], ['Share', 'n'], ''],
      mix.map(([rule, count]) => [
        rule || 'unknown',
        grouped(count),
        shareText(count / Math.max(1, summary.fillCount)),
        filled(count / Math.max(1, summary.fillCount), 'own'),
      ]),
      'groups',
    ),
    summary.delayedFills ? html`<p class="stamp">${lateText(summary.delayedFills)}.</p>` : '',
    html`<h3>Ambiguous fills and such as lean on an assumption</h3>`,
    weak.length === 0
      ? html`<p class="about">None. ${
          summary.ambiguousKlines === 0 ? '' : `${summary.ambiguousKlines} klines were ambiguous.`
        }</p>`
      : html`<p class="about">${grouped(weakCount)} of ${grouped(table.length)}${
          weakCount > weak.length ? `; the first ${weak.length} are listed` : ''
        }. Where one kline could have hit a stop and a target, the stop was taken to come first unless the rules choose a path (kline-rest-path): the final equity would be between ${moneyFigure(drawn(summary.worstEquity))} and ${moneyFigure(drawn(summary.bestEquity))}.</p>${tableHtml(
          ['Time (UTC)', 'Strategy', 'Fill', ['Price', 'n'], 'Rule', 'Evidence'],
          rows,
        )}`,
  );
}

const mostGaps = 40;

export function dataSection({ summary, series, missing }: ReportInput): Html {
  // Strategies are told of those before the run, too, while they warm up.
  const gaps = series.flatMap((one) =>
    one.gaps
      .filter((gap) => gap.to > summary.from && gap.from < summary.to)
      .map((gap) => ({ ...gap, symbol: one.symbol })),
  );
  return section(
    'data',
    'Data',
    html`<p class="about">${grouped(summary.klines)} klines, ${momentText(summary.from)} to ${momentText(summary.to)} UTC.</p>`,
    missing === undefined ? '' : html`<p class="stamp">${missing}</p>`,
    ...(summary.stalePositions ?? []).map((row) => html`<p class="stamp">${staleText(row)}.</p>`),
    ...(summary.remainders ?? []).map((row) => html`<p class="stamp">${restText(row)}.</p>`),
    ...(summary.reentryLockouts ?? []).map((row) => html`<p class="stamp">${stayText(row)}.</p>`),
    [summary.warnings, summary.kills, summary.refused ?? [], summary.reentryLockouts ?? []].every(
      ({ length }) => length === 0,
    )
      ? html`<p class="about">Nothing was found that a reader should know of.</p>`
      : '',
    summary.warnings.length === 0
      ? ''
      : html`<ul class="reasons">${summary.warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`,
    summary.kills.length === 0
      ? ''
      : html`<h3>Stopped by a limit</h3><ul class="reasons">${stoppedTexts(summary).map((text) => html`<li>${text}</li>`)}</ul>`,
    ...refusedRows(summary.refused).map(([name, text]) => html`<h3>${name}</h3><p>${text}.</p>`),
    gaps.length === 0
      ? ''
      : html`<h3>Gaps <span class="muted">${grouped(gaps.length)}${gaps.length > mostGaps ? `, the first ${mostGaps}` : ''}</span></h3>${tableHtml(
          ['From (UTC)', 'To (UTC)', 'Symbol', 'Cause'],
          gaps.slice(0, mostGaps).map((gap) => [momentText(gap.from), momentText(gap.to), gap.symbol, gap.cause]),
        )}`,
  );
}

export function configurationSection({ configuration, provenance }: ReportInput): Html {
  return section(
    'configuration',
    'Configuration and hashes',
    html`<table class="plain"><tbody>${provenance.map(
      ([name, value]) => html`<tr><th scope="row">${name}</th><td class="hash">${value}</td></tr>`,
    )}</tbody></table><pre>${configuration}</pre>`,
  );
}
