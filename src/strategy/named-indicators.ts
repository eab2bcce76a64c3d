/** What `indicators()` of a strategy returns: indicators by name, some of them lines of one indicator. Everything that reads it flattens it here. */
import type { Indicator } from './indicator.ts';

/** Indicators by name. The lines of one, such as those of `macd`, are an object of their own. */
export type Indicators = Readonly<Record<string, Indicator | Readonly<Record<string, Indicator>>>>;

/** The values of indicators, under the same names. */
export type ValuesOf<I extends Indicators> = { readonly [Name in keyof I]: ValueOf<I[Name]> };
type ValueOf<One> = One extends Indicator ? number : { readonly [Line in keyof One]: number };

/** One indicator, or one line. */
export interface NamedIndicator {
  /** As messages say it: `average`, `macd.line`. */
  readonly name: string;
  readonly group: string;
  /** Undefined for an indicator of one line. */
  readonly line: string | undefined;
  readonly indicator: Indicator;
}

/** All indicators and lines, in their order. */
export const namedIndicators = (indicators: Indicators): readonly NamedIndicator[] =>
  Object.entries(indicators).flatMap(([group, one]): NamedIndicator[] =>
    isIndicator(one)
      ? [{ name: group, group, line: undefined, indicator: one }]
      : Object.entries(one).map(([line, indicator]) => ({ name: `${group}.${line}`, group, line, indicator })),
  );

/** The same indicators, each replaced. */
export const mapIndicators = (indicators: Indicators, replace: (indicator: Indicator) => Indicator): Indicators =>
  Object.fromEntries(
    Object.entries(indicators).map(([name, one]) => [
      name,
      isIndicator(one)
        ? replace(one)
        : Object.fromEntries(Object.entries(one).map(([line, indicator]) => [line, replace(indicator)])),
    ]),
  );

/** Whether a value has the members of an indicator. */
export function isIndicator(value: unknown): value is Indicator {
  if (typeof value !== 'object' || value === null) return false;
  const { warmup, column, stream } = value as Readonly<Record<string, unknown>>;
  return typeof warmup === 'number' && typeof column === 'function' && typeof stream === 'function';
}
