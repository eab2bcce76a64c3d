/**
 * The contract between Sluice and a strategy. A strategy emits signals, which are desired states; it cannot send orders. It uses one of
 * two layers:
 *
 * - `indicators` and `decide`: a pure function of the closed kline, indicator values and the position;
 * - `signals(context)`: streams, composed freely.
 *
 * A strategy keeps state only in its streams and indicators. Warm-up klines rebuild it, after a restart as after a gap.
 */
import type { Observable } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { Fill, Signal } from '../domain/order.ts';
import type { Indicators, ValuesOf } from './named-indicators.ts';
import type { Params, ParamValues } from './params.ts';

/** A strategy's position and equity as numbers. */
export interface Holding {
  /** Base asset held; 0 is flat. */
  readonly quantity: number;
  /** Average entry price of the position; NaN when flat. */
  readonly entryPrice: number;
  /** Allocation plus profit, open and closed, fees taken, in quote. */
  readonly equity: number;
}

/** What `decide` sees besides its indicators. */
export interface Moment<P extends Params> {
  /** The kline that has just closed. */
  readonly kline: Kline;
  readonly holding: Holding;
  readonly params: ParamValues<P>;
}

/** The streams that `signals` composes. They begin with the warm-up klines; signals emitted during warm-up are dropped. */
export interface Context<P extends Params> {
  readonly params: ParamValues<P>;
  readonly symbol: string;
  readonly interval: Interval;
  readonly instrument: Instrument;
  readonly klines: Observable<Kline>;
  /**
   * Klines of a larger interval, each as it closes. When one of them closes with one of `klines`, the stream subscribed first emits first.
   * So `klines.pipe(withLatestFrom(klinesOf('60min')))` sees the larger one already.
   */
  readonly klinesOf: (larger: Interval) => Observable<Kline>;
  readonly trades: Observable<Trade>;
  readonly depth: Observable<Depth>;
  readonly ticker: Observable<Ticker>;
  readonly gaps: Observable<FeedGap>;
  /** This strategy's own fills. */
  readonly fills: Observable<Fill>;
  readonly holding: () => Holding;
}

interface Common<P extends Params> {
  /** Lower case, digits and dashes. */
  readonly name: string;
  readonly about: string;
  readonly params: P;
  /** Klines needed before the first signal, where the indicators alone need fewer. */
  warmup?(params: ParamValues<P>): number;
  /** What is wrong with a combination of parameters (`fast must be below slow`), or undefined. */
  check?(params: ParamValues<P>): string | undefined;
}

export interface DecidingStrategy<P extends Params, I extends Indicators> extends Common<P> {
  indicators(params: ParamValues<P>): I;
  /** Called after each closed kline once every indicator is warm. `undefined` (in JavaScript also `null`) repeats the last signal. */
  decide(values: ValuesOf<I>, moment: Moment<P>): Signal | undefined;
}

export interface StreamingStrategy<P extends Params> extends Common<P> {
  /** Emits signals synchronously with its inputs. A signal emitted by a timer or a promise ends a run over recorded data. */
  signals(context: Context<P>): Observable<Signal>;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds strategies of every parameter and indicator type
type Any = any;
export type Strategy = DecidingStrategy<Any, Any> | StreamingStrategy<Any>;
export const isStreaming = (strategy: Strategy): strategy is StreamingStrategy<Any> => 'signals' in strategy;

export function defineStrategy<const P extends Params, I extends Indicators>(
  strategy: DecidingStrategy<P, I>,
): DecidingStrategy<P, I>;
export function defineStrategy<const P extends Params>(strategy: StreamingStrategy<P>): StreamingStrategy<P>;
export function defineStrategy(strategy: Strategy): Strategy {
  return strategy;
}
