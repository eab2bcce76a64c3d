/** The summary of a backtest: the same for the table, `--json`, the saved run and the report. */
import type { BacktestConfig } from '../../config/schema.ts';
import { minus, noUnits, plus, rateNumber, type Units, units, unitsNumber, unitsText } from '../../domain/money.ts';
import { ratesOf as feesOf } from '../../fill/fees.ts';
import { delayOf } from '../../fill/order-arrival.ts';
import { staleText, stoppedTexts } from '../../report/notes.ts';
import type { Costs, EquityInput } from '../../research/equity-input.ts';
import { type FillTable, fillTable } from '../../research/fill-table.ts';
import { type Late, lateIn } from '../../research/late-fills.ts';
import { type Measured, measure } from '../../research/metrics.ts';
import { type Lockout, lockoutsOf } from '../../research/re-entry-lockout.ts';
import { groupsOf } from '../../research/round-trip-groups.ts';
import { kurtosis, skewness } from '../../research/sample-moments.ts';
import type { TrialCount } from '../../research/significance/trials.ts';
import type { FlowRow, MarginRow, Summary } from '../../research/summary.ts';
import { type BeyondPrint, beyondPrint, type Stressed, type Verdict, verdictOf } from '../../research/verdict.ts';
import { currencyRows, inReporting, ratesOf, wholeCash } from '../engine/currencies.ts';
import { restRows, staleRows } from '../prepare/ended-series.ts';
import { recordedIn, rulesText } from '../prepare/fill-rules.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { FlowDone } from '../prepare/run-money.ts';
import { endsOf, type RunInput, type RunResult, spanOf } from '../run.ts';
import { unmovedOrders } from './large-orders.ts';
import { marketRows } from './markets.ts';
import { noTradeReasons } from './no-trade-reasons.ts';
import { newTargets } from './refusals.ts';
import { sharesTogether } from './shares-together.ts';
import { spentWeight } from './spent-weight.ts';

/** A summary, and what it was calculated from. */
export interface Summarised {
  readonly summary: Summary;
  readonly measured: Measured;
}

/** What the verdict needs beside the run itself. */
export interface Judgement {
  readonly trials: (measured: Measured) => TrialCount;
  readonly stressed: readonly Stressed[];
}
const unjudged: Judgement = { trials: () => ({ count: 1, variance: undefined }), stressed: [] };

/**
 * The value of a held unit: under the rules `sluice` what selling it now would bring (bid less the taker's fee), under rulesets for
 * comparison the last close. Fees are those of the symbol before the first trade.
 */
export function costsOf({ rules, fees }: Pick<RunInput, 'rules' | 'fees'>, symbol: string): Costs {
  const fee = rateNumber(feesOf(fees, symbol, noUnits).taker);
  if (rules.name !== 'sluice') return { long: 1, short: 1, entryFee: fee };
  const half = rateNumber(rules.halfSpread);
  return { long: (1 - half) * (1 - fee), short: (1 + half) * (1 + fee), entryFee: fee };
}

/** From what the equity of a run is calculated. */
export function equityInput(
  input: RunInput,
  fills: FillTable,
  flows?: RunResult['cashFlows'],
  charges: MarginRow['charges'] = [],
): EquityInput {
  const rates = ratesOf(input);
  return {
    fills,
    series: input.series,
    cash: unitsNumber(wholeCash(input)),
    instruments: input.instruments,
    costs: (symbol) => costsOf(input, symbol),
    flows: carriedOut(flows).map(({ at, amount, asset }) => ({ time: at, amount: unitsNumber(amount), asset })),
    charges: charges.map(([time, amount, symbol]) => ({ time, amount: unitsNumber(units(amount)), symbol })),
    ...(rates !== undefined && { rates }),
  };
}

export function marginOf({ margin }: Pick<RunResult, 'margin'>): MarginRow | null {
  if (margin === undefined) return null;
  const { interest, liquidationFees, liquidations, charges } = margin;
  return {
    interest: unitsText(interest),
    liquidationFees: unitsText(liquidationFees),
    liquidations,
    charges: charges.toSorted((a, b) => a.at - b.at).map(({ at, amount, symbol }) => [at, unitsText(amount), symbol]),
  };
}

const carriedOut = (flows: RunResult['cashFlows'] = []): readonly FlowDone[] =>
  flows.filter(({ refused }) => refused === undefined);

export function summarise(
  prepared: Prepared,
  result: RunResult,
  config: BacktestConfig,
  judgement: Judgement = unjudged,
): Summarised {
  const { input, warnings, doubts = [], dataHashes } = prepared;
  const { rules, series } = input;
  const { finalEquity, cashFlows = [], impact, kills, stoppedAt, endedAt } = result;
  const margin = marginOf(result);
  const measured = measure(
    equityInput(input, result.table?.() ?? fillTable(result.fills, input.instruments), cashFlows, margin?.charges),
    { riskFree: rateNumber(config.riskFree), finalEquity: unitsNumber(finalEquity) },
  );
  const { fills: table, trips } = measured;
  const cash = wholeCash(input);
  const [best, worst] = equityRange(result);
  const late = lateIn(table, series, (interval) => delayOf(rules, interval));
  const span = spanOf(series);
  const times = endsOf(series);
  const spent = { account: input.account, symbols: series.length, spanMs: span.end - span.start };
  const summary: Summary = {
    version: 2,
    rules: rules.name,
    rulesText: rulesText(config, table.length === 0 ? recordedIn(input) : table.rules),
    riskFree: rateNumber(config.riskFree),
    klines: span.of,
    ...{ from: Math.min(...times), to: Math.max(...times) },
    ...{ cash: unitsText(cash), finalEquity: unitsText(finalEquity) },
    ...soldOf(measured),
    ...{ bestEquity: unitsText(best), worstEquity: unitsText(worst), ambiguousKlines: result.ambiguousKlines },
    impact: impact === undefined ? null : { ...impact, cost: unitsText(impact.cost) },
    withoutImpact: unmovedOrders(input, table),
    ...{ fillCount: table.length, fillsByRule: fillsByRule(table) },
    metrics: metricsOf(measured, unitsNumber(finalEquity), unitsNumber(cash)),
    verdict: verdictIn(prepared, result, measured, { late, ...judgement }),
    groups: groupsOf(trips, table),
    markets: marketRows(input, result, table),
    stress: judgement.stressed,
    currencies: currencyRows(input, result),
    cashFlows: cashFlows.map((flow) => flowRow(flow, input)),
    ...{ margin, refused: result.refused ?? [] },
    entries: result.entries !== undefined && result.entries.rules.length > 0 ? result.entries : null,
    reentryLockouts: lockoutsIn(result, measured, span),
    legsAlone: (result.legsAlone ?? []).filter(({ longestMs }) => longestMs > 0),
    requestWeight: spentWeight(result.asked(), spent),
    stalePositions: staleRows(input, table),
    remainders: restRows(input, table, unitsNumber(finalEquity)),
    delayedFills: late ?? null,
    ...{ kills, warnings, criticalWarnings: doubts, dataHashes },
    ...(stoppedAt !== undefined && { stoppedAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
  return { summary, measured };
}

const equityRange = ({ finalEquity, couldBeBetterBy, couldBeWorseBy }: RunResult): readonly [Units, Units] => [
  plus(finalEquity, couldBeBetterBy),
  minus(finalEquity, couldBeWorseBy),
];

function verdictIn(
  { input, doubts = [] }: Prepared,
  result: RunResult,
  measured: Measured,
  { late, trials, stressed }: Judgement & { readonly late: Late | undefined },
): Verdict {
  const { metrics, fills, returns } = measured;
  // Money that was paid in is no profit.
  const paidIn = carriedOut(result.cashFlows).reduce(
    (sum, { amount, asset, at }) => plus(sum, inReporting(input.currencies, asset, amount, at)),
    noUnits,
  );
  const withoutFlows = (equity: Units): number => unitsNumber(minus(equity, paidIn));
  const [best, worst] = equityRange(result);
  return verdictOf({
    metrics,
    cash: unitsNumber(wholeCash(input)),
    finalEquity: withoutFlows(result.finalEquity),
    bestEquity: withoutFlows(best),
    worstEquity: withoutFlows(worst),
    fills: fills.length,
    noTradeReasons: fills.length === 0 ? noTradeReasons(input, result) : [],
    ambiguousFills: fills.ambiguous.reduce((sum, one) => sum + one, 0),
    withoutImpact: result.impact,
    beyondPrint: beyondPrintIn(input, result),
    late,
    entries: result.entries,
    sharesTogether: (result.refused ?? []).length === 0 ? [] : sharesTogether(input, result.signals?.() ?? []),
    skewness: skewness(returns) ?? 0,
    kurtosis: kurtosis(returns) ?? 3,
    trials: trials(measured),
    stressed,
    stopped: stoppedTexts(result),
    stale: staleRows(input, fills).map(staleText),
    data: doubts,
  });
}

/** Nothing where the curve ends without a value, as after all money was paid out. */
function soldOf({ walked: { days, scales } }: Measured): Pick<Summary, 'netLiquidation'> {
  const netLiquidation = (days.equity.at(-1) ?? Number.NaN) / (scales.at(-1)?.scale ?? 1);
  return Number.isFinite(netLiquidation) ? { netLiquidation } : {};
}

function metricsOf({ metrics, walked }: Measured, finalEquity: number, cash: number): Summary['metrics'] {
  const { fees, turnover, ...ratios } = metrics;
  const scale = walked.scales.at(-1)?.scale ?? 1;
  return { return: (finalEquity * scale) / cash - 1, ...ratios, fees: unitsText(fees), turnover: unitsText(turnover) };
}

const flowRow = ({ time, at, asset, amount, reason, refused }: FlowDone, { currencies }: RunInput): FlowRow => ({
  ...{ time, at, asset, reason },
  amount: unitsText(amount),
  value: unitsText(inReporting(currencies, asset, amount, at)),
  refused: refused ?? null,
});

/** Only a print grants more than it traded. A run over klines makes fill objects on request, which takes as long as all statistics. */
const beyondPrintIn = ({ tapes }: RunInput, result: RunResult): BeyondPrint | undefined =>
  tapes === undefined ? undefined : beyondPrint(result.fills.map(({ evidence }) => evidence?.participation ?? 0));

function fillsByRule({ rule, rules }: FillTable): Readonly<Record<string, number>> {
  const counts = new Float64Array(rules.length);
  // An iterator makes an object for each of a hundred thousand fills.
  for (let fill = 0; fill < rule.length; fill++) (counts[rule[fill] as number] as number)++;
  return Object.fromEntries(rules.map((name, index) => [name, counts[index] ?? 0]));
}

/** Of a run that was ended or stopped, until then. */
function lockoutsIn(
  { signals, endedAt, stoppedAt }: RunResult,
  measured: Measured,
  { start, end }: { readonly start: number; readonly end: number },
): readonly Lockout[] {
  const until = Math.min(endedAt ?? end, stoppedAt ?? end);
  return signals === undefined ? [] : lockoutsOf(measured, () => newTargets(signals()), { start, end: until });
}
