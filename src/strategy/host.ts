/** Runs a strategy over streams: klines in, signals out. A strategy that throws is stopped alone. */
import { concat, defer, EMPTY, from, Observable, of, type Subscriber } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { Fill, Signal, Want } from '../domain/order.ts';
import { checked } from './checked.ts';
import {
  type Context,
  type DecidingStrategy,
  type Holding,
  isStreaming,
  type Strategy,
  type StreamingStrategy,
} from './contract.ts';
import { framedKlines } from './framed.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';

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
  /** Told once when the strategy threw; its resting orders are wished away by the last signal. */
  readonly failed: (error: unknown) => void;
}

/**
 * The strategy's signals. A kline at which it says nothing repeats what it said last, so that what got lost heals. After a
 * throw one last signal wishes its resting orders away, and the stream ends.
 */
export function signalsOf(hosted: Hosted, inputs: Inputs): Observable<Signal> {
  const wants = isStreaming(hosted.strategy)
    ? streaming(hosted.strategy, hosted, inputs)
    : deciding(hosted.strategy, hosted, inputs);
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
      error(error: unknown) {
        inputs.failed(error);
        say(lastWish(last ?? inputs.before, inputs.holding));
        out.complete();
      },
    });
    // Heard after the strategy has heard the same kline. One that decides repeats itself.
    const repeating = isStreaming(hosted.strategy)
      ? inputs.klines.subscribe(() => {
          if (!saidSomething && last !== undefined && !out.closed) say(last);
          saidSomething = false;
        })
      : undefined;
    return () => {
      speaking.unsubscribe();
      repeating?.unsubscribe();
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

type Deciding = DecidingStrategy<Params, Record<string, Indicator>>;

function deciding(strategy: Deciding, { params, interval }: Hosted, inputs: Inputs): Observable<Want> {
  return new Observable((out) => {
    const step = decider(strategy, params, interval, inputs.holding);
    try {
      for (const kline of inputs.history) step(kline, undefined);
    } catch (error) {
      out.error(error);
      return;
    }
    return inputs.klines.subscribe({
      next(kline) {
        try {
          step(kline, out);
        } catch (error) {
          out.error(error);
        }
      },
      error: (error: unknown) => out.error(error),
      complete: () => out.complete(),
    });
  });
}

/** Feeds one kline after another to the indicators and, once all are warm, to `decide`. */
function decider(
  strategy: Deciding,
  params: ParamValues<Params>,
  interval: Interval,
  holding: Holding,
): (kline: Kline, out: Subscriber<Want> | undefined) => void {
  const indicators = Object.entries(strategy.indicators(params)).map(([name, indicator]) => ({
    name,
    next: indicator.stream(interval),
  }));
  const values: Record<string, number> = Object.fromEntries(indicators.map(({ name }) => [name, Number.NaN]));
  const warmup = strategy.warmup?.(params) ?? 0;
  let seen = 0;
  let last: Want | undefined;
  return (kline, out) => {
    seen++;
    let warm = seen >= warmup;
    for (const { name, next } of indicators) {
      const value = next(kline);
      values[name] = value;
      if (Number.isNaN(value)) warm = false;
    }
    if (!warm || out === undefined) return;
    const want = strategy.decide(values, { kline, holding, params });
    if (want !== undefined) last = checked(want);
    if (last !== undefined) out.next(last);
  };
}

function streaming(strategy: StreamingStrategy<Params>, hosted: Hosted, inputs: Inputs): Observable<Want> {
  return new Observable((out) => {
    let warming = 0;
    let waiting: Subscriber<Kline>[] | undefined = [];
    const turn = (by: 1 | -1): Observable<never> =>
      defer(() => {
        warming += by;
        return EMPTY;
      });
    // Whoever listens from the start warms up together, so that no stream is ahead of another; who comes later warms up by itself.
    const late = concat(turn(1), from(inputs.history), turn(-1), inputs.klines);
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
      trades: inputs.trades,
      depth: inputs.depth,
      ticker: inputs.ticker,
      gaps: inputs.gaps,
      fills: inputs.fills,
      holding: () => inputs.holding,
    };
    const wants = attempt(() => strategy.signals(context));
    const speaking = wants.subscribe({
      next(want) {
        // Told by the warm-up klines, which are over: acting on it would trade on the past.
        if (warming > 0) return;
        try {
          out.next(checked(want));
        } catch (error) {
          out.error(error);
        }
      },
      error: (error: unknown) => out.error(error),
      complete: () => out.complete(),
    });
    const listeners = waiting;
    waiting = undefined;
    warming++;
    for (const kline of inputs.history) for (const listener of listeners) listener.next(kline);
    warming--;
    for (const listener of listeners) inputs.klines.subscribe(listener);
    return speaking;
  });
}

function attempt(make: () => Observable<Want>): Observable<Want> {
  try {
    return make();
  } catch (error) {
    return concat(of<Want>(), new Observable<never>((out) => out.error(error)), EMPTY);
  }
}
