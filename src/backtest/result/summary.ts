/** What a backtest came to, as one object: the same for the table, `--json`, the kept run and the report. */
import type { BacktestConfig } from '../../config/schema.ts';
import { minus, noUnits, plus, rateNumber, units, unitsNumber, unitsText } from '../../domain/money.ts';
import { ratesOf as feesOf } from '../../fill/fees.ts';
import { delayOf } from '../../fill/order-arrival.ts';
import { stoppedTexts } from '../../report/stopped-runs.ts';
import type { Costs, Walkable } from '../../research/equity-input.ts';
import { type FillTable, fillTable } from '../../research/fill-table.ts';
import { lateIn } from '../../research/late-fills.ts';
import { type Measured, measure } from '../../research/metrics.ts';
import { stayRows } from '../../research/re-entry-lockout.ts';
import { kurtosis, skewness } from '../../research/sample-moments.ts';
import type { FlowRow, Summary } from '../../research/summary.ts';
import { groupsOf } from '../../research/trip-groups.ts';
import { type BeyondPrint, beyondPrint, type Stressed, verdictOf } from '../../research/verdict.ts';
import { currencyRows, inReporting, ratesOf, wholeCash } from '../engine/currencies.ts';
import { restRows, staleRows } from '../prepare/ended-series.ts';
import { recordedIn, rulesText } from '../prepare/fill-rules.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { FlowDone } from '../prepare/run-money.ts';
import { endsOf, type RunInput, type RunResult, spanOf } from '../run.ts';
import { unmovedOrders } from './large-orders.ts';
import { silentTexts } from './no-trade-reasons.ts';
import { spentWeight } from './spent-weight.ts';

/** A summary, and what only charts need of it. */
export interface Summarised {
  readonly summary: Summary;
  readonly measured: Measured;
  readonly table: FillTable;
}

/** Why a run is worth what it is: what luck may have had to do with it. */
export interface Doubt {
  readonly tries: (measured: Measured) => { readonly count: number; readonly variance: number | undefined };
  readonly stressed: readonly Stressed[];
}
export const noDoubt: Doubt = { tries: () => ({ count: 1, variance: undefined }), stressed: [] };

/**
 * What a held unit counts for: under careful rules what selling it now would bring (bid less the taker's fee); under `plain`,
 * which is there to be compared, the last close. Fees are those of the symbol before anything was traded.
 */
export function costsOf({ rules, fees }: Pick<RunInput, 'rules' | 'fees'>, symbol: string): Costs {
  const fee = rateNumber(feesOf(fees, symbol, noUnits).taker);
  if (rules.name !== 'sluice') return { long: 1, short: 1, entryFee: fee };
  const half = rateNumber(rules.halfSpread);
  return { long: (1 - half) * (1 - fee), short: (1 + half) * (1 + fee), entryFee: fee };
}

/** What a run traded on, as its figures are walked through. */
export const walkableOf = (
  input: RunInput,
  fills: FillTable,
  flows: RunResult['cashFlows'] = [],
  charges: readonly ChargeRow[] = [],
): Walkable => ({
  fills,
  series: input.series,
  cash: unitsNumber(wholeCash(input)),
  instruments: input.instruments,
  costs: (symbol) => costsOf(input, symbol),
  ...(flows.length > 0 && {
    flows: moved(flows).map(({ at, amount, asset }) => ({ time: at, amount: unitsNumber(amount), asset })),
  }),
  ...(charges.length > 0 && {
    charges: charges.map(([time, amount]) => ({ time, amount: unitsNumber(units(amount)) })),
  }),
  ...ratesIn(input),
});

type MarginRow = NonNullable<Summary['margin']>;
type ChargeRow = MarginRow['charges'][number];

/** What margin cost: each charge, whoever paid it, and the sums. */
export function marginOf({ margin }: Pick<RunResult, 'margin'>): MarginRow | null {
  if (margin === undefined) return null;
  const { interest, liquidationFees, liquidations, charges } = margin;
  return {
    interest: unitsText(interest),
    liquidationFees: unitsText(liquidationFees),
    liquidations,
    charges: charges.toSorted((a, b) => a.at - b.at).map(({ at, amount }) => [at, unitsText(amount)]),
  };
}

const ratesIn = (input: RunInput): Pick<Walkable, 'rates'> => {
  const rates = ratesOf(input);
  return rates === undefined ? {} : { rates };
};

/** The flows that were not refused. */
const moved = (flows: readonly FlowDone[]): readonly FlowDone[] => flows.filter(({ refused }) => refused === undefined);

export function summarise(
  { input, warnings, doubts = [], dataHashes }: Prepared,
  result: RunResult,
  config: BacktestConfig,
  doubt: Doubt = noDoubt,
): Summarised {
  const filled = result.table?.() ?? fillTable(result.fills, input.instruments);
  const start = wholeCash(input);
  const cash = unitsNumber(start);
  const flows = result.cashFlows ?? [];
  const paidIn = moved(flows).reduce(
    (sum, { amount, asset, at }) => plus(sum, inReporting(input.currencies, asset, amount, at)),
    noUnits,
  );
  const measured = measure(walkableOf(input, filled, flows, marginOf(result)?.charges), {
    riskFree: rateNumber(config.riskFree),
    finalEquity: unitsNumber(result.finalEquity),
  });
  const table = measured.fills;
  const times = endsOf(input.series);
  const bestEquity = plus(result.finalEquity, result.couldBeBetterBy);
  const worstEquity = minus(result.finalEquity, result.couldBeWorseBy);
  const late = lateIn(table, input.series, (interval) => delayOf(input.rules, interval));
  const verdict = verdictOf({
    metrics: measured.metrics,
    cash,
    // Money that was paid in is no profit.
    finalEquity: unitsNumber(minus(result.finalEquity, paidIn)),
    bestEquity: unitsNumber(minus(bestEquity, paidIn)),
    worstEquity: unitsNumber(minus(worstEquity, paidIn)),
    fills: table.length,
    silent: table.length === 0 ? silentTexts(input, result) : [],
    ambiguousFills: table.ambiguous.reduce((sum, one) => sum + one, 0),
    withoutImpact: result.impact,
    beyondPrint: beyondPrintIn(input, result),
    late,
    skewness: skewness(measured.returns) ?? 0,
    kurtosis: kurtosis(measured.returns) ?? 3,
    tries: doubt.tries(measured),
    stressed: doubt.stressed,
    ...{ stopped: stoppedTexts(result), data: doubts },
  });
  const summary: Summary = {
    version: 2,
    rules: input.rules.name,
    rulesText: rulesText(config, table.length === 0 ? recordedIn(input) : table.rules),
    riskFree: rateNumber(config.riskFree),
    klines: input.series.reduce((sum, { first, end }) => sum + end - first, 0),
    ...{ from: Math.min(...times), to: Math.max(...times) },
    ...{ cash: unitsText(start), finalEquity: unitsText(result.finalEquity) },
    ...soldOf(measured),
    ...{ bestEquity: unitsText(bestEquity), worstEquity: unitsText(worstEquity) },
    ...{ ambiguousKlines: result.ambiguousKlines, fillCount: table.length, fillsByRule: evidenceOf(table) },
    metrics: metricsOf(measured, unitsNumber(result.finalEquity), cash),
    verdict,
    groups: groupsOf(measured.trips, table),
    stress: doubt.stressed,
    currencies: currencyRows(input, result),
    cashFlows: flows.map((flow) => rowOf(flow, input)),
    ...requestsOf(input, result),
    ...staysOf(input, result, measured),
    ...impactOf(input, result, table),
    remainders: restRows(input, table, unitsNumber(result.finalEquity)),
    ...{
      stalePositions: staleRows(input, table),
      delayedFills: late ?? null,
      kills: result.kills,
      warnings,
      criticalWarnings: doubts,
      dataHashes,
    },
    ...(result.stoppedAt !== undefined && { stoppedAt: result.stoppedAt }),
    ...(result.endedAt !== undefined && { endedAt: result.endedAt }),
  };
  return { summary, measured, table };
}

/** Nothing where the curve has none, as after all was paid out. */
function soldOf({ walked: { days, scales } }: Measured): Pick<Summary, 'netLiquidation'> {
  const soldEquity = (days.equity.at(-1) ?? Number.NaN) / (scales.at(-1)?.scale ?? 1);
  return Number.isFinite(soldEquity) ? { netLiquidation: soldEquity } : {};
}

function metricsOf({ metrics, walked }: Measured, finalEquity: number, cash: number): Summary['metrics'] {
  const { fees, turnover, ...ratios } = metrics;
  const scale = walked.scales.at(-1)?.scale ?? 1;
  return { return: (finalEquity * scale) / cash - 1, ...ratios, fees: unitsText(fees), turnover: unitsText(turnover) };
}

const rowOf = ({ time, at, asset, amount, reason, refused }: FlowDone, { currencies }: RunInput): FlowRow => ({
  ...{ time, at, asset, reason },
  amount: unitsText(amount),
  value: unitsText(inReporting(currencies, asset, amount, at)),
  refused: refused ?? null,
});

/** Only a print grants more than it traded; and a run on klines makes its fills when they are asked for, which takes as long as all statistics. */
const beyondPrintIn = ({ tapes }: RunInput, result: RunResult): BeyondPrint | undefined =>
  tapes === undefined ? undefined : beyondPrint(result.fills.map(({ evidence }) => evidence?.participation ?? 0));

const impactOf = (
  input: RunInput,
  { impact }: RunResult,
  table: FillTable,
): Pick<Summary, 'impact' | 'withoutImpact'> => ({
  impact: impact === undefined ? null : { ...impact, cost: unitsText(impact.cost) },
  withoutImpact: unmovedOrders(input, table),
});

function evidenceOf({ rule, rules }: FillTable): Readonly<Record<string, number>> {
  const counts = new Float64Array(rules.length);
  // An iterator makes an object for each of a hundred thousand fills.
  for (let fill = 0; fill < rule.length; fill++) (counts[rule[fill] as number] as number)++;
  return Object.fromEntries(rules.map((name, index) => [name, counts[index] ?? 0]));
}

/** Whom exits kept out for long; a run that was ended or stopped is looked at until then. */
function staysOf({ series }: RunInput, result: RunResult, measured: Measured): Pick<Summary, 'reentryLockouts'> {
  const { start, end } = spanOf(series);
  const until = Math.min(result.endedAt ?? end, result.stoppedAt ?? end);
  return {
    reentryLockouts:
      result.newTargets === undefined ? [] : stayRows(measured, result.newTargets, { start, end: until }),
  };
}

/** What was refused, what the requests would have weighed live, and what borrowing cost. */
function requestsOf({ account, series }: RunInput, result: RunResult): Pick<Summary, 'refused' | 'weight' | 'margin'> {
  const { start, end } = spanOf(series);
  const weight = spentWeight(result.asked(), { account, symbols: series.length, spanMs: end - start });
  return { refused: result.refused ?? [], weight, margin: marginOf(result) };
}
