/** The figures of a run; null where a figure would mean nothing. */
import { seededRng } from '../clock/clock.ts';
import { type Units, unitsNumber } from '../domain/money.ts';
import { converted } from './currency-rates.ts';
import { dailyReturns, daysKnown } from './curves.ts';
import type { EquityInput } from './equity-input.ts';
import { type EquityWalk, walkEquity } from './equity-walk.ts';
import type { FillTable } from './fill-table.ts';
import {
  drawdowns,
  omega,
  regression,
  sharpe,
  sortino,
  tails,
  ulcerIndex,
  volatility,
  yearDays,
  yearlyReturn,
} from './ratios.ts';
import { roundTripFigures } from './round-trip-figures.ts';
import type { RoundTripTable } from './round-trip-table.ts';
import { roundTripTable } from './round-trips.ts';
import { kurtosis, mean, skewness } from './sample-moments.ts';
import { sharpeInterval } from './significance/bootstrap.ts';
import { minTrackRecord, probabilisticSharpe } from './significance/deflated-sharpe.ts';

/** JSON has no undefined. */
type Figure = number | null;
export const figure = (value: number | undefined): Figure =>
  value === undefined || !Number.isFinite(value) ? null : value;

/** Null where a figure would mean nothing; what each means is in `conventions.ts`. */
export type Metrics = ReturnType<typeof returnFigures> &
  ReturnType<typeof roundTripFigures> &
  ReturnType<typeof costFigures> & { readonly fees: Units; readonly turnover: Units };

/** The figures of a run, and what they were calculated from. */
export interface Measured {
  readonly metrics: Metrics;
  readonly walked: EquityWalk;
  readonly trips: RoundTripTable;
  /** In the currency of the equity. */
  readonly fills: FillTable;
  /** Of whole UTC days. */
  readonly returns: Float64Array;
}

/** Yearly ratios need this many daily returns, and CAGR this many days. */
export const minDays = 30;
const minDaysOfGrowth = 90;
const dayMs = 86_400_000;

/** `riskFree`: yearly, as a fraction. `finalEquity`: at the last close, where selling costs are not part of it. */
export function measure(
  given: EquityInput,
  { riskFree = 0, finalEquity }: { readonly riskFree?: number; readonly finalEquity?: number } = {},
): Measured {
  const walked = walkEquity(given);
  const fills = given.rates === undefined ? given.fills : converted(given.fills, given.rates);
  const trips = roundTripTable(fills, given.series, given.instruments);
  const returns = dailyReturns(walked.days, walked.days.equity);
  const { fees, turnover } = fills;
  const metrics: Metrics = {
    ...returnFigures(walked, returns, given, riskFree),
    ...roundTripFigures(trips),
    ...costFigures(walked, { ...given, fills }, finalEquity ?? walked.days.equity.at(-1) ?? given.cash),
    ...{ fees, turnover },
  };
  return { metrics, walked, trips, returns, fills };
}

/** The yearly Sharpe ratio of daily returns; `riskFree` is yearly. Undefined where fewer than 30 days are `known`. */
export const dailySharpe = (returns: Float64Array, known: number, riskFree: number): number | undefined =>
  known < minDays ? undefined : sharpe(returns, yearDays, riskFree / yearDays);

/** CAGR: the last equity over `cash`, by the year. Undefined below 90 days. */
function growthOf({ days, totalMs }: Pick<EquityWalk, 'days' | 'totalMs'>, cash: number): number | undefined {
  const growth = (days.equity.at(-1) ?? cash) / cash;
  return totalMs < minDaysOfGrowth * dayMs ? undefined : yearlyReturn(growth, totalMs / dayMs);
}

/** CAGR over the largest drawdown. Undefined below 90 days, and where equity never fell. */
export function calmarOf(walk: Pick<EquityWalk, 'days' | 'totalMs' | 'drawdown'>, cash: number): number | undefined {
  const cagr = growthOf(walk, cash);
  return cagr === undefined || walk.drawdown.fall === 0 ? undefined : cagr / -walk.drawdown.fall;
}

function returnFigures(
  { days, drawdown, heldMs, totalMs, exposure }: EquityWalk,
  returns: Float64Array,
  { cash, series }: EquityInput,
  riskFree: number,
) {
  const daily = riskFree / yearDays;
  const holdReturns = dailyReturns(days, days.buyAndHold);
  const cagr = growthOf({ days, totalMs }, cash);
  const known = Math.min(returns.length, daysKnown(series, days));
  const enough = known >= minDays;
  const only = <T>(value: T | undefined): T | undefined => (enough ? value : undefined);
  const ratio = dailySharpe(returns, known, riskFree);
  const interval =
    ratio === undefined
      ? undefined
      : sharpeInterval(
          returns.map((one) => one - daily),
          yearDays,
          seededRng(returns.length),
        );
  const shape = { skewness: skewness(returns) ?? 0, kurtosis: kurtosis(returns) ?? 3 };
  const one = ratio === undefined ? undefined : ratio / Math.sqrt(yearDays);
  const ulcer = only(ulcerIndex(drawdowns(days.equity).subarray(1)));
  const line = only(regression(returns, holdReturns));
  const tail = only(tails(returns));
  const years = one === undefined ? undefined : minTrackRecord(one, shape);
  return {
    /** Daily returns, and on how many of these days a kline closed. */
    days: returns.length,
    daysWithKlines: known,
    cagr: figure(cagr),
    buyAndHoldReturn: (days.buyAndHold.at(-1) ?? cash) / cash - 1,
    buyAndHoldDrawdown: figure(0 - Math.min(0, ...drawdowns(days.buyAndHold))),
    volatility: figure(only(volatility(returns))),
    sharpe: figure(ratio),
    sharpeLow: figure(interval?.low),
    sharpeHigh: figure(interval?.high),
    psr: figure(one === undefined ? undefined : probabilisticSharpe(one, returns.length, shape)),
    trackRecordYears: figure(years === undefined ? undefined : years / yearDays),
    sortino: figure(only(sortino(returns, yearDays, daily))),
    maxDrawdown: -drawdown.fall,
    longestDrawdownDays: drawdown.longestMs / dayMs,
    calmar: figure(calmarOf({ days, totalMs, drawdown }, cash)),
    ulcerIndex: figure(ulcer),
    martin: figure(cagr === undefined || !ulcer ? undefined : cagr / ulcer),
    omega: figure(only(omega(returns, daily))),
    valueAtRisk: figure(tail?.valueAtRisk),
    conditionalValueAtRisk: figure(tail?.conditional),
    tailRatio: figure(tail?.ratio),
    skewness: figure(only(skewness(returns))),
    kurtosis: figure(only(kurtosis(returns))),
    alpha: figure(line === undefined ? undefined : line.alpha * yearDays),
    beta: figure(line?.beta),
    bestDay: figure(returns.length === 0 ? undefined : returns.reduce((a, b) => Math.max(a, b))),
    worstDay: figure(returns.length === 0 ? undefined : returns.reduce((a, b) => Math.min(a, b))),
    timeInMarket: totalMs === 0 ? 0 : heldMs / totalMs,
    exposure,
  };
}

/** The equity in money: the curve without its time-weighting. */
function actual({ time, equity }: EquityWalk['days'], scales: EquityWalk['scales']): Float64Array {
  let next = 0;
  let scale = 1;
  return equity.map((value, index) => {
    for (; (scales[next]?.from ?? Number.POSITIVE_INFINITY) < (time[index] as number); next++)
      scale = scales[next]?.scale ?? scale;
    return scale === 0 ? value : value / scale;
  });
}

function costFigures(
  { days, totalMs, scales }: EquityWalk,
  { fills, cash, flows = [], rates }: EquityInput,
  finalEquity: number,
) {
  const paid = unitsNumber(fills.fees);
  const rate = (asset: string | undefined, time: number): number => rates?.lines.get(asset ?? '')?.at(time) ?? 1;
  const moved = flows.reduce((sum, { amount, asset, time }) => sum + amount * rate(asset, time), 0);
  const earned = finalEquity - cash - moved + paid;
  const traded = unitsNumber(fills.turnover) / 2;
  const years = totalMs / dayMs / yearDays;
  return {
    turnoverYearly: figure(years === 0 ? undefined : traded / mean(actual(days, scales)) / years),
    feeShare: figure(earned > 0 && paid > 0 ? paid / earned : undefined),
    breakEvenFees: figure(earned > 0 && paid > 0 ? earned / paid : undefined),
  };
}
