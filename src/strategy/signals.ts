/** The signals of a strategy: how it makes them, and the check before anything acts on them. Strategy files are not type-checked. */

import type { Interval } from '../domain/interval.ts';
import { type Quote, type Quotes, type Signal, type Size, sameSize, sizeValue, type Target } from '../domain/order.ts';
import { sameOptions, type TargetOptions } from '../domain/target-options.ts';
import { SignalError, withStrategy } from './fault.ts';
import { refuseUndeclared } from './memory.ts';
import { copiedInMs, hasOnlyNumbers, isTargetOption, optionsFault, optionsText, twiceFault } from './target-options.ts';

/** Hold this much. Its stop, trailing stop, time exit and take-profit are in force until another target, or quotes, replaces it. */
export function hold(size: Size, reason: string, options?: TargetOptions): Target {
  // Most klines repeat the last target. Repeating the object as well halves the time of a loop over klines; it is frozen, as callers share it.
  if (options !== undefined && hasOptions(options)) return holdGuarded(size, reason, options);
  if (last.reason !== reason || !sameSize(last.size, size))
    last = made(Object.freeze({ kind: 'target', size: Object.freeze(copyOf(size)), reason }));
  return last;
}

function holdGuarded(size: Size, reason: string, options: TargetOptions): Target {
  const isRepeated = isSize(size) && lastGuarded.reason === reason && sameSize(lastGuarded.size, size);
  if (!isRepeated || !sameOptions(lastGuarded, options)) {
    const twice = twiceFault(options);
    if (twice !== undefined) throw new SignalError(`hold(): ${twice}`);
    const target = made({ kind: 'target', size, reason, ...options });
    if (isSize(size) && !isSeveral(size)) [lastGuarded, isShared] = [target, false];
    return target;
  }
  if (!isShared) lastGuarded = made(Object.freeze({ ...lastGuarded, size: Object.freeze(copyOf(lastGuarded.size)) }));
  isShared = true;
  return lastGuarded;
}

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
let isShared = true;
/** The last target of `flat`: strategies often alternate between `hold` and `flat`. */
let lastFlat = last;

/** Hold nothing. */
export function flat(reason: string): Target {
  if (lastFlat.reason !== reason) lastFlat = Object.freeze({ kind: 'target', size: nothing, reason });
  return lastFlat;
}

/** Have exactly these resting orders. */
export const quotes = (quotes: readonly Quote[], reason: string): Quotes => ({ kind: 'quotes', quotes, reason });

/**
 * Throws a `SignalError` for a signal that cannot be carried out. Returns a copy unless the signal is frozen: a strategy may change its
 * own object and emit it again, which would look like the same signal.
 */
export function checked(signal: Signal, interval: Interval): Signal {
  // Called at every kline, so it allocates only on errors and for signals that are not frozen.
  if (signal?.kind === 'quotes') {
    if (!Array.isArray(signal.quotes) || !signal.quotes.every(isQuote))
      throw new SignalError(quotesFault(signal.quotes));
    if (typeof signal.reason !== 'string') throw withoutReason(signal);
    return { ...signal, quotes: signal.quotes.map((one) => ({ ...one })) };
  }
  refusePromise(signal);
  if (signal?.kind !== 'target' || typeof signal.size !== 'object' || signal.size === null) {
    refuseUndeclared(signal);
    throw new SignalError(`neither a target nor quotes: ${shown(signal)}; use hold(), flat() or quotes()`);
  }
  const hasNumbers = hasOnlyNumbers(signal);
  const fault = targetFault(signal, hasNumbers);
  if (fault !== undefined) throw madeWith.get(signal) ?? new SignalError(fault);
  if (isSeveral(signal.size)) throw severalSizes(signal.size);
  if (typeof signal.reason !== 'string') throw withoutReason(signal);
  if (!hasNumbers) return copiedInMs(signal, interval);
  return Object.isFrozen(signal) && Object.isFrozen(signal.size) ? signal : { ...signal, size: { ...signal.size } };
}

/** Throws a `SignalError` for what an async function returned. */
export function refusePromise(returned: unknown): void {
  const then = (returned as { readonly then?: unknown } | null | undefined)?.then;
  if (typeof then !== 'function') return;
  // Nobody waits for it: where it fails, the program would end for it.
  then.call(
    returned,
    () => {},
    () => {},
  );
  throw new SignalError('a promise: return what it resolves to directly, from a function that is not async');
}

/** `checked`, with the strategy and the kline, by its open time (UTC ms), in the error. */
export function checkedOf(
  signal: Signal,
  { id, interval }: { readonly id: string; readonly interval: Interval },
  openTime: number,
): Signal {
  try {
    return checked(signal, interval);
  } catch (error) {
    throw withStrategy(error, { id, openTime });
  }
}

/** With the exits in the place of the reason, a stop would protect nothing. */
const withoutReason = (signal: Signal): SignalError =>
  new SignalError(
    `a signal whose reason is not a string: ${shown(signal)}; say hold({ quantity: 1 }, 'why', { stop: 90 }), flat('why') or quotes([…], 'why')`,
  );

const isQuote = (quote: Quote | null | undefined): boolean =>
  (quote?.side === 'BUY' || quote?.side === 'SELL') && isLevel(quote.price) && isLevel(quote.quantity);

function quotesFault(quotes: unknown): string {
  const asked = "quotes([{ side: 'BUY', price: 90, quantity: 1 }], reason)";
  if (!Array.isArray(quotes)) return `quotes that are no list: ${shown(quotes)}; say ${asked}`;
  const wrong = (quotes as (Quote | null | undefined)[]).find((quote) => !isQuote(quote));
  if (typeof wrong !== 'object' || wrong === null) return `quotes of which one is none: ${shown(quotes)}; say ${asked}`;
  return wrong.side === 'BUY' || wrong.side === 'SELL'
    ? `quotes with a number that is not finite or is negative: ${shown(wrong)}`
    : `a quote whose side is neither 'BUY' nor 'SELL': ${shown(wrong)}`;
}

/** What is wrong with the numbers of a target, or undefined. */
function targetFault(signal: Target, hasNumbers: boolean): string | undefined {
  const isValid =
    mayBeLevel(signal.limit) &&
    (!hasNumbers || (mayBeLevel(signal.stop) && mayBeLevel(signal.takeProfit) && mayBeLevel(signal.trailing))) &&
    mayBeLevel(signal.exitAfterMs);
  if (!isValid) return `a target with a number that is not finite or is negative: ${shown(signal)}`;
  const value = sizeValue(signal.size);
  if (!Number.isFinite(value)) return `a target without a finite size: ${shown(signal)}`;
  const fault = hasNumbers ? undefined : optionsFault(signal, value > 0);
  if (fault !== undefined) return `a target that cannot be carried out: ${fault}`;
  // A short position's trailing stop is above the best price, where every distance can be hit.
  return typeof signal.trailing === 'number' && signal.trailing >= 1 && value > 0
    ? `a trailing stop of ${signal.trailing}, which is never hit: it is a fraction of the best price, 0.05 is 5 %`
    : undefined;
}

/** Errors of targets, created with the target: only then does the stack name the strategy's line. */
const madeWith = new WeakMap<Target, SignalError>();

/** Checks a new target. Its error is thrown only when the strategy emits it: signals during warm-up are dropped. */
function made(target: Target): Target {
  if (typeof target.size !== 'object' || target.size === null) return target;
  const fault = targetFault(target, hasOnlyNumbers(target));
  if (fault !== undefined) madeWith.set(target, new SignalError(fault));
  return target;
}

/** True for a size with more than one unit: all but one would be ignored. */
export const isSeveral = (size: Size): boolean =>
  'quantity' in size ? 'amount' in size || 'share' in size : 'amount' in size && 'share' in size;

const severalSizes = (size: Size): SignalError =>
  new SignalError(`a target with more than one size: ${shown(size)}; say quantity, amount or share`);

/** Whether `hold` got options. Throws for an unknown one: a misspelt stop would protect nothing. */
function hasOptions(options: TargetOptions): boolean {
  let isAny = false;
  for (const key in options) {
    if (options[key as keyof TargetOptions] === undefined) continue;
    // The common ones are written out: this is called at every kline, and searching a set would double its time.
    if (
      key !== 'stop' &&
      key !== 'trailing' &&
      key !== 'takeProfit' &&
      key !== 'limit' &&
      key !== 'exitAfterMs' &&
      !isTargetOption(key)
    )
      throw new SignalError(`hold() with the unknown option ${key}; there are ${optionsText}`);
    isAny = true;
  }
  return isAny;
}

/** As JSON, with NaN, Infinity and bigints as text: JSON lacks them, and they are the error. */
const shown = (emitted: unknown): string =>
  JSON.stringify(emitted, (_, value: unknown) =>
    typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value,
  );

const isLevel = (value: number): boolean => Number.isFinite(value) && value >= 0;
const mayBeLevel = (value: unknown): boolean => value === undefined || isLevel(value as number);
