/** The indicator values object that `decide` receives. */
import type { NamedIndicator } from './named-indicators.ts';

/** Values by name; the lines of one indicator are an object of their own. */
export type Values = Readonly<Record<string, number | Readonly<Record<string, number>>>>;

/** The key under which a values object keeps the data that its getters read. */
export const source = Symbol('source of indicator values');

/** Reads one value. All values objects should share their getters: otherwise the engine would optimise `decide` again for each. */
export type Getter<Source> = (this: { readonly [source]: Source }) => number;

/** An object with one getter for each value. Writing all values into the object at each kline would take as long as calculating them. */
export function valuesOf<Source>(
  indicators: readonly Pick<NamedIndicator, 'group' | 'line'>[],
  data: Source,
  getter: (index: number) => Getter<Source>,
): Values {
  const values = holding(data);
  for (const [index, { group, line }] of indicators.entries()) {
    if (line !== undefined && !Object.hasOwn(values, group))
      Object.defineProperty(values, group, { enumerable: true, value: holding(data) });
    const owner = line === undefined ? values : values[group];
    Object.defineProperty(owner, line ?? group, { enumerable: true, get: getter(index) });
  }
  return values as Values;
}

function holding<Source>(data: Source): Record<string, object> {
  const values = {};
  Object.defineProperty(values, source, { value: data });
  return values;
}

/** The values as they are now. */
export const copyOfValues = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? value : { ...value }]),
  );

/** The values by the names of `namedIndicators`. */
export const flatValues = (values: Values): readonly (readonly [name: string, value: number])[] =>
  Object.entries(values).flatMap(([name, value]): (readonly [string, number])[] =>
    typeof value === 'number'
      ? [[name, value]]
      : Object.entries(value).map(([line, one]) => [`${name}.${line}`, one] as const),
  );
