/** Checks one strategy over klines: whether it knows the future, and how much history it needs. */

import type { Interval } from '../../domain/interval.ts';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { hasList } from '../../strategy/contract.ts';
import { errorText, isStrategyFault, StrategyThrew } from '../../strategy/fault.ts';
import { aggregate } from '../../strategy/larger-klines.ts';
import { liveHistory, warmupOf } from '../../strategy/warmup.ts';
import { marketsOf } from '../../trading/lanes.ts';
import type { NamedHosted } from '../../trading/strategies.ts';
import { joinedOf } from '../engine/joined-series.ts';
import { neverCalledText } from '../result/never-called.ts';
import { type RunInput, type RunSeries, upToEnd } from '../run.ts';
import { checkedIn, cut, runSeries, smallestOf } from './columns.ts';
import { decisionLog } from './decision-log.ts';
import { type EmittedKind, emittedIn, type Mistake, mistakesIn } from './decision-summary.ts';
import { type Leak, leaksOf, usualCuts } from './lookahead.ts';
import { declaredOf, klinesToTest, liveRows, spanIn, type Warmup, warmupNeeded } from './warmup.ts';

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
  /** Klines of the declared warm-up, available klines, and those that a live start has. */
  readonly history: { readonly declared: number; readonly available: number; readonly live: number };
  /** Klines that are compared from each start of the warm-up's test. */
  readonly span: number;
  /** Of a strategy that has several; `klines` and `history` count those of its smallest interval. */
  readonly markets?: readonly CheckedMarket[];
}

/** A market of a strategy that has several. */
export interface CheckedMarket {
  readonly role: string;
  readonly symbol: string;
  readonly interval: string;
  readonly use: 'traded' | 'data';
  /** Its klines in the check, those of its declared warm-up, and those that a live start has. */
  readonly klines: number;
  readonly declared: number;
  readonly live: number;
}

/** Klines of a check: each is decided many times over. A long warm-up takes more, up to the maximum. */
const usualKlines = 2_500;
export const maxKlines = 10_000;

/** Of a strategy that decides less often than at each kline. */
const maxScheduledKlines = 40_000;
/** Each symbol of a list adds to each of hundreds of runs; a leak shows at a few as at many. */
export const maxSymbols = 20;

/** The input of one strategy alone, over as many klines as a check takes. */
export function inputFor(input: RunInput, hosted: RunInput['hosted'][number]): RunInput {
  const one = hasList(hosted.strategy) ? { ...hosted, markets: hosted.markets?.slice(0, maxSymbols) ?? [] } : hosted;
  const symbols = [...new Set(marketsOf(one).map(({ symbol }) => symbol))];
  const whole: RunInput = {
    ...input,
    hosted: [one],
    series: symbols.map((symbol) => seriesFor(input, one, symbol)),
    allocations: input.allocations.filter(({ strategy }) => strategy === hosted.id),
  };
  const { klines, first } = checkedIn(whole);
  const declared = declaredOf(one);
  const span = spanIn(one, klines.interval);
  const before = Math.min(first, declared);
  const from = first - before;
  const isScheduled = hasList(one.strategy) && one.strategy.rebalance !== undefined;
  const usual = isScheduled ? Math.max(usualKlines, 5 * span) : usualKlines;
  const max = isScheduled ? maxScheduledKlines : maxKlines;
  const to = Math.min(klines.times.length, from + Math.min(max, Math.max(usual, klinesToTest(declared, span))));
  return { ...whole, series: runSeries(cut(klines, from, to), before) };
}

/** The klines of a symbol up to the end of the run, of the smallest interval that a strategy uses there. */
function seriesFor(input: RunInput, hosted: RunInput['hosted'][number], symbol: string): RunSeries {
  const { finer: _, ...recorded } = input.series.find((one) => one.symbol === symbol) as RunSeries;
  const used = marketsOf(hosted).filter((market) => market.symbol === symbol);
  const interval = smallestOf(used.map((market) => market.interval));
  return upToEnd(recorded.interval === interval ? recorded : largerSeries(recorded, interval));
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

/** The markets of a strategy, and how much history each needs. */
const marketsIn = (hosted: NamedHosted, { series }: RunInput): readonly CheckedMarket[] =>
  marketsOf(hosted).map(({ role, symbol, interval, use }) => {
    const own = joinedOf(marketsOf(hosted), series).markets[role]?.columns.openTime.length ?? 0;
    const declared = warmupOf(hosted.strategy, hosted.params, interval, role);
    return { role, symbol, interval, use, klines: own, declared, live: liveHistory(declared) };
  });

/** `cuts`: klines after which the future is changed; fewer are faster and find less. */
export async function checkStrategy(input: RunInput, cuts = usualCuts): Promise<Checked> {
  const { hosted, klines, first } = checkedIn(input);
  const { times, interval } = klines;
  const about = {
    ...{ strategy: hosted.id, symbol: hosted.symbol, interval, klines: times.length - first },
    ...{ from: times[first] as number, to: times.at(-1) as number, params: hosted.params },
    ...(hosted.markets !== undefined && { markets: marketsIn(hosted, input) }),
    history: { declared: declaredOf(hosted), available: times.length, live: liveRows(hosted) },
    span: spanIn(hosted, interval),
  };
  try {
    const log = await decisionLog(input, klines, first);
    const emitted = emittedIn(log);
    const leaks = await leaksOf(input, log, cuts);
    // A leak makes the warm-up meaningless.
    const warmup = leaks.length > 0 || emitted !== 'something' ? undefined : await warmupNeeded(input);
    const notCalled = emitted === 'nothing' ? neverCalledText(hosted, input.series) : undefined;
    return { ...about, emitted, notCalled, mistakes: mistakesIn(log, klines, input), leaks, warmup };
  } catch (error) {
    if (!isStrategyFault(error)) throw error;
    const who = error instanceof StrategyThrew ? '' : `; strategy ${hosted.id}`;
    throw new Refusal(`a strategy threw: ${errorText(error)}${who}`, 1);
  }
}

/** Why a strategy fails the check; undefined if it passes. */
export function faultOf({ strategy, klines, leaks, mistakes, emitted, notCalled }: Checked): string | undefined {
  if (leaks.length > 0) return `${strategy}: its backtests are not reliable until the leak is fixed`;
  if (mistakes.some(({ kind }) => kind === 'moreThanAll')) return `${strategy}: a target is more than it can hold`;
  if (emitted === 'something') return undefined;
  if (notCalled !== undefined) return `${strategy}: ${notCalled}: nothing was proven`;
  const never = emitted === 'flat' ? 'emitted only flat targets' : 'emitted no signal';
  return `${strategy}: it ${never} on ${counted(klines, 'kline')}: nothing was proven`;
}

/** Whether a live start has the klines after which decisions agree. */
export const isEnough = (
  { decisions }: Pick<Warmup, 'decisions'>,
  { live }: Pick<Checked['history'], 'live'>,
): boolean => decisions !== undefined && decisions <= live;
