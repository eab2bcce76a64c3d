/** The indicator values object that `decide` receives. */

/** The key under which a values object keeps the data that its getters read. */
export const source = Symbol('source of indicator values');

/** Reads one value. All values objects should share their getters: otherwise the engine would optimise `decide` again for each. */
export type Getter<Source> = (this: { readonly [source]: Source }) => number;

/** An object with one getter for each name. Writing all values into the object at each kline would take as long as calculating them. */
export function valuesOf<Source>(
  names: readonly string[],
  data: Source,
  getter: (index: number) => Getter<Source>,
): Readonly<Record<string, number>> {
  const values = {};
  Object.defineProperty(values, source, { value: data });
  for (const [index, name] of names.entries())
    Object.defineProperty(values, name, { enumerable: true, get: getter(index) });
  return values;
}
