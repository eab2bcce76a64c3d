/** Checks one strategy over klines: whether it knows the future, and how much history it needs. */

import type { Interval } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { grouped } from '../../domain/words.ts';
import { errorText, isStrategyFault, StrategyThrew } from '../../strategy/fault.ts';
import { aggregate } from '../../strategy/larger-klines.ts';
import { liveHistory, warmupOf } from '../../strategy/warmup.ts';
import { neverCalledText } from '../result/no-trade-reasons.ts';
import type { RunInput, RunSeries } from '../run.ts';
import { cut } from './columns.ts';
import { decisionLog, onlyOf } from './decision-log.ts';
import { type EmittedKind, emittedIn, type Mistake, mistakesIn } from './decision-summary.ts';
import { type Leak, leaksOf } from './lookahead.ts';
import { klinesToTest, type Warmup, warmupNeeded } from './warmup.ts';

export interface Checked {
  readonly strategy: string;
  readonly symbol: string;
  readonly interval: string;
  readonly klines: number;
  /** Opening times of the first and the last, UTC ms. */
  readonly from: number;
  readonly to: number;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** Unless it is `something`, nothing could be compared. */
  readonly emitted: EmittedKind;
  /** Why `decide` was never called. */
  readonly notCalled: string | undefined;
  readonly mistakes: readonly Mistake[];
  readonly leaks: readonly Leak[];
  readonly warmup: Warmup | undefined;
  /** Klines of the declared warm-up, and available klines. */
  readonly history: { readonly declared: number; readonly available: number };
}

/** Klines of a check: each is decided many times over. A long warm-up takes more, up to the maximum. */
const usualKlines = 2_500;
export const mostKlines = 10_000;

/** The input of one strategy alone, over as many klines as a check takes. */
export function inputFor(input: RunInput, hosted: RunInput['hosted'][number]): RunInput {
  if (hosted.markets !== undefined)
    throw new Refusal(`${hosted.id} decides on several markets, and a check covers strategies of one market so far`);
  const { finer: _, ...recorded } = input.series.find(({ symbol }) => symbol === hosted.symbol) as RunSeries;
  const series = recorded.interval === hosted.interval ? recorded : largerSeries(recorded, hosted.interval);
  const declared = warmupOf(hosted.strategy, hosted.params, hosted.interval);
  const before = Math.min(series.first, declared);
  const from = series.first - before;
  const to = Math.min(series.end, from + Math.min(mostKlines, Math.max(usualKlines, klinesToTest(declared))));
  return {
    ...input,
    hosted: [hosted],
    series: [{ ...series, columns: cut(series.columns, from, to), gaps: [], first: before, end: to - from }],
    allocations: input.allocations.filter(({ strategy }) => strategy === hosted.id),
  };
}

/** The same klines as those of a larger interval. */
function largerSeries(series: RunSeries, interval: Interval): RunSeries {
  const { columns, knownAt } = aggregate(series.interval, interval, series.columns);
  const rowAfter = (row: number): number => {
    const found = knownAt.findIndex((known) => known >= row);
    return found < 0 ? knownAt.length : found;
  };
  return { ...series, interval, columns, first: rowAfter(series.first), end: rowAfter(series.end) };
}

export async function checkStrategy(input: RunInput): Promise<Checked> {
  const { hosted, series } = onlyOf(input);
  const { symbol, interval } = series;
  const { openTime } = series.columns;
  const about = {
    ...{ strategy: hosted.id, symbol, interval, klines: series.end - series.first },
    ...{ from: openTime[series.first] as number, to: openTime[series.end - 1] as number, params: hosted.params },
    history: { declared: warmupOf(hosted.strategy, hosted.params, interval), available: openTime.length },
  };
  try {
    const log = await decisionLog(input, series.columns, series.first);
    const emitted = emittedIn(log);
    const leaks = await leaksOf(input, log);
    // A leak makes the warm-up meaningless.
    const warmup = leaks.length > 0 || emitted !== 'something' ? undefined : await warmupNeeded(input);
    const notCalled = emitted === 'nothing' ? neverCalledText(hosted, series) : undefined;
    return { ...about, emitted, notCalled, mistakes: mistakesIn(log, input), leaks, warmup };
  } catch (error) {
    if (!isStrategyFault(error)) throw error;
    const who = error instanceof StrategyThrew ? '' : `; strategy ${hosted.id}`;
    throw new Refusal(`a strategy threw: ${errorText(error)}${who}`, 1);
  }
}

/** Why a strategy fails the check; undefined if it passes. */
export function faultOf({ strategy, klines, leaks, mistakes, emitted, notCalled }: Checked): string | undefined {
  if (leaks.length > 0) return `${strategy}: its backtests are not reliable until the leak is fixed`;
  if (mistakes.some(({ kind }) => kind === 'share')) return `${strategy}: a target is more than it can hold`;
  if (emitted === 'something') return undefined;
  if (notCalled !== undefined) return `${strategy}: ${notCalled}: nothing was proven`;
  const never = emitted === 'flat' ? 'emitted only flat targets' : 'emitted no signal';
  return `${strategy}: it ${never} on ${grouped(klines)} klines: nothing was proven`;
}

/** Whether a live start has the klines after which decisions agree. */
export const isEnough = ({ declared, decisions }: Pick<Warmup, 'declared' | 'decisions'>): boolean =>
  decisions !== undefined && decisions <= liveHistory(declared);
