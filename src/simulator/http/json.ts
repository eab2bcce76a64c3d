/** JSON without losing digits: ids are longs beyond 2^53, and money is decimal text. */

/** A number written exactly as these digits, or any JSON that is written already. */
export class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export const digits = (text: string): Digits => new Digits(text);
/** JSON as it was written once, for what is sent again and again. */
export const written = (value: Json): Digits => new Digits(json(value));

export type Json =
  | string
  | number
  | boolean
  | null
  | Digits
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Text that stands in JSON as it is. */
const plainText = /^[ !#-[\]-~]*$/;
const textJson = (text: string): string => (plainText.test(text) ? `"${text}"` : JSON.stringify(text));

export function json(value: Json): string {
  if (typeof value === 'string') return textJson(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Digits) return value.text;
  let text = '';
  if (isList(value)) {
    for (const one of value) text += `${text === '' ? '' : ','}${json(one)}`;
    return `[${text}]`;
  }
  for (const key in value) {
    const field = value[key];
    if (field !== undefined) text += `${text === '' ? '' : ','}${textJson(key)}:${json(field)}`;
  }
  return `{${text}}`;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** Parses JSON; every number is what `make` makes of the text that it was written in. Undefined when it is no JSON. */
export function parseNumbers(text: string, make: (digits: string) => unknown): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? make(context?.source ?? String(value)) : value,
    );
  } catch {
    return undefined;
  }
}

/** Where a number may stand. It also matches some texts, which only costs time. */
const maybeNumber = /(^|[:[,])\s*-?\d/;

/** Parses JSON with every number as the text it was written in; undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  if (maybeNumber.test(text)) return parseNumbers(text, (written) => written);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
