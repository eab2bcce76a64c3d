/** Runs a strategy: klines in, decisions out. A strategy that throws is stopped alone. */
import { concat, defer, EMPTY, from, Observable, type Subscriber, throwError } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { KeptState, Memory } from '../domain/memory.ts';
import { type Decision, decisionOf, type Fill, mainRole, type Signal } from '../domain/order.ts';
import { entryOptions } from '../domain/target-options.ts';
import {
  type Context,
  type DecidingStrategy,
  type Holding,
  hasSeveralMarkets,
  isStreaming,
  type Strategy,
  type StreamingStrategy,
} from './contract.ts';
import { LateSignal } from './fault.ts';
import { aggregatedKlines } from './larger-kline-stream.ts';
import { Delivery, endsTimers } from './late-signals.ts';
import type { BoundMarket } from './markets/several-markets.ts';
import { memoryOf, type StrategyMemory } from './memory.ts';
import { type Indicators, namedIndicators } from './named-indicators.ts';
import { streamOf } from './named-streams.ts';
import type { Params, ParamValues } from './params.ts';
import { checked } from './signals.ts';
import { type Getter, source, valuesOf } from './values.ts';
import type { ValuesWatcher } from './values-watcher.ts';

/** A configured strategy. */
export interface Hosted {
  readonly id: string;
  readonly strategy: Strategy;
  readonly symbol: string;
  readonly interval: Interval;
  readonly params: ParamValues<Params>;
  readonly instrument: Instrument;
  /** Its markets, where it may have several; its symbol, interval and instrument are those of the first that it trades. */
  readonly markets?: readonly HostedMarket[];
}

/** A market of a strategy that may have several. */
export interface HostedMarket extends BoundMarket {
  readonly instrument: Instrument;
}

/** What it receives. */
export interface Inputs {
  /** Warm-up klines, oldest first. */
  readonly history: readonly Kline[];
  readonly klines: Observable<Kline>;
  readonly trades: Observable<Trade>;
  readonly depth: Observable<Depth>;
  readonly ticker: Observable<Ticker>;
  readonly gaps: Observable<FeedGap>;
  readonly fills: Observable<Fill>;
  readonly holding: Holding;
  /** Its last signal of an earlier run, in force until it emits another; and its memory of that run. */
  readonly before?: Signal | undefined;
  readonly memory?: Memory | undefined;
  /** Keeps a memory that no signal goes with yet. */
  readonly remember?: (kept: KeptState) => void;
  readonly now: () => number;
  /** Charts the values of its indicators. */
  readonly watcher?: ValuesWatcher | undefined;
  /** True over recorded data: a signal of a timer or a promise has no market time there and is an error. */
  readonly atOnce?: boolean;
  /** Called once when the strategy threw; its last signal cancels its resting orders. */
  readonly failed: (error: unknown) => void;
}

/**
 * The decisions of a strategy. A kline without a new signal repeats the last one, so that lost orders are placed again. After a
 * throw one last decision cancels its resting orders, and the stream ends.
 */
export function decisionsOf(hosted: Hosted, inputs: Inputs): Observable<Decision> {
  if (hasSeveralMarkets(hosted.strategy))
    throw new Error('strategies of several markets are asked by decisionsOfMarkets');
  return isStreaming(hosted.strategy)
    ? repeating(streaming(hosted.strategy, hosted, inputs), hosted, inputs)
    : deciding(hosted.strategy, hosted, inputs);
}

/** A decision on the only market of a strategy. */
const decided = ({ id, symbol }: Hosted, { now }: Inputs, signal: Signal, memory?: Memory): Decision =>
  decisionOf({ strategy: id, role: mainRole, symbol, at: now(), signal, ...(memory !== undefined && { memory }) });

/** The last decision of a strategy that threw; then its stream ends. */
function giveUp(
  error: unknown,
  last: Signal | undefined,
  hosted: Hosted,
  inputs: Inputs,
  out: Subscriber<Decision>,
): void {
  inputs.failed(error);
  out.next(decided(hosted, inputs, withdrawn(last ?? inputs.before, inputs.holding)));
  out.complete();
}

/** The signals of a strategy as decisions; the last one is repeated at each kline without a new one. */
function repeating(signals: Observable<Signal>, hosted: Hosted, inputs: Inputs): Observable<Decision> {
  return new Observable((out) => {
    let last: Signal | undefined;
    let hasEmitted = false;
    const emit = (signal: Signal): void => {
      last = signal;
      hasEmitted = true;
      out.next(decided(hosted, inputs, signal));
    };
    const emitted = signals.subscribe({
      next: emit,
      complete: () => out.complete(),
      error: (error: unknown) => giveUp(error, last, hosted, inputs, out),
    });
    // Subscribed after the strategy, so it receives each kline after it.
    const klines = inputs.klines.subscribe(() => {
      if (!hasEmitted && last !== undefined && !out.closed) emit(last);
      hasEmitted = false;
    });
    return () => {
      emitted.unsubscribe();
      klines.unsubscribe();
    };
  });
}

/** The last signal of a strategy that threw: no resting order; its position and stop stay. `last` is the one before. */
export function withdrawn(last: Signal | undefined, holding: Holding): Signal {
  const reason = 'the strategy was stopped because it threw';
  if (last?.kind !== 'target') return { kind: 'quotes', quotes: [], reason };
  const { takeProfit: _, ...kept } = last;
  for (const option of entryOptions) delete kept[option];
  return { ...kept, size: { quantity: holding.quantity }, reason };
}

type Deciding = DecidingStrategy<Params, Indicators>;

/**
 * Feeds klines one after another to the indicators and, once all are warm, to `decide`. Returns the signal, or undefined without a new
 * one. `mayDecide` is false for klines of the warm-up. `memory` is that of a strategy which declares one; its initial value if left out.
 */
export function decider(
  strategy: Deciding,
  params: ParamValues<Params>,
  interval: Interval,
  holding: Holding,
  memory: StrategyMemory | undefined = memoryOf(strategy),
  watcher?: ValuesWatcher,
): (kline: Kline, mayDecide: boolean) => Signal | undefined {
  const indicators = namedIndicators(strategy.indicators(params));
  watcher?.begin(indicators);
  const streams = indicators.map(({ indicator }) => indicator.stream(interval));
  const latest = new Float64Array(streams.length).fill(Number.NaN);
  const values = valuesOf(indicators, latest, getter);
  // A user's indicator may give values before its stated warm-up; backtests over columns wait for the same kline.
  const warmup = Math.max(strategy.warmup?.(params) ?? 0, ...indicators.map(({ indicator }) => indicator.warmup));
  let seen = 0;
  /** The last signal that is frozen and was checked: the same object need not be checked again. */
  let valid: Signal | undefined;
  return (kline, mayDecide) => {
    seen++;
    let warm = seen >= warmup;
    for (let index = 0; index < streams.length; index++) {
      const value = (streams[index] as (kline: Kline) => number)(kline);
      latest[index] = value;
      if (Number.isNaN(value)) warm = false;
    }
    watcher?.after(0, kline.openTime, latest);
    if (!warm || !mayDecide) return undefined;
    const signal =
      memory === undefined
        ? strategy.decide(values, { kline, holding, params })
        : (memory.take(strategy.decide(values, remembering({ kline, holding, params }, memory))) as Signal | undefined);
    // JavaScript strategies often return null.
    if (signal === undefined || signal === null) return undefined;
    if (signal === valid) return signal;
    const result = checked(signal, interval);
    valid = result === signal ? result : undefined;
    return result;
  };
}

/** A moment with the memory, of which the type of strategies without one knows nothing. */
const remembering = <T extends object>(moment: T, { value }: StrategyMemory): T & { readonly memory: Memory } => ({
  ...moment,
  memory: value,
});

const getters: Getter<Float64Array>[] = [];
const getter = (index: number): Getter<Float64Array> =>
  (getters[index] ??= function () {
    return this[source][index] as number;
  });

/** An observable without operators: it is called at each of millions of klines. */
function deciding(strategy: Deciding, hosted: Hosted, inputs: Inputs): Observable<Decision> {
  const { params, interval } = hosted;
  return new Observable((out) => {
    let last: Signal | undefined;
    const failed = (error: unknown): void => giveUp(error, last, hosted, inputs, out);
    let step: ReturnType<typeof decider>;
    let memory: StrategyMemory | undefined;
    try {
      memory = memoryOf(strategy, inputs.memory);
      step = decider(strategy, params, interval, inputs.holding, memory, inputs.watcher);
      for (const kline of inputs.history) step(kline, false);
    } catch (error) {
      failed(error);
      return undefined;
    }
    return inputs.klines.subscribe({
      next(kline) {
        let signal: Signal | undefined;
        const before = memory?.value;
        try {
          signal = step(kline, true);
        } catch (error) {
          failed(error);
          return;
        }
        if (signal !== undefined) last = signal;
        const now = memory?.value;
        if (last !== undefined) out.next(decided(hosted, inputs, last, now));
        else if (now !== undefined && now !== before) inputs.remember?.({ memory: now });
      },
      error: failed,
      complete: () => out.complete(),
    });
  });
}

function streaming(strategy: StreamingStrategy<Params>, hosted: Hosted, inputs: Inputs): Observable<Signal> {
  return new Observable((out) => {
    const delivery = new Delivery();
    // Live, late signals are allowed: the extra subscriber would only cost time.
    const watched = <T>(stream: Observable<T>): Observable<T> =>
      inputs.atOnce === true ? delivery.of(stream) : stream;
    const live = watched(inputs.klines);
    let warming = 0;
    let early: Subscriber<Kline>[] | undefined = [];
    const count = (by: 1 | -1): Observable<never> =>
      defer(() => {
        warming += by;
        return EMPTY;
      });
    // Streams subscribed at the start warm up together, so that none is ahead of another. Later ones warm up by themselves.
    const later = concat(count(1), from(inputs.history), count(-1), live);
    const klines = new Observable<Kline>((subscriber) => {
      if (early === undefined) return later.subscribe(subscriber);
      early.push(subscriber);
      return undefined;
    });
    const context: Context<Params> = {
      params: hosted.params,
      symbol: hosted.symbol,
      interval: hosted.interval,
      instrument: hosted.instrument,
      klines,
      klinesOf: (larger) => aggregatedKlines(klines, hosted.interval, larger),
      trades: watched(inputs.trades),
      depth: watched(inputs.depth),
      ticker: watched(inputs.ticker),
      gaps: watched(inputs.gaps),
      fills: watched(inputs.fills),
      holding: () => inputs.holding,
    };
    const signals = signalsOf(strategy, context);
    const emit = (signal: Signal): void => {
      // A signal of the warm-up would trade on the past.
      if (warming > 0) return;
      try {
        if (inputs.atOnce === true && !delivery.isActive) throw new LateSignal(hosted.id);
        out.next(checked(signal, hosted.interval));
      } catch (error) {
        out.error(error);
      }
    };
    const emitted = delivery.during(() =>
      signals.subscribe({ next: emit, error: (error: unknown) => out.error(error), complete: () => out.complete() }),
    );
    const subscribers = early;
    early = undefined;
    warming++;
    for (const kline of inputs.history) for (const subscriber of subscribers) subscriber.next(kline);
    warming--;
    for (const subscriber of subscribers) live.subscribe(subscriber);
    return () => {
      if (inputs.atOnce !== true) emitted.unsubscribe();
      else if (endsTimers(() => emitted.unsubscribe())) inputs.failed(new LateSignal(hosted.id));
    };
  });
}

function signalsOf(strategy: StreamingStrategy<Params>, context: Context<Params>): Observable<Signal> {
  try {
    return streamOf(strategy.signals(context));
  } catch (error) {
    return throwError(() => error);
  }
}
