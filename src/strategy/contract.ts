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
import {
  type Exits,
  type Fill,
  type Quote,
  type Quotes,
  type Signal,
  type Size,
  sameExits,
  sameSize,
  type Target,
} from '../domain/order.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';
import { hasExits, isSeveral, made, severalSizes } from './validate.ts';

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

export interface DecidingStrategy<P extends Params, I extends Readonly<Record<string, Indicator>>> extends Common<P> {
  indicators(params: ParamValues<P>): I;
  /** Called after each closed kline once every indicator is warm. `undefined` (in JavaScript also `null`) repeats the last signal. */
  decide(values: { readonly [Name in keyof I]: number }, moment: Moment<P>): Signal | undefined;
}

export interface StreamingStrategy<P extends Params> extends Common<P> {
  /** Emits signals synchronously with its inputs. A signal emitted by a timer or a promise ends a run over recorded data. */
  signals(context: Context<P>): Observable<Signal>;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds strategies of every parameter and indicator type
type Any = any;
export type Strategy = DecidingStrategy<Any, Any> | StreamingStrategy<Any>;
export const isStreaming = (strategy: Strategy): strategy is StreamingStrategy<Any> => 'signals' in strategy;

export function defineStrategy<const P extends Params, I extends Readonly<Record<string, Indicator>>>(
  strategy: DecidingStrategy<P, I>,
): DecidingStrategy<P, I>;
export function defineStrategy<const P extends Params>(strategy: StreamingStrategy<P>): StreamingStrategy<P>;
export function defineStrategy(strategy: Strategy): Strategy {
  return strategy;
}

/** Hold this much. Its stop, trailing stop, time exit and take-profit are in force until another target, or quotes, replaces it. */
export function hold(size: Size, reason: string, options?: Exits): Target {
  // Most klines repeat the last target. Repeating the object as well halves the time of a loop over klines; it is frozen, as callers share it.
  if (options !== undefined && hasExits(options)) {
    const isRepeated = isSize(size) && lastGuarded.reason === reason && sameSize(lastGuarded.size, size);
    if (!isRepeated || !sameExits(lastGuarded, options)) {
      const target = made({ kind: 'target', size, reason, ...options });
      if (isSize(size)) lastGuarded = target;
      return target;
    }
    if (!Object.isFrozen(lastGuarded))
      lastGuarded = Object.freeze({ ...lastGuarded, size: Object.freeze(copyOf(lastGuarded.size)) });
    return lastGuarded;
  }
  if (last.reason !== reason || !sameSize(last.size, size))
    last = made(Object.freeze({ kind: 'target', size: Object.freeze(copyOf(size)), reason }));
  return last;
}

/** Strategy files are not type-checked. */
const isSize = (size: Size | null): boolean => typeof size === 'object' && size !== null;

/** Without what else the caller's object holds, and safe from its later changes. */
function copyOf(size: Size): Size {
  if (isSeveral(size)) throw severalSizes(size);
  if ('quantity' in size) return { quantity: size.quantity };
  return 'amount' in size ? { amount: size.amount } : { share: size.share };
}

const nothing: Size = Object.freeze({ quantity: 0 });
/** The last target without exits. */
let last: Target = Object.freeze({ kind: 'target', size: nothing, reason: '' });
/** The last target with exits; frozen once it was repeated, since most move with each kline. */
let lastGuarded = last;
/** The last target of `flat`: strategies often alternate between `hold` and `flat`. */
let lastFlat = last;

/** Hold nothing. */
export function flat(reason: string): Target {
  if (lastFlat.reason !== reason) lastFlat = Object.freeze({ kind: 'target', size: nothing, reason });
  return lastFlat;
}

/** Have exactly these resting orders. */
export const quotes = (quotes: readonly Quote[], reason: string): Quotes => ({ kind: 'quotes', quotes, reason });
