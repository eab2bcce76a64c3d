/** Reading JSON without losing digits, and plain readers for values whose type varies from one deployment to the next. */
import { MoneyError, type Units, units } from '../../../domain/money.ts';
import { exchangeIdPattern } from '../../../domain/order.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Numbers that a double may not hold, where a value may stand; ordinary times and sizes are not among them. */
const longNumbers =
  /(^|[:[,])(\s*)(-?(?=\d[\d.]{14}|\d[\d.]*[eE])(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=\s*(?:[,}\]]|$))/g;

/**
 * JSON in which every number keeps its digits: one that a double would change (19-digit ids, 16-decimal balances, `0E-16`) becomes
 * the text that stood there. Not for market data, where it costs more than the parsing. Throws on malformed text.
 */
export function parseExact(text: string): unknown {
  const quoted = text.replace(longNumbers, quote);
  if (quoted === text) return JSON.parse(text);
  try {
    return JSON.parse(quoted);
  } catch {
    // The pattern matched inside a text, where an inserted quote breaks the JSON; or the text is no JSON.
    return JSON.parse(text, keepDigits);
  }
}

const quote = (found: string, before: string, space: string, number: string): string =>
  String(Number(number)) === number ? found : `${before}${space}"${number}"`;

/** The same by the parser itself, ten times as slow. */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : context.source;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A non-empty text, also from a number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/**
 * A decimal number as text, for money; undefined when it is none or absurd. Amounts have 40 digits at most: an exponent of a
 * billion would be written out as a billion digits.
 */
export function decimalOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && /^[-+]?\d{1,40}(\.\d{0,40})?([eE][-+]?\d{1,2})?$/.test(text) ? text : undefined;
}

/** An amount of an asset kept whole; undefined when it is missing, no number, or has more than 18 decimals. */
export const amountOf = (value: unknown): Units | undefined => exactOf(value, units);

/** Money in whole steps; undefined when it is missing, no number, or finer than `steps` can hold. */
export function exactOf<T>(value: unknown, steps: (text: string) => T): T | undefined {
  const text = decimalOf(value);
  if (text === undefined) return undefined;
  try {
    return steps(text);
  } catch (error) {
    if (error instanceof MoneyError) return undefined;
    throw error;
  }
}

/** An id as text, from a number, a string or a list of one (all three occur in create and cancel replies). */
export function idOf(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const id = textOf(one);
  return id !== undefined && exchangeIdPattern.test(id) && !/^0+$/.test(id) ? id : undefined;
}

/** A number of the market (prices and volumes that feed indicators, times, counts); NaN when it is none. Never for money. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
}

/** Below this a time is in seconds (3 March 1973 as ms, the year 5138 as s). */
const secondsEnd = 100_000_000_000;

/** UTC ms from ms or s, as a number, digits or ISO text; undefined when absent, zero or none of these. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number' && value >= secondsEnd && value < Number.POSITIVE_INFINITY) return value;
  const number = numberOf(value);
  const time = Number.isNaN(number) && typeof value === 'string' ? Date.parse(value) : number;
  if (!Number.isFinite(time) || time <= 0) return undefined;
  return time < secondsEnd ? time * 1_000 : time;
}

export const symbolOf = (value: unknown): string | undefined => textOf(value)?.replace('/', '').toUpperCase();
