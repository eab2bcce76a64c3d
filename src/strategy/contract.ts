/**
 * The contract between Sluice and a strategy. A strategy says what it wants the world to be (`Signal`); it never sees anything
 * that acts. It uses one of two layers:
 *
 * - `indicators` + `decide`: a pure function of the closed kline, indicator values and the position, which a backtest can run
 *   as a loop over columns;
 * - `signals(context)`: streams, composed freely.
 *
 * Everything a strategy remembers lives in its streams or indicators and is rebuilt from warm-up klines, so that a restart
 * and a gap are the same thing.
 */
import type { Observable } from 'rxjs';
import type { Instrument } from '../domain/instrument.ts';
import type { Interval } from '../domain/interval.ts';
import type { Depth, FeedGap, Kline, Ticker, Trade } from '../domain/market.ts';
import type { Fill, Quote, Quotes, Signal, Size, Target } from '../domain/order.ts';
import type { Indicator } from './indicators.ts';
import type { Params, ParamValues } from './params.ts';
import { isSeveral, made, refuseOthers, severalSizes } from './validate.ts';

/** What a strategy holds and has, in numbers. */
export interface Holding {
  /** Base asset held; 0 is flat. */
  readonly quantity: number;
  /** Average price of what is held; NaN when flat. */
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

/** What `signals` composes. Streams begin with the warm-up klines; wants that they lead to are dropped until live ones come. */
export interface Context<P extends Params> {
  readonly params: ParamValues<P>;
  readonly symbol: string;
  readonly interval: Interval;
  readonly instrument: Instrument;
  readonly klines: Observable<Kline>;
  /**
   * Klines of a larger interval, each as it closes. At a moment at which one of them and one of `klines` close, who subscribed first is
   * told first: `klines.pipe(withLatestFrom(klinesOf('60min')))` sees the larger one already.
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
  /** Klines that must have been seen before the first want; beyond what the indicators need by themselves. */
  warmup?(params: ParamValues<P>): number;
  /** What is wrong with a combination of parameters (`fast must be below slow`), or undefined. */
  check?(params: ParamValues<P>): string | undefined;
}

export interface DecidingStrategy<P extends Params, I extends Readonly<Record<string, Indicator>>> extends Common<P> {
  indicators(params: ParamValues<P>): I;
  /** Called after each closed kline once every indicator is warm. `undefined` says the last want again, and so does `null` in JavaScript. */
  decide(values: { readonly [Name in keyof I]: number }, moment: Moment<P>): Signal | undefined;
}

export interface StreamingStrategy<P extends Params> extends Common<P> {
  /** Says what it wants while it is told something: a want that comes of a timer or a promise ends a run over recorded data, and comes late live. */
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

/**
 * Hold this much. Its stop, trailing stop, time exit and take-profit are in force until another target, or quotes, take its place; they are
 * said here, and not put onto what this gives.
 */
export function hold(size: Size, reason: string, options?: Exits): Target {
  // Nothing here keeps options that are left out: an engine that need not make them halves the time of a loop over klines.
  if (options !== undefined && !isPlain(options)) return made({ kind: 'target', size, reason, ...options });
  // Said anew at each kline, mostly the same: then it is the same object, and a loop over klines makes none. It is everybody's, so nobody's to change.
  if (said.reason !== reason || !isSame(said.size, size))
    said = made(Object.freeze({ kind: 'target', size: Object.freeze(copyOf(size)), reason }));
  return said;
}

type Exits = Omit<Target, 'kind' | 'size' | 'reason'>;

/** Throws for what is no option: a stop whose name is misspelt would protect nothing. */
function isPlain(options: Exits): boolean {
  refuseOthers(options);
  const { limit, stop, takeProfit, trailing, exitAfterMs } = options;
  return (
    limit === undefined &&
    stop === undefined &&
    takeProfit === undefined &&
    trailing === undefined &&
    exitAfterMs === undefined
  );
}

/** The last plain target. */
let said: Target = { kind: 'target', size: { quantity: 0 }, reason: '' };

function isSame(a: Size, b: Size): boolean {
  if ('quantity' in b) return 'quantity' in a && a.quantity === b.quantity;
  if ('amount' in b) return 'amount' in a && a.amount === b.amount;
  return 'share' in a && a.share === b.share;
}

/** What was given may go on to belong to the caller; of several goals all but one would be lost here. */
function copyOf(size: Size): Size {
  if (isSeveral(size)) throw severalSizes(size);
  if ('quantity' in size) return { quantity: size.quantity };
  return 'amount' in size ? { amount: size.amount } : { share: size.share };
}

/** Hold nothing. */
export function flat(reason: string): Target {
  if (away.reason !== reason) away = Object.freeze({ kind: 'target', size: nothing, reason });
  return away;
}

const nothing: Size = Object.freeze({ quantity: 0 });
/** What was said last to hold nothing. */
let away: Target = Object.freeze({ kind: 'target', size: nothing, reason: '' });

/** Have exactly these resting orders. */
export const quotes = (quotes: readonly Quote[], reason: string): Quotes => ({ kind: 'quotes', quotes, reason });
