/** A backtest for the terminal: the main figures, rounded, and why a figure is missing. */
import { noUnits, plus, units, unitsNumber, unitsText } from '../../domain/money.ts';
import { aloneText, counted, grouped, roundedMoney } from '../../domain/words.ts';
import { figureGroups, momentText, moneyFigure, shareText } from '../../report/figures.ts';
import {
  conclusionText,
  endedText,
  entriesIn,
  lockoutText,
  marketText,
  refusedRows,
  restText,
  soldIn,
  staleText,
  stoppedTexts,
  stressedText,
} from '../../report/notes.ts';
import { lateText } from '../../research/late-fills.ts';
import type { MarketRow } from '../../research/market-results.ts';
import { minDays } from '../../research/metrics.ts';
import { groupTitles } from '../../research/round-trip-groups.ts';
import type { Summary } from '../../research/summary.ts';
import { doubtsText, movedText, unmovedText, withoutImpactText } from '../../research/verdict.ts';
import { weightText } from './spent-weight.ts';

type Row = readonly [name: string, value: string];
const nameWidth = 20;
const line = ([name, value]: Row): string => `${name.padEnd(nameWidth)} ${value}`;

const ratio = (value: number): string => value.toFixed(2);
const intervalText = (low: number | null, high: number | null): string =>
  low === null || high === null ? '' : ` [${ratio(low)}, ${ratio(high)}]`;

function sharpeText({ metrics, riskFree }: Summary): string {
  const { sharpe, sharpeLow, sharpeHigh, daysWithKlines } = metrics;
  if (sharpe !== null)
    return `${ratio(sharpe)}${intervalText(sharpeLow, sharpeHigh)}  (daily, 365 days, ${riskFree === 0 ? 'no risk-free rate' : `${shareText(riskFree)} risk-free`}; 95 % by bootstrap)`;
  return daysWithKlines < minDays
    ? `n/a  (${daysWithKlines} daily ${daysWithKlines === 1 ? 'return' : 'returns'}; at least ${minDays} are needed)`
    : 'n/a  (equity did not change from one day to another)';
}

function roundTripsText({ roundTrips, winRate, profitFactor }: Summary['metrics']): string {
  if (roundTrips === 0) return '0';
  const factor = profitFactor === null ? 'n/a (no loss)' : ratio(profitFactor);
  return `${grouped(roundTrips)}, win rate ${shareText(winRate ?? 0)}, profit factor ${factor}`;
}

function feesText({ fees, feeShare, breakEvenFees }: Summary['metrics'], asset: string): string {
  const share = feeShare === null ? '' : `, ${shareText(feeShare)} of the gross profit`;
  const factor = breakEvenFees === null ? '' : `; break-even at ${ratio(breakEvenFees)} × fees`;
  return `${roundedMoney(fees)} ${asset}${share}${factor}`;
}

function ambiguousText({ ambiguousKlines, worstEquity, bestEquity, finalEquity }: Summary, asset: string): string {
  if (ambiguousKlines === 0) return '0';
  const best = `at best ${roundedMoney(bestEquity)} ${asset}`;
  return worstEquity === finalEquity
    ? `${ambiguousKlines}: stops were assumed to come first; ${best}`
    : `${ambiguousKlines}: fills.path decided the order; at worst ${roundedMoney(worstEquity)}, ${best}`;
}

function evidenceText({ fillsByRule, fillCount }: Summary): string {
  const parts = Object.entries(fillsByRule).toSorted(([, a], [, b]) => b - a);
  return parts.length === 0
    ? 'n/a'
    : parts.map(([rule, count]) => `${rule || 'unknown'} ${shareText(count / fillCount)}`).join(', ');
}

/** `Sharpe 1.80 [0.40, 2.90]; 12 trials; PSR 0.97; … → not distinguishable from luck`. */
function verdictText(summary: Summary, asset: string): string {
  const { sharpe, sharpeLow, sharpeHigh, trials, psr, dsr, worstProfit, bestProfit, ambiguousShare, breakEvenFees } =
    summary.verdict;
  const range = worstProfit === bestProfit ? '' : ` to ${moneyFigure(bestProfit)}`;
  const parts = [
    sharpe === null ? 'no Sharpe ratio' : `Sharpe ${ratio(sharpe)}${intervalText(sharpeLow, sharpeHigh)}`,
    `${grouped(trials)} ${trials === 1 ? 'trial' : 'trials'}`,
    ...(psr === null ? [] : [`PSR ${ratio(psr)}`]),
    ...(dsr === null ? [] : [`DSR ${ratio(dsr)}`]),
    `profit ${moneyFigure(worstProfit)}${range} ${asset}`,
    ...(ambiguousShare === null ? [] : [`${shareText(ambiguousShare)} of fills ambiguous`]),
    ...(breakEvenFees === null ? [] : [`break-even at ${ratio(breakEvenFees)} × fees`]),
  ];
  return `${parts.join('; ')} → ${conclusionText(summary)}`;
}

const currencyRows = ({ currencies }: Summary): readonly Row[] =>
  currencies.map(({ asset, cash, finalEquity, pair, firstRate, lastRate, oldestRateMs }) => {
    const rate =
      pair === null
        ? 'the currency of the equity'
        : `at the last close of ${pair}: ${firstRate} at the start, ${lastRate} at the end, at most ${(oldestRateMs / 3_600_000).toFixed(1)} h old`;
    return [`In ${asset}`, `${cash} to ${finalEquity}; ${rate}`];
  });

/** Money paid in and out, and each movement that was refused. */
function flowRows({ cashFlows }: Summary, asset: string): readonly Row[] {
  if (cashFlows.length === 0) return [];
  const done = cashFlows.filter(({ refused }) => refused === null);
  const sum = done.reduce((total, { value }) => plus(total, units(value)), noUnits);
  return [
    [
      'Cash flows',
      `${done.length} carried out, ${roundedMoney(unitsText(sum))} ${asset} in total; returns exclude them (time-weighted)`,
    ],
    ...cashFlows
      .filter(({ refused }) => refused !== null)
      .map(({ at, refused, reason }): Row => ['Refused', `${momentText(at)} UTC, ${reason}: ${refused}`]),
  ];
}

function impactRows({ impact, withoutImpact, metrics }: Summary, asset: string): readonly Row[] {
  if (withoutImpact !== null) return [['Without impact', unmovedText(withoutImpact)]];
  if (impact === null) return [];
  const { orders, cost, unknownOrders } = impact;
  const share = shareText(unitsNumber(units(cost)) / unitsNumber(units(metrics.turnover)));
  const text = `${roundedMoney(cost)} ${asset}, ${share} of the turnover, in the prices: ${movedText(impact)}`;
  return [
    ...(orders === 0 ? [] : [['Impact', text] as const]),
    ...(unknownOrders === 0 ? [] : [['Impact not known', withoutImpactText(impact)] as const]),
  ];
}

function marginRows({ margin }: Summary, asset: string): readonly Row[] {
  if (margin === null) return [];
  const { interest, liquidations, liquidationFees } = margin;
  return [
    ['Interest', `${roundedMoney(interest)} ${asset}`],
    ['Liquidations', `${grouped(liquidations)}, ${roundedMoney(liquidationFees)} ${asset} of fees`],
  ];
}

/** More are shown as the best, the worst, and what is between. */
const maxMarkets = 10;

/** Where there is more than one. */
function marketLines({ markets }: Summary, asset: string): readonly Row[] {
  if (markets.length < 2) return [];
  const isOne = new Set(markets.map(({ strategy }) => strategy)).size === 1;
  const row = (one: MarketRow): Row => [one.symbol, `${isOne ? '' : `${one.strategy}: `}${marketText(one, asset)}`];
  if (markets.length <= maxMarkets) return markets.map(row);
  const each = maxMarkets / 2;
  const between = markets.slice(each, -each);
  const profit = between.reduce((sum, one) => sum + one.profit, 0);
  return [
    ...markets.slice(0, each).map(row),
    [counted(between.length, 'other'), `${moneyFigure(profit)} ${asset}; each is in the report`],
    ...markets.slice(-each).map(row),
  ];
}

const optional = <T>(name: string, value: T | null | undefined, text: (value: T) => string): readonly Row[] =>
  value === null || value === undefined ? [] : [[name, text(value)]];

export function tableOf(summary: Summary, asset: string): readonly string[] {
  const { metrics: m, cash, finalEquity, criticalWarnings: doubts } = summary;
  const rows: readonly Row[] = [
    ['Klines', `${grouped(summary.klines)}, ${momentText(summary.from)} to ${momentText(summary.to)} UTC`],
    ...optional('Stopped', summary.endedAt, endedText),
    ['Rules', `${summary.rules}: ${summary.rulesText}`],
    ['Cash at the start', `${roundedMoney(cash)} ${asset}`],
    ['Final equity', `${roundedMoney(finalEquity)} ${asset}  (exactly ${finalEquity})`],
    ...optional(
      'Liquidation value',
      soldIn(summary),
      (sold) => `${sold} ${asset}, after the cost of selling; used for the equity curve, drawdown and ratios`,
    ),
    ['Return', `${shareText(m.return)}  (buy & hold: ${shareText(m.buyAndHoldReturn)})`],
    ['Max drawdown', `${shareText(m.maxDrawdown)}  (at kline closes)`],
    ['Sharpe ratio', sharpeText(summary)],
    ['Round trips', roundTripsText(m)],
    ['Fills', `${grouped(summary.fillCount)}, turnover ${roundedMoney(m.turnover)} ${asset}`],
    ['Evidence', evidenceText(summary)],
    ...optional('Late fills', summary.delayedFills, lateText),
    ['Fees', feesText(m, asset)],
    ...impactRows(summary, asset),
    ...marginRows(summary, asset),
    ['Time in the market', shareText(m.timeInMarket)],
    ['Ambiguous klines', ambiguousText(summary, asset)],
    ...marketLines(summary, asset),
    ...summary.stress.map((one): Row => [one.name, `return ${shareText(one.return)}, ${stressedText(one)}`]),
    ...summary.stalePositions.map((row): Row => ['Stale price', staleText(row)]),
    ...summary.remainders.map((row): Row => ['Cannot be sold', restText(row)]),
    ...summary.reentryLockouts.map((row): Row => ['Re-entry lockout', lockoutText(row, summary.legsAlone)]),
    ...summary.legsAlone.map((row): Row => ['Legs open alone', aloneText(row)]),
    ...currencyRows(summary),
    ...flowRows(summary, asset),
    ['Request weight', weightText(summary.requestWeight)],
    ...optional('Entries', entriesIn(summary), (text) => text),
    ...refusedRows(summary.refused),
    ...(doubts.length === 0 ? [] : [['Doubtful data', doubtsText(doubts)] as const]),
    ...stoppedTexts(summary).map((text): Row => ['Stopped by a limit', text]),
    ['Verdict', verdictText(summary, asset)],
  ];
  return [...rows.map(line), ...summary.verdict.reasons.map((reason) => line(['', `- ${reason}`]))];
}

/** Every figure with its meaning, in groups. */
export const metricLines = (summary: Summary): readonly string[] =>
  figureGroups(summary).flatMap(({ title, figures }) => [
    '',
    title,
    ...figures.map(([name, text, means]) => `  ${name.padEnd(22)} ${text.padStart(16)}  ${means}`),
  ]);

/** Round trips in groups. */
export const groupLines = ({ groups }: Summary): readonly string[] =>
  groupTitles
    .filter(([key]) => groups[key].length > 0)
    .flatMap(([key, title]) => [
      '',
      title,
      ...groups[key].map(
        ({ name, roundTrips, winRate, profit, fees }) =>
          `  ${name.padEnd(22)} ${grouped(roundTrips).padStart(8)} round trips  win rate ${shareText(winRate).padStart(9)}  profit ${moneyFigure(profit).padStart(16)}  fees ${moneyFigure(fees).padStart(14)}`,
      ),
    ]);
