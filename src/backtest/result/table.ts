/** A backtest for the terminal: what matters at a glance, rounded for the eye, and why a number is missing. */
import { noUnits, plus, units, unitsNumber, unitsText } from '../../domain/money.ts';
import { grouped, roundedMoney } from '../../domain/words.ts';
import { figureText, momentText, moneyFigure, shareText } from '../../report/figures.ts';
import { refusedRows } from '../../report/refusals.ts';
import { restText, soldIn, staleText, stayText } from '../../report/stale-positions.ts';
import { endedText, stoppedTexts, stressedText } from '../../report/stopped-runs.ts';
import { conventions } from '../../research/conventions.ts';
import { lateText } from '../../research/late-fills.ts';
import { leastDays } from '../../research/metrics.ts';
import type { Summary } from '../../research/summary.ts';
import { doubtsText, movedText, unmovedText, type Verdict, withoutImpactText } from '../../research/verdict.ts';
import { weightText } from './spent-weight.ts';

type Row = readonly [name: string, value: string];
const nameWidth = 20;
const line = ([name, value]: Row): string => `${name.padEnd(nameWidth)} ${value}`;

const ratio = (value: number): string => value.toFixed(2);

/** The Sharpe ratio, or why there is none. */
function sharpeText({ metrics, riskFree }: Summary): string {
  const { sharpe, sharpeLow, sharpeHigh, daysWithKlines: daysKnown } = metrics;
  if (sharpe !== null) {
    const interval = sharpeLow === null || sharpeHigh === null ? '' : ` [${ratio(sharpeLow)}, ${ratio(sharpeHigh)}]`;
    return `${ratio(sharpe)}${interval}  (daily, 365 days, ${riskFree === 0 ? 'no risk-free rate' : `${shareText(riskFree)} risk-free`}; 95 % by bootstrap)`;
  }
  return daysKnown < leastDays
    ? `n/a  (${daysKnown} daily ${daysKnown === 1 ? 'return' : 'returns'}: fewer than ${leastDays} say nothing about a year)`
    : 'n/a  (equity did not change from one day to another)';
}

function roundTripsText({ roundTrips, winRate, profitFactor }: Summary['metrics']): string {
  if (roundTrips === 0) return '0';
  const factor = profitFactor === null ? 'n/a (none lost)' : ratio(profitFactor);
  return `${grouped(roundTrips)}, win rate ${shareText(winRate ?? 0)}, profit factor ${factor}`;
}

function feesText({ fees, feeShare, breakEvenFees }: Summary['metrics'], asset: string): string {
  const share = feeShare === null ? '' : `, ${shareText(feeShare)} of the gross profit`;
  const factor = breakEvenFees === null ? '' : `; break-even at ${ratio(breakEvenFees)} × fees`;
  return `${roundedMoney(fees)} ${asset}${share}${factor}`;
}

function ambiguousText({ ambiguousKlines, worstEquity, bestEquity, finalEquity }: Summary, asset: string): string {
  const worst = worstEquity === finalEquity ? '' : `at worst ${roundedMoney(worstEquity)}, `;
  const said = worst === '' ? 'stops were taken to come first' : 'the path of the rules said what came first';
  return `${ambiguousKlines}: ${said}; ${worst}at best ${roundedMoney(bestEquity)} ${asset}`;
}

function evidenceText({ fillsByRule: evidence, fillCount }: Summary): string {
  const parts = Object.entries(evidence).toSorted(([, a], [, b]) => b - a);
  return parts.length === 0
    ? 'n/a'
    : parts.map(([rule, count]) => `${rule || 'unknown'} ${shareText(count / fillCount)}`).join(', ');
}

/** In one sentence: `Sharpe 1.80 [0.40, 2.90]; 12 tries; PSR 0.97; … → not distinguishable from luck`. */
export function verdictText(verdict: Verdict, asset: string): string {
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
  const parts = [
    sharpe === null
      ? 'no Sharpe ratio'
      : `Sharpe ${ratio(sharpe)}${low === null || high === null ? '' : ` [${ratio(low)}, ${ratio(high)}]`}`,
    `${grouped(tries)} ${tries === 1 ? 'trial' : 'trials'}`,
    ...(psr === null ? [] : [`PSR ${ratio(psr)}`]),
    ...(dsr === null ? [] : [`DSR ${ratio(dsr)}`]),
    worstProfit === bestProfit
      ? `profit ${moneyFigure(worstProfit)} ${asset}`
      : `profit ${moneyFigure(worstProfit)} to ${moneyFigure(bestProfit)} ${asset}`,
    ...(ambiguousShare === null ? [] : [`${shareText(ambiguousShare)} of fills ambiguous`]),
    ...(breakEvenFees === null ? [] : [`break-even at ${ratio(breakEvenFees)} × fees`]),
  ];
  return `${parts.join('; ')} → ${verdict.conclusion}`;
}

/** What there was in each currency, and by which rates it counts. */
function currencyLines({ currencies = [] }: Summary): readonly Row[] {
  return currencies.map(({ asset, cash, finalEquity, pair, firstRate, lastRate, oldestRateMs }): Row => {
    const rate =
      pair === null
        ? 'the equity is counted in it'
        : `at the last close of ${pair}: ${firstRate} at the start, ${lastRate} at the end, at most ${(oldestRateMs / 3_600_000).toFixed(1)} h old`;
    return [`In ${asset}`, `${cash} to ${finalEquity}; ${rate}`];
  });
}

/** Money that came and went beside trading; each that was refused is said. */
function flowRows({ cashFlows = [] }: Summary, asset: string): readonly Row[] {
  if (cashFlows.length === 0) return [];
  const done = cashFlows.filter(({ refused }) => refused === null);
  const sum = done.reduce((total, { value: worth }) => plus(total, units(worth)), noUnits);
  const text = `${done.length} carried out, ${roundedMoney(unitsText(sum))} ${asset} in all; returns leave them out (time-weighted)`;
  return [
    ['Cash flows', text],
    ...cashFlows.flatMap(({ at, refused, reason }): readonly Row[] =>
      refused === null ? [] : [['Refused', `${momentText(at)} UTC, ${reason}: ${refused}`]],
    ),
  ];
}

/** What large orders did to their own prices, or what nobody can say they did. */
function impactRows({ impact, withoutImpact: unmoved, metrics }: Summary, asset: string): readonly Row[] {
  if (unmoved) return [['Without impact', unmovedText(unmoved)]];
  if (!impact) return [];
  const { orders: moved, cost, unknownOrders: unknown } = impact;
  const ofTurnover = shareText(unitsNumber(units(cost)) / unitsNumber(units(metrics.turnover)));
  return [
    ...(moved === 0
      ? []
      : [
          [
            'Impact',
            `${roundedMoney(cost)} ${asset}, ${ofTurnover} of the turnover, in the prices: ${movedText(impact)}`,
          ] as const,
        ]),
    ...(unknown === 0 ? [] : [['Impact not known', withoutImpactText(impact)] as const]),
  ];
}

/** What margin cost beside fees. */
function marginRows({ margin }: Summary, asset: string): readonly Row[] {
  if (!margin) return [];
  const { interest, liquidations, liquidationFees } = margin;
  return [
    ['Interest', `${roundedMoney(interest)} ${asset}`],
    ['Liquidations', `${grouped(liquidations)}, ${roundedMoney(liquidationFees)} ${asset} of fees for them`],
  ];
}

const soldRows = (summary: Summary, asset: string): readonly Row[] => {
  const sold = soldIn(summary);
  return sold === undefined
    ? []
    : [
        [
          'Sold at the end',
          `${sold} ${asset}, after what selling costs: the curve, the drawdown and all ratios count so`,
        ],
      ];
};

/** The glance. */
export function tableOf(summary: Summary, asset: string): readonly string[] {
  const { metrics: m, cash, finalEquity } = summary;
  const rows: readonly Row[] = [
    ['Klines', `${grouped(summary.klines)}, ${momentText(summary.from)} to ${momentText(summary.to)} UTC`],
    ...(summary.endedAt === undefined ? [] : [['Stopped', endedText(summary.endedAt)] as const]),
    ['Rules', [summary.rules, ...(summary.rulesText === undefined ? [] : [summary.rulesText])].join(': ')],
    ['Cash at the start', `${roundedMoney(cash)} ${asset}`],
    ['Final equity', `${roundedMoney(finalEquity)} ${asset}  (exactly ${finalEquity})`],
    ...soldRows(summary, asset),
    ['Return', `${shareText(m.return)}  (buy & hold: ${shareText(m.buyAndHoldReturn)})`],
    ['Max drawdown', `${shareText(m.maxDrawdown)}  (at kline closes)`],
    ['Sharpe ratio', sharpeText(summary)],
    ['Round trips', roundTripsText(m)],
    ['Fills', `${grouped(summary.fillCount)}, turnover ${roundedMoney(m.turnover)} ${asset}`],
    ['Evidence', evidenceText(summary)],
    ...(summary.delayedFills ? [['Late fills', lateText(summary.delayedFills)] as const] : []),
    ['Fees', feesText(m, asset)],
    ...impactRows(summary, asset),
    ...marginRows(summary, asset),
    ['Time in the market', shareText(m.timeInMarket)],
    ['Ambiguous klines', summary.ambiguousKlines === 0 ? '0' : ambiguousText(summary, asset)],
    ...summary.stress.map((one): Row => [one.name, `return ${shareText(one.return)}, ${stressedText(one)}`]),
    ...(summary.stalePositions ?? []).map((row): Row => ['Stale price', staleText(row)]),
    ...(summary.remainders ?? []).map((row): Row => ['Cannot be sold', restText(row)]),
    ...(summary.reentryLockouts ?? []).map((row): Row => ['Kept out', stayText(row)]),
    ...currencyLines(summary),
    ...flowRows(summary, asset),
    ...(summary.weight === undefined ? [] : [['Request weight', weightText(summary.weight)] as const]),
    ...refusedRows(summary.refused),
    ...(summary.criticalWarnings === undefined || summary.criticalWarnings.length === 0
      ? []
      : [['Doubtful data', doubtsText(summary.criticalWarnings)] as const]),
    ...stoppedTexts(summary).map((text): Row => ['Stopped by a limit', text]),
    ['Verdict', verdictText(summary.verdict, asset)],
  ];
  return [...rows.map(line), ...summary.verdict.reasons.map((reason) => line(['', `- ${reason}`]))];
}

/** Every metric with its convention beside it, group by group. */
export function metricLines({ metrics }: Summary): readonly string[] {
  const values: Readonly<Record<string, unknown>> = metrics;
  return conventions.flatMap(({ title, of }) => [
    '',
    title,
    ...Object.entries(of).map(([key, { name, form, means }]) => {
      const value = values[key];
      return `  ${name.padEnd(22)} ${figureText(typeof value === 'number' ? value : null, form).padStart(16)}  ${means}`;
    }),
  ]);
}

const groupNames: Readonly<Record<keyof Summary['groups'], string>> = {
  strategy: 'By strategy',
  symbol: 'By symbol',
  side: 'By side',
  exit: 'By exit',
  month: 'By month of the exit',
  hour: 'By hour of the exit (UTC)',
  weekday: 'By weekday of the exit (UTC)',
};
export const groupTitles = Object.entries(groupNames) as readonly (readonly [keyof Summary['groups'], string])[];

/** Round trips by what they have in common. */
export function groupLines({ groups }: Summary): readonly string[] {
  return groupTitles.flatMap(([key, title]) => {
    const rows = groups[key];
    if (rows.length === 0) return [];
    return [
      '',
      title,
      ...rows.map(
        ({ name, roundTrips, winRate, profit, fees }) =>
          `  ${name.padEnd(22)} ${grouped(roundTrips).padStart(8)} trips  ${shareText(winRate ?? 0).padStart(9)} won  profit ${moneyFigure(profit).padStart(16)}  fees ${moneyFigure(fees).padStart(14)}`,
      ),
    ];
  });
}
