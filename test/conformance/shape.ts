/** What answers must look like, in words that say what was there instead. */
import { ok } from 'node:assert/strict';
import { inspect } from 'node:util';

export type Fields = Readonly<Record<string, unknown>>;

/** Short enough for one line of a report. */
export const shown = (value: unknown): string => {
  const text = inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY });
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

export function fields(value: unknown, what: string): Fields {
  ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${what} is no object: ${shown(value)}`);
  return value as Fields;
}

export function array(value: unknown, what: string): readonly unknown[] {
  ok(Array.isArray(value), `${what} is no array: ${shown(value)}`);
  return value;
}

export const rows = (value: unknown, what: string): readonly Fields[] =>
  array(value, what).map((one, index) => fields(one, `${what}[${index}]`));

export function text(value: unknown, what: string): string {
  ok(typeof value === 'string', `${what} is no string: ${shown(value)}`);
  return value;
}

export function oneOf<T extends string | number>(value: unknown, list: readonly T[], what: string): T {
  const found = list.find((one) => one === value);
  ok(found !== undefined, `${what} is ${shown(value)}, not one of ${list.join(', ')}`);
  return found;
}

/** A decimal: text or number (§1), plain or with an exponent. */
export function decimal(value: unknown, what: string): number {
  const written = typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  ok(written || typeof value === 'number' || typeof value === 'bigint', `${what} is no decimal: ${shown(value)}`);
  const read = Number(value);
  ok(Number.isFinite(read), `${what} is no finite decimal: ${shown(value)}`);
  return read;
}

/** A long as digits: a number, or text (§1, §2.2). */
export function long(value: unknown, what: string): string {
  const whole = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  ok(whole || (typeof value === 'string' && /^\d+$/.test(value)), `${what} is no long: ${shown(value)}`);
  return String(value);
}

/** A long that the reference gives as a number. */
export function longNumber(value: unknown, what: string): string {
  ok(typeof value === 'bigint' || typeof value === 'number', `${what} is no number: ${shown(value)}`);
  return long(value, what);
}

/** UNIX ms of this age (§1): between 2010 and 2100. */
export function ms(value: unknown, what: string): number {
  const read = Number(long(value, what));
  ok(read > 1_262_304_000_000 && read < 4_102_444_800_000, `${what} is no UNIX time in ms: ${shown(value)}`);
  return read;
}

export function flag(value: unknown, what: string): boolean {
  ok(typeof value === 'boolean', `${what} is no bool: ${shown(value)}`);
  return value;
}

export function descending(values: readonly number[], what: string, strictly = true): void {
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (before === undefined) continue;
    ok(strictly ? before > value : before >= value, `${what} does not descend at ${index}: ${before}, ${value}`);
  }
}

/** `[price, quantity]` pairs, best first (§2.5): bids descend, asks ascend, and they do not cross. */
export function book(value: unknown, sides: readonly [bids: string, asks: string], what: string): Book {
  const read = fields(value, what);
  const levels = (side: string): Level[] =>
    array(read[side], `${what}.${side}`).map((level, index) => {
      const [price, quantity] = array(level, `${what}.${side}[${index}]`);
      const at = { price: decimal(price, 'a price'), quantity: decimal(quantity, 'a quantity') };
      ok(at.price > 0 && at.quantity > 0, `${what}.${side}[${index}] is ${shown(level)}`);
      return at;
    });
  const [bids, asks] = [levels(sides[0]), levels(sides[1])];
  descending(
    bids.map(({ price }) => price),
    `${what}.${sides[0]}`,
  );
  descending(
    asks.map(({ price }) => -price),
    `${what}.${sides[1]}`,
  );
  const [bid, ask] = [bids[0], asks[0]];
  if (bid !== undefined && ask !== undefined)
    ok(bid.price < ask.price, `${what} is crossed: ${bid.price}, ${ask.price}`);
  return { bids, asks };
}
export interface Level {
  readonly price: number;
  readonly quantity: number;
}
export interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/** Open, close, high and low of a kline or of a day. */
export const figures = (row: Fields, names: readonly [open: string, close: string], what: string): readonly number[] =>
  [names[0], names[1], 'high', 'low'].map((name) => decimal(row[name], `${what}.${name}`));

/** The same, and that they make sense. */
export function prices(row: Fields, names: readonly [open: string, close: string], what: string): void {
  const [open, close, high, low] = figures(row, names, what);
  ok(Number(low) <= Math.min(Number(open), Number(close)), `${what}: low is above open or close: ${shown(row)}`);
  ok(Number(high) >= Math.max(Number(open), Number(close)), `${what}: high is below open or close: ${shown(row)}`);
}
