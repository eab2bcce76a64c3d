/** Parameters of a request, from its query string or its JSON body, as text. */
import { MoneyError } from '../../domain/money.ts';
import { empty, malformed, missing, type Refusal, type Result, refusals } from '../core/errors.ts';
import { parseJson } from './json.ts';

/** Thrown by the readers below and turned into the reply at one place, so that endpoints read straight down. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.msg);
    this.refusal = refusal;
  }
}

export type Params = ReadonlyMap<string, unknown>;

/** A query in which nothing is escaped, as nearly all are: it is read in a fraction of the time. */
const plainQuery = /^[\w.=&-]*$/;

export function queryParams(query: string): Params {
  if (!plainQuery.test(query)) return new Map(new URLSearchParams(query));
  const params = new Map<string, unknown>();
  for (const pair of query.split('&')) {
    const at = pair.indexOf('=');
    if (at >= 0) params.set(pair.slice(0, at), pair.slice(at + 1));
    else if (pair !== '') params.set(pair, '');
  }
  return params;
}

/** An empty body has no parameters. */
export function bodyParams(body: string): Params {
  if (body.trim() === '') return new Map();
  const params = paramsOf(parseJson(body));
  if (params === undefined) throw new Refused(refusals.notJson);
  return params;
}

/** The fields of a JSON object; undefined for anything else. A Map, so that no name finds what every object has. */
export const paramsOf = (value: unknown): Params | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? new Map(Object.entries(value)) : undefined;

/** A parameter that may be absent; null counts as absent. */
export function optional(params: Params, name: string): string | undefined {
  const value = params.get(name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Refused(malformed(name));
  return value;
}

/** A parameter that counts as left out when it is empty. */
export const given = (params: Params, name: string): string | undefined => optional(params, name) || undefined;

export function required(params: Params, name: string): string {
  const value = optional(params, name);
  if (value === undefined) throw new Refused(missing(name));
  if (value === '') throw new Refused(empty(name));
  return value;
}

export function requiredList(params: Params, name: string): readonly unknown[] {
  const value = params.get(name);
  if (value === undefined || value === null) throw new Refused(missing(name));
  if (!Array.isArray(value)) throw new Refused(malformed(name));
  return value;
}

/** A whole number not below zero, or undefined when absent or empty; anything else is refused as live venues do. */
export function whole(params: Params, name: string): number | undefined {
  const value = given(params, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new Refused(refusals.wrongNumber);
  return Number(value);
}

/** Rows of a list where no number is asked for. */
const standardCount = 100;

/** How many rows to list: at least one, at most `max`. */
export const countOf = (params: Params, max: number, name = 'limit'): number =>
  Math.min(max, Math.max(1, whole(params, name) ?? standardCount));

/** Reads money; more decimals than it may have are the caller's fault. */
export function exact<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MoneyError) throw new Refused(refusals.precision);
    throw error;
  }
}

/** The value of what the exchange did; throws its refusal. */
export function valueOrRefused<T>(result: Result<T>): T {
  if (!result.ok) throw new Refused(result.refusal);
  return result.value;
}

/** Decimal text above zero; the exponent is bounded, or `1e999999999` would fill the memory. */
export function decimal(params: Params, name: string): string {
  const value = required(params, name);
  if (value.length > 64 || !/^\d+(\.\d+)?([eE][+-]?\d{1,2})?$/.test(value)) throw new Refused(malformed(name));
  return value;
}
