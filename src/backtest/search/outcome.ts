/** The figures of one parameter set by which sets are compared; money exact. */
import { unitsNumber, unitsText } from '../../domain/money.ts';
import { dailyReturns, daysKnown } from '../../research/curves.ts';
import { walkEquity } from '../../research/equity-walk.ts';
import { fillTable } from '../../research/fill-table.ts';
import { calmarOf, dailySharpe, figure, minDays } from '../../research/metrics.ts';
import { sortino, yearDays } from '../../research/ratios.ts';
import { fewestRoundTrips } from '../../research/round-trip-figures.ts';
import { countRoundTrips } from '../../research/round-trips.ts';
import { equityInput, marginOf } from '../result/summary.ts';
import type { RunInput, RunResult } from '../run.ts';

/** The figures of a set that ran. */
export interface Ran {
  /** Quote units, exact. */
  readonly finalEquity: string;
  /** A fraction of the cash. */
  readonly return: number;
  /** At kline closes, a fraction of the peak. */
  readonly maxDrawdown: number;
  /** Yearly, of daily returns; null where it would mean nothing. */
  readonly sharpe: number | null;
  readonly sortino: number | null;
  readonly calmar: number | null;
  readonly fills: number;
  readonly roundTrips: number;
  /** Quote units, exact. */
  readonly fees: string;
  /** The limits that stopped it before its end. */
  readonly kills: readonly string[];
  /** Of each whole UTC day, to nine digits; null where a grid has too many. */
  readonly returns: readonly number[] | null;
}

/** A set that the strategy refuses, or with which it threw. */
export interface Refused {
  readonly refused: string;
}
export type Outcome = Ran | Refused;
export const hasRun = (outcome: Outcome | undefined): outcome is Ran =>
  outcome !== undefined && !('refused' in outcome);
/** It has too few round trips to be ranked. */
export const isFew = (outcome: Outcome | undefined): boolean =>
  hasRun(outcome) && outcome.roundTrips < fewestRoundTrips;
/** It counts for the best set, the best plateau and the tests of chance. */
export const isRanked = (outcome: Outcome | undefined): outcome is Ran => hasRun(outcome) && !isFew(outcome);

/** `riskFree`: yearly, as a fraction. */
export function outcomeOf(
  input: RunInput,
  result: RunResult,
  { riskFree, withReturns }: { readonly riskFree: number; readonly withReturns: boolean },
): Ran {
  const table = result.table?.() ?? fillTable(result.fills, input.instruments);
  const cash = unitsNumber(input.cash);
  const walked = walkEquity(equityInput(input, table, result.cashFlows, marginOf(result)?.charges));
  const returns = dailyReturns(walked.days, walked.days.equity);
  const known = Math.min(returns.length, daysKnown(input.series, walked.days));
  return {
    finalEquity: unitsText(result.finalEquity),
    return: (unitsNumber(result.finalEquity) * (walked.scales.at(-1)?.scale ?? 1)) / cash - 1,
    maxDrawdown: Math.abs(walked.drawdown.fall),
    sharpe: dailySharpe(returns, known, riskFree) ?? null,
    sortino: figure(known < minDays ? undefined : sortino(returns, yearDays, riskFree / yearDays)),
    calmar: figure(calmarOf(walked, cash)),
    fills: table.length,
    roundTrips: countRoundTrips(table, input.instruments),
    fees: unitsText(table.fees),
    kills: result.kills,
    returns: withReturns ? Array.from(returns, (value) => Number(value.toPrecision(9))) : null,
  };
}
