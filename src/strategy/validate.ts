/** What a strategy says, before anything is done about it. */
import type { Goal, Quote, Want } from '../domain/order.ts';
import { saidBy, WantError } from './fault.ts';

/**
 * A want that could not be carried out honestly is the strategy's fault, as a throw is. Throws a `WantError` for one. What comes back is
 * the strategy's no more: one that changes an object of its own and says it again would say what it said before, and nothing would be done.
 */
export function checked(want: Want): Want {
  // Asked at every kline, so nothing is made here unless something is wrong, or is the strategy's own to change.
  if (want?.kind === 'quotes') {
    if (!Array.isArray(want.quotes) || !want.quotes.every(isQuote)) throw new WantError(quotesFault(want.quotes));
    if (typeof want.reason !== 'string') throw withoutReason(want);
    return { ...want, quotes: want.quotes.map((one) => ({ ...one })) };
  }
  if (typeof (want as { readonly then?: unknown } | null)?.then === 'function')
    throw new WantError('a promise: return the signal directly, from a function that is not async');
  if (want?.kind !== 'target' || typeof want.goal !== 'object' || want.goal === null)
    throw new WantError(`neither a target nor quotes: ${shown(want)}; use hold(), flat() or quotes()`);
  const fault = targetFault(want);
  if (fault !== undefined) throw madeWith.get(want) ?? new WantError(fault);
  if (isSeveral(want.goal)) throw severalGoals(want.goal);
  if (typeof want.reason !== 'string') throw withoutReason(want);
  return Object.isFrozen(want) && Object.isFrozen(want.goal) ? want : { ...want, goal: { ...want.goal } };
}

/** The same of a strategy, at a kline that opened at a time, UTC ms. */
export function checkedOf(want: Want, whose: { readonly id: string }, at: number): Want {
  try {
    return checked(want);
  } catch (error) {
    throw saidBy(error, { id: whose.id, at });
  }
}

/** With exits in its place, a stop would protect nothing, and no journal could say why an order was sent. */
const withoutReason = (want: Want): WantError =>
  new WantError(
    `a signal whose reason is not a string: ${shown(want)}; say hold({ quantity: 1 }, 'why', { stop: 90 }), flat('why') or quotes([…], 'why')`,
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

type Target = Extract<Want, { readonly kind: 'target' }>;

/** What is wrong with the numbers of a target, or undefined. */
function targetFault(want: Target): string | undefined {
  const isSound =
    mayBeLevel(want.limit) &&
    mayBeLevel(want.stop) &&
    mayBeLevel(want.takeProfit) &&
    mayBeLevel(want.trailing) &&
    mayBeLevel(want.exitAfterMs);
  if (!isSound) return `a target with a number that is not finite or is negative: ${shown(want)}`;
  const size = sizeOf(want.goal);
  if (!Number.isFinite(size)) return `a target without a finite size: ${shown(want)}`;
  // Of a short position it stands above the best price, where every distance can be hit.
  return want.trailing !== undefined && want.trailing >= 1 && size > 0
    ? `a trailing stop of ${want.trailing}, which is never hit: it is a fraction of the best price, 0.05 is 5 %`
    : undefined;
}

/** The faults that targets were made with: only where one is made does a stack name the line of the strategy. */
const madeWith = new WeakMap<Target, WantError>();

/** The target as it was made. Its fault is thrown when it is said: what warm-up klines lead to may be what it likes. */
export function made(target: Target): Target {
  // What is no goal at all is told of when it is said.
  if (typeof target.goal !== 'object' || target.goal === null) return target;
  const fault = targetFault(target);
  if (fault !== undefined) madeWith.set(target, new WantError(fault));
  return target;
}

/** A goal is one of them: of two, one would be dropped without a word. */
export const isSeveral = (goal: Goal): boolean =>
  'quantity' in goal ? 'amount' in goal || 'share' in goal : 'amount' in goal && 'share' in goal;

export const severalGoals = (goal: Goal): WantError =>
  new WantError(`a target with more than one size: ${shown(goal)}; say quantity, amount or share`);

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
  throw new WantError(`hold() with an option that there is not, ${key}; there are ${known}`);
}

/** As JSON, but with what that has no word for: NaN and Infinity, which are what is wrong, and whole numbers of JavaScript's other kind. */
const shown = (said: unknown): string =>
  JSON.stringify(said, (_, value: unknown) =>
    typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value,
  );

const isLevel = (value: number): boolean => Number.isFinite(value) && value >= 0;
const mayBeLevel = (value: number | undefined): boolean => value === undefined || isLevel(value);
const sizeOf = (goal: Goal): number =>
  'quantity' in goal ? goal.quantity : 'amount' in goal ? goal.amount : goal.share;
