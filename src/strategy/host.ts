/** Runs a strategy over streams: klines in, signals out. A strategy that throws is stopped alone. */
import { concat, defer, EMPTY, from, Observable, of, type Subscriber } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { Fill, Signal, Want } from '../domain/order.ts';
import { type Context, type Holding, isStreaming, type Strategy, type StreamingStrategy } from './contract.ts';
import { type Deciding, decider } from './decider.ts';
import { LateWant } from './fault.ts';
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
  /** What it wished last in an earlier run, and still does until it says something. */
  readonly before?: Want | undefined;
  readonly now: () => number;
  /** Over recorded data: a want that a timer or a promise led to has no moment of its own there, and is a fault. Live it is said when it comes. */
  readonly atOnce?: boolean;
  /** Told once when the strategy threw; its resting orders are wished away by the last signal. */
  readonly failed: (error: unknown) => void;
}

/**
 * The strategy's signals. A kline at which it says nothing repeats what it said last, so that what got lost heals. After a
 * throw one last signal wishes its resting orders away, and the stream ends.
 */
export function signalsOf(hosted: Hosted, inputs: Inputs): Observable<Signal> {
  return isStreaming(hosted.strategy)
    ? repeating(streaming(hosted.strategy, hosted, inputs), hosted, inputs)
    : deciding(hosted.strategy, hosted, inputs);
}

/** What a strategy that threw says last; then its stream ends. */
function giveUp(
  error: unknown,
  last: Want | undefined,
  { id, symbol }: Hosted,
  inputs: Inputs,
  out: Subscriber<Signal>,
): void {
  inputs.failed(error);
  out.next({ strategy: id, symbol, at: inputs.now(), want: lastWish(last ?? inputs.before, inputs.holding) });
  out.complete();
}

/** The wants of a strategy as signals, those repeated beside which a kline is heard. */
function repeating(wants: Observable<Want>, hosted: Hosted, inputs: Inputs): Observable<Signal> {
  return new Observable((out) => {
    let last: Want | undefined;
    let saidSomething = false;
    const say = (want: Want): void => {
      last = want;
      saidSomething = true;
      out.next({ strategy: hosted.id, symbol: hosted.symbol, at: inputs.now(), want });
    };
    const speaking = wants.subscribe({
      next: say,
      complete: () => out.complete(),
      error: (error: unknown) => giveUp(error, last, hosted, inputs, out),
    });
    // Heard after the strategy has heard the same kline.
    const hearing = inputs.klines.subscribe(() => {
      if (!saidSomething && last !== undefined && !out.closed) say(last);
      saidSomething = false;
    });
    return () => {
      speaking.unsubscribe();
      hearing.unsubscribe();
    };
  });
}

/** What a strategy that threw leaves behind: no resting order; what it holds stays, and with it the stop that protects it. */
function lastWish(last: Want | undefined, holding: Holding): Want {
  const reason = 'the strategy was stopped because it threw';
  if (last?.kind !== 'target') return { kind: 'quotes', quotes: [], reason };
  const { stop, trailing, exitAfterMs } = last;
  const goal = { quantity: holding.quantity };
  return {
    kind: 'target',
    goal,
    reason,
    ...(stop === undefined ? {} : { stop }),
    ...(trailing === undefined ? {} : { trailing }),
    ...(exitAfterMs === undefined ? {} : { exitAfterMs }),
  };
}

/** One observable for what a kline leads to: it is asked at each of millions. */
function deciding(strategy: Deciding, hosted: Hosted, inputs: Inputs): Observable<Signal> {
  const { id, symbol, params, interval } = hosted;
  return new Observable((out) => {
    let last: Want | undefined;
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
        let want: Want | undefined;
        try {
          want = step(kline, true);
        } catch (error) {
          failed(error);
          return;
        }
        if (want !== undefined) last = want;
        if (last !== undefined) out.next({ strategy: id, symbol, at: inputs.now(), want: last });
      },
      error: failed,
      complete: () => out.complete(),
    });
  });
}

function streaming(strategy: StreamingStrategy<Params>, hosted: Hosted, inputs: Inputs): Observable<Want> {
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
    const wants = attempt(() => strategy.signals(context));
    const say = (want: Want): void => {
      // Told by the warm-up klines, which are over: acting on it would trade on the past.
      if (warming > 0) return;
      try {
        if (inputs.atOnce === true && !telling.isOn) throw new LateWant(hosted.id);
        out.next(checked(want));
      } catch (error) {
        out.error(error);
      }
    };
    const speaking = telling.during(() =>
      wants.subscribe({ next: say, error: (error: unknown) => out.error(error), complete: () => out.complete() }),
    );
    const listeners = waiting;
    waiting = undefined;
    warming++;
    for (const kline of inputs.history) for (const listener of listeners) listener.next(kline);
    warming--;
    for (const listener of listeners) heard.subscribe(listener);
    return () => {
      if (inputs.atOnce !== true) speaking.unsubscribe();
      else if (endsTimers(() => speaking.unsubscribe())) inputs.failed(new LateWant(hosted.id));
    };
  });
}

function attempt(make: () => Observable<Want>): Observable<Want> {
  try {
    return make();
  } catch (error) {
    return concat(of<Want>(), new Observable<never>((out) => out.error(error)), EMPTY);
  }
}
