/** What a strategy says, before anything is done about it. */
import { type Quote, type Signal, type Size, sizeValue } from '../domain/order.ts';
import { SignalError, saidBy } from './fault.ts';

/**
 * A want that could not be carried out honestly is the strategy's fault, as a throw is. Throws a `SignalError` for one. What comes back is
 * the strategy's no more: one that changes an object of its own and says it again would say what it said before, and nothing would be done.
 */
export function checked(signal: Signal): Signal {
  // Asked at every kline, so nothing is made here unless something is wrong, or is the strategy's own to change.
  if (signal?.kind === 'quotes') {
    if (!Array.isArray(signal.quotes) || !signal.quotes.every(isQuote))
      throw new SignalError(quotesFault(signal.quotes));
    if (typeof signal.reason !== 'string') throw withoutReason(signal);
    return { ...signal, quotes: signal.quotes.map((one) => ({ ...one })) };
  }
  if (typeof (signal as { readonly then?: unknown } | null)?.then === 'function')
    throw new SignalError('a promise: return the signal directly, from a function that is not async');
  if (signal?.kind !== 'target' || typeof signal.size !== 'object' || signal.size === null)
    throw new SignalError(`neither a target nor quotes: ${shown(signal)}; use hold(), flat() or quotes()`);
  const fault = targetFault(signal);
  if (fault !== undefined) throw madeWith.get(signal) ?? new SignalError(fault);
  if (isSeveral(signal.size)) throw severalSizes(signal.size);
  if (typeof signal.reason !== 'string') throw withoutReason(signal);
  return Object.isFrozen(signal) && Object.isFrozen(signal.size) ? signal : { ...signal, size: { ...signal.size } };
}

/** The same of a strategy, at a kline that opened at a time, UTC ms. */
export function checkedOf(signal: Signal, whose: { readonly id: string }, at: number): Signal {
  try {
    return checked(signal);
  } catch (error) {
    throw saidBy(error, { id: whose.id, at });
  }
}

/** With exits in its place, a stop would protect nothing, and no journal could say why an order was sent. */
const withoutReason = (signal: Signal): SignalError =>
  new SignalError(
    `a signal whose reason is not a string: ${shown(signal)}; say hold({ quantity: 1 }, 'why', { stop: 90 }), flat('why') or quotes([…], 'why')`,
  );

const isQuote = (quote: Quote | null | undefined): boolean =>
  (quote?.side === 'BUY' || quote?.side === 'SELL') && isLevel(quote.price) && isLevel(quote.quantity);

/** What is wrong with quotes of which one is no quote; a file of one's own is not held to types. */
function quotesFault(quotes: unknown): string {
  const asked = "quotes([{ side: 'BUY', price: 90, quantity: 1 }], reason)";
  if (!Array.isArray(quotes)) return `quotes that are no list: ${shown(quotes)}; say ${asked}`;
  const wrong = (quotes as (Quote | null | undefined)[]).find((quote) => !isQuote(quote));
  if (typeof wrong !== 'object' || wrong === null) return `quotes of which one is none: ${shown(quotes)}; say ${asked}`;
  return wrong.side === 'BUY' || wrong.side === 'SELL'
    ? `quotes with a number that is not finite or is negative: ${shown(wrong)}`
    : `a quote whose side is neither 'BUY' nor 'SELL': ${shown(wrong)}`;
}

type Target = Extract<Signal, { readonly kind: 'target' }>;

/** What is wrong with the numbers of a target, or undefined. */
function targetFault(signal: Target): string | undefined {
  const isSound =
    mayBeLevel(signal.limit) &&
    mayBeLevel(signal.stop) &&
    mayBeLevel(signal.takeProfit) &&
    mayBeLevel(signal.trailing) &&
    mayBeLevel(signal.exitAfterMs);
  if (!isSound) return `a target with a number that is not finite or is negative: ${shown(signal)}`;
  const value = sizeValue(signal.size);
  if (!Number.isFinite(value)) return `a target without a finite size: ${shown(signal)}`;
  // Of a short position it stands above the best price, where every distance can be hit.
  return signal.trailing !== undefined && signal.trailing >= 1 && value > 0
    ? `a trailing stop of ${signal.trailing}, which is never hit: it is a fraction of the best price, 0.05 is 5 %`
    : undefined;
}

/** The faults that targets were made with: only where one is made does a stack name the line of the strategy. */
const madeWith = new WeakMap<Target, SignalError>();

/** The target as it was made. Its fault is thrown when it is said: what warm-up klines lead to may be what it likes. */
export function made(target: Target): Target {
  // What is no goal at all is told of when it is said.
  if (typeof target.size !== 'object' || target.size === null) return target;
  const fault = targetFault(target);
  if (fault !== undefined) madeWith.set(target, new SignalError(fault));
  return target;
}

/** A goal is one of them: of two, one would be dropped without a word. */
export const isSeveral = (size: Size): boolean =>
  'quantity' in size ? 'amount' in size || 'share' in size : 'amount' in size && 'share' in size;

export const severalSizes = (size: Size): SignalError =>
  new SignalError(`a target with more than one size: ${shown(size)}; say quantity, amount or share`);

/** Throws for an option of `hold` that there is not: a stop whose name is misspelt would protect nothing. */
export function refuseOthers(options: object): void {
  // Spelt out, as it is asked at every kline: a search through a list of them takes as long as all else.
  for (const key in options)
    if (key !== 'stop' && key !== 'trailing' && key !== 'takeProfit' && key !== 'limit' && key !== 'exitAfterMs')
      refuse(options as Readonly<Record<string, unknown>>, key);
}

function refuse(options: Readonly<Record<string, unknown>>, key: string): void {
  if (options[key] === undefined) return;
  const known = 'limit, stop, takeProfit, trailing, exitAfterMs';
  throw new SignalError(`hold() with an option that there is not, ${key}; there are ${known}`);
}

/** As JSON, but with what that has no word for: NaN and Infinity, which are what is wrong, and whole numbers of JavaScript's other kind. */
const shown = (said: unknown): string =>
  JSON.stringify(said, (_, value: unknown) =>
    typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value,
  );

const isLevel = (value: number): boolean => Number.isFinite(value) && value >= 0;
const mayBeLevel = (value: number | undefined): boolean => value === undefined || isLevel(value);
