/** Runs a strategy over streams: klines in, decisions out. A strategy that throws is stopped alone. */
import { concat, defer, EMPTY, from, Observable, of, type Subscriber } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import { type Decision, decisionOf, type Fill, mainRole, type Signal } from '../domain/order.ts';
import { type Context, type Holding, isStreaming, type Strategy, type StreamingStrategy } from './contract.ts';
import { type Deciding, decider } from './decider.ts';
import { LateSignal } from './fault.ts';
import { framedKlines } from './larger-kline-stream.ts';
import type { Params, ParamValues } from './params.ts';
import { endsTimers, Telling } from './synchronous.ts';
import { checked } from './validate.ts';

/** A configured strategy. */
export interface Hosted {
  readonly id: string;
  readonly strategy: Strategy;
  readonly symbol: string;
  readonly interval: Interval;
  readonly params: ParamValues<Params>;
  readonly instrument: Instrument;
}

/** What it is given to see. */
export interface Inputs {
  /** Klines from before it began, oldest first. */
  readonly history: readonly Kline[];
  readonly klines: Observable<Kline>;
  readonly trades: Observable<Trade>;
  readonly depth: Observable<Depth>;
  readonly ticker: Observable<Ticker>;
  readonly gaps: Observable<FeedGap>;
  readonly fills: Observable<Fill>;
  readonly holding: Holding;
  /** Its last signal of an earlier run, which stands until it emits another. */
  readonly before?: Signal | undefined;
  readonly now: () => number;
  /** Over recorded data: a signal emitted by a timer or a promise has no market time there, and is an error. */
  readonly atOnce?: boolean;
  /** Called once when the strategy threw; its last signal cancels its resting orders. */
  readonly failed: (error: unknown) => void;
}

/**
 * The decisions of a strategy. A kline without a new signal repeats the last one, so that lost orders are placed again. After a
 * throw one last decision cancels its resting orders, and the stream ends.
 */
export function decisionsOf(hosted: Hosted, inputs: Inputs): Observable<Decision> {
  return isStreaming(hosted.strategy)
    ? repeating(streaming(hosted.strategy, hosted, inputs), hosted, inputs)
    : deciding(hosted.strategy, hosted, inputs);
}

/** A decision on the only market of a strategy. */
const decided = ({ id, symbol }: Hosted, { now }: Inputs, signal: Signal): Decision =>
  decisionOf({ strategy: id, role: mainRole, symbol, at: now(), signal });

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

/** The last signal of a strategy that threw: no resting order; its position and stop stay. */
function withdrawn(last: Signal | undefined, holding: Holding): Signal {
  const reason = 'the strategy was stopped because it threw';
  if (last?.kind !== 'target') return { kind: 'quotes', quotes: [], reason };
  const { stop, trailing, exitAfterMs } = last;
  const size = { quantity: holding.quantity };
  return {
    kind: 'target',
    size,
    reason,
    ...(stop === undefined ? {} : { stop }),
    ...(trailing === undefined ? {} : { trailing }),
    ...(exitAfterMs === undefined ? {} : { exitAfterMs }),
  };
}

/** One observable without operators: it is called at each of millions of klines. */
function deciding(strategy: Deciding, hosted: Hosted, inputs: Inputs): Observable<Decision> {
  const { params, interval } = hosted;
  return new Observable((out) => {
    let last: Signal | undefined;
    const failed = (error: unknown): void => giveUp(error, last, hosted, inputs, out);
    let step: ReturnType<typeof decider>;
    try {
      step = decider(strategy, params, interval, inputs.holding);
      for (const kline of inputs.history) step(kline, false);
    } catch (error) {
      failed(error);
      return undefined;
    }
    return inputs.klines.subscribe({
      next(kline) {
        let signal: Signal | undefined;
        try {
          signal = step(kline, true);
        } catch (error) {
          failed(error);
          return;
        }
        if (signal !== undefined) last = signal;
        if (last !== undefined) out.next(decided(hosted, inputs, last));
      },
      error: failed,
      complete: () => out.complete(),
    });
  });
}

function streaming(strategy: StreamingStrategy<Params>, hosted: Hosted, inputs: Inputs): Observable<Signal> {
  return new Observable((out) => {
    const telling = new Telling();
    // Live nobody asks, and each book would go through one listener more.
    const told = <T>(stream: Observable<T>): Observable<T> => (inputs.atOnce === true ? telling.of(stream) : stream);
    const heard = told(inputs.klines);
    let warming = 0;
    let waiting: Subscriber<Kline>[] | undefined = [];
    const turn = (by: 1 | -1): Observable<never> =>
      defer(() => {
        warming += by;
        return EMPTY;
      });
    // Whoever listens from the start warms up together, so that no stream is ahead of another; who comes later warms up by itself.
    const late = concat(turn(1), from(inputs.history), turn(-1), heard);
    const klines = new Observable<Kline>((listener) => {
      if (waiting === undefined) return late.subscribe(listener);
      waiting.push(listener);
      return undefined;
    });
    const context: Context<Params> = {
      params: hosted.params,
      symbol: hosted.symbol,
      interval: hosted.interval,
      instrument: hosted.instrument,
      klines,
      klinesOf: (larger) => framedKlines(klines, hosted.interval, larger),
      trades: told(inputs.trades),
      depth: told(inputs.depth),
      ticker: told(inputs.ticker),
      gaps: told(inputs.gaps),
      fills: told(inputs.fills),
      holding: () => inputs.holding,
    };
    const signals = attempt(() => strategy.signals(context));
    const say = (signal: Signal): void => {
      // Told by the warm-up klines, which are over: acting on it would trade on the past.
      if (warming > 0) return;
      try {
        if (inputs.atOnce === true && !telling.isOn) throw new LateSignal(hosted.id);
        out.next(checked(signal));
      } catch (error) {
        out.error(error);
      }
    };
    const emitted = telling.during(() =>
      signals.subscribe({ next: say, error: (error: unknown) => out.error(error), complete: () => out.complete() }),
    );
    const listeners = waiting;
    waiting = undefined;
    warming++;
    for (const kline of inputs.history) for (const listener of listeners) listener.next(kline);
    warming--;
    for (const listener of listeners) heard.subscribe(listener);
    return () => {
      if (inputs.atOnce !== true) emitted.unsubscribe();
      else if (endsTimers(() => emitted.unsubscribe())) inputs.failed(new LateSignal(hosted.id));
    };
  });
}

function attempt(make: () => Observable<Signal>): Observable<Signal> {
  try {
    return make();
  } catch (error) {
    return concat(of<Signal>(), new Observable<never>((out) => out.error(error)), EMPTY);
  }
}
