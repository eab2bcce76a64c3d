/** The values of indicators under their names, as a strategy reads them. */

/** Where a values object keeps what its getters read. */
export const behind = Symbol('values of a row');

/** Reads one value of what is behind the object. The same ones should serve every object: with its own, each would make the engine learn `decide` anew. */
export type Getter<Source> = (this: { readonly [behind]: Source }) => number;

/** An object with a getter for each name, by its place. Getters, since to write each value under its name at each kline takes as long as to work it out. */
export function valuesOf<Source>(
  names: readonly string[],
  source: Source,
  getter: (place: number) => Getter<Source>,
): Readonly<Record<string, number>> {
  const values = {};
  Object.defineProperty(values, behind, { value: source });
  for (const [place, name] of names.entries())
    Object.defineProperty(values, name, { enumerable: true, get: getter(place) });
  return values;
}
