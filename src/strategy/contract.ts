/**
 * The contract between Sluice and a strategy. A strategy emits signals, which are desired states; it cannot send orders. It uses one of
 * two layers:
 *
 * - `indicators` and `decide`: a pure function of the closed kline, indicator values and the position. With `markets` it sees several markets
 *   at once, each under a name of its own; with `choose` it picks among a list of markets;
 * - `signals(context)`: streams, composed freely.
 *
 * A strategy keeps state only in its streams, its indicators and the memory that it declares. Warm-up klines rebuild streams and indicators,
 * after a restart as after a gap. The journal has the memory.
 */
import type { Observable } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { Memory } from '../domain/memory.ts';
import type { AlonePolicy, Fill, Signal } from '../domain/order.ts';
import type { Exit } from '../domain/position.ts';
import type { EntryOption, TargetOptions } from '../domain/target-options.ts';
import type { Rebalance } from './markets/schedule.ts';
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
  /** UTC ms of the first fill of the position; NaN when flat. */
  readonly entryTime: number;
  /** Klines of the strategy's interval that closed since the entry, by the time; 0 when flat. */
  readonly klinesHeld: number;
  /** The best price since the entry, in quote: the highest of a long position, the lowest of a short one. NaN when flat. */
  readonly best: number;
  /** The worst price since the entry, in quote; NaN when flat. */
  readonly worst: number;
  /** Open profit at the last close, in quote, fees not counted; 0 when flat. */
  readonly profit: number;
  /** Closed profit less fees of this strategy in this market since it began, in quote. */
  readonly realisedNet: number;
  /** How the position before ended; undefined where there was none. */
  readonly lastExit: LastExit | undefined;
}

/** How a position ended. */
export interface LastExit extends Exit {
  /** Klines of the strategy's interval that closed since. */
  readonly klinesAgo: number;
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

/** The compiler infers `false` where the initial value is false. */
type Widened<T> = { readonly [Key in keyof T]: T[Key] extends boolean ? boolean : T[Key] };
/** What strategies with a memory see besides: the last value that they returned, frozen. */
type Remembered<S> = S extends Memory ? { readonly memory: Widened<S> } : unknown;
/** What they may return: the next memory, with what they decided, or alone to repeat that. */
type Remembering<S, Beside extends string, T> = S extends Memory
  ? { readonly memory: NoInfer<Widened<S>> } & { readonly [Key in Beside]?: T | undefined }
  : never;
/** Its initial value. */
interface WithMemory<S> {
  readonly memory?: S;
}

export interface DecidingStrategy<P extends Params, I extends Indicators, S extends Memory | undefined = undefined>
  extends Common<P>,
    WithMemory<S> {
  indicators(params: ParamValues<P>): I;
  /** Called after each closed kline once every indicator is warm. `undefined` (in JavaScript also `null`) repeats the last signal. */
  decide(values: ValuesOf<I>, moment: Moment<P> & Remembered<S>): Signal | Remembering<S, 'signal', Signal> | undefined;
}

/** `traded`: it may have positions there. `data`: its klines alone are read, such as those of a trend filter. */
export type MarketUse = 'traded' | 'data';
type TradedOf<M> = { [Role in keyof M]: M[Role] extends 'traded' ? Role : never }[keyof M];

/** What `decide` of several markets sees besides its indicators. */
export interface MarketsMoment<P extends Params, M> {
  /** When the klines closed, UTC ms. */
  readonly time: number;
  /** The last closed kline of each market; undefined where it should have closed by now and is missing. */
  readonly klines: { readonly [Role in keyof M]: Kline | undefined };
  readonly holdings: { readonly [Role in TradedOf<M>]: Holding };
  /** Of all its markets together: allocation plus profit, open and closed, fees taken, in quote. */
  readonly equity: number;
  readonly params: ParamValues<P>;
}

/** The signals of one decision, by role. A market that is left out repeats its last signal. */
export type Legs<M> = { readonly [Role in TradedOf<M>]?: Signal };

/** Decides on several markets at once, which the configuration binds to symbols. */
export interface MarketsStrategy<
  P extends Params,
  M extends Readonly<Record<string, MarketUse>>,
  I extends Indicators,
  S extends Memory | undefined = undefined,
> extends Common<P>,
    WithMemory<S> {
  /** Its markets by role, such as `{ lead: 'traded', trend: 'data' }`. */
  readonly markets: M;
  /** True: `decide` is called also while a market has no kline or an indicator no value. */
  readonly allowMissing?: boolean;
  /** What becomes of a traded market with a position while another that the last decision asked for has none. */
  readonly legsAlone?: AlonePolicy;
  /** Each indicator names its market: `of('lead', sma('close', 20))`. */
  indicators(params: ParamValues<P>): I;
  /** Called with each moment at which a kline closes, once all markets have one and all indicators are warm. `undefined` repeats the last signals. */
  decide(
    values: ValuesOf<I>,
    moment: MarketsMoment<P, M> & Remembered<S>,
  ): Legs<M> | Remembering<S, 'legs', Legs<M>> | undefined;
}

/** A market of a list at one moment. One object for all moments: keep its `kline`, or copy it, to compare it with a later one. */
export interface ListMarket<I extends Indicators> {
  readonly symbol: string;
  readonly kline: Kline;
  readonly values: ValuesOf<I>;
  readonly holding: Holding;
}

/** Picks among a list of symbols, which the configuration gives. */
export interface ListStrategy<P extends Params, I extends Indicators, S extends Memory | undefined = undefined>
  extends Common<P>,
    WithMemory<S> {
  /** When it chooses: at each close, at the closes of a larger interval such as `1week`, or by a cron expression in UTC, such as `0 8 * * 1`. */
  readonly rebalance?: Rebalance;
  /** Those of each market. */
  indicators(params: ParamValues<P>): I;
  /** Called with the markets that have a kline now and whose indicators are warm. Those that its weights do not name are left. */
  choose(
    markets: readonly ListMarket<I>[],
    moment: { readonly time: number; readonly equity: number; readonly params: ParamValues<P> } & Remembered<S>,
  ): Weights | Remembering<S, 'weights', Weights> | undefined;
}

/** Shares of the strategy's equity to hold, by symbol. */
export interface Weights {
  readonly kind: 'weights';
  readonly weights: Readonly<Record<string, number>>;
  readonly reason: string;
  /** A position whose share differs from its weight by less is left as it is. */
  readonly threshold: number;
  /** How positions end between two choices, by symbol. */
  readonly exits?: Readonly<Record<string, WeightExits>>;
}

/** What `hold` takes, but for how an entry is made. */
export type WeightExits = Omit<TargetOptions, EntryOption>;

export interface StreamingStrategy<P extends Params> extends Common<P> {
  /** Emits signals synchronously with its inputs. A signal emitted by a timer or a promise ends a run over recorded data. */
  signals(context: Context<P>): Observable<Signal>;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds strategies of every parameter and indicator type
type Any = any;
export type SeveralMarkets = MarketsStrategy<Any, Any, Any, Any> | ListStrategy<Any, Any, Any>;
export type Strategy = DecidingStrategy<Any, Any, Any> | StreamingStrategy<Any> | SeveralMarkets;
export const isStreaming = (strategy: Strategy): strategy is StreamingStrategy<Any> => 'signals' in strategy;
export const hasList = (strategy: Strategy): strategy is ListStrategy<Any, Any, Any> => 'choose' in strategy;
export const hasRoles = (strategy: Strategy): strategy is MarketsStrategy<Any, Any, Any, Any> => 'markets' in strategy;
/** It decides on the klines of one market. */
export const isDeciding = (strategy: Strategy): strategy is DecidingStrategy<Any, Any, Any> =>
  !isStreaming(strategy) && !hasSeveralMarkets(strategy);
/** It decides on several markets at once. */
export const hasSeveralMarkets = (strategy: Strategy): strategy is SeveralMarkets =>
  hasList(strategy) || hasRoles(strategy);

// The last is the one that a compiler's message is about: most strategies are of it.
export function defineStrategy<const P extends Params>(strategy: StreamingStrategy<P>): StreamingStrategy<P>;
export function defineStrategy<
  const P extends Params,
  const M extends Readonly<Record<string, MarketUse>>,
  I extends Indicators,
  S extends Memory | undefined = undefined,
>(strategy: MarketsStrategy<P, M, I, S>): MarketsStrategy<P, M, I, S>;
export function defineStrategy<const P extends Params, I extends Indicators, S extends Memory | undefined = undefined>(
  strategy: ListStrategy<P, I, S>,
): ListStrategy<P, I, S>;
export function defineStrategy<const P extends Params, I extends Indicators, S extends Memory | undefined = undefined>(
  strategy: DecidingStrategy<P, I, S>,
): DecidingStrategy<P, I, S>;
export function defineStrategy(strategy: Strategy): Strategy {
  return strategy;
}
