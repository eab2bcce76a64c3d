/** Plateaus in the results of a grid: neighbourhoods of parameter sets that are all good. */

/** Parameter sets are numbered with the last axis fastest; undefined where one has no result. */
export interface Grid {
  /** How many values each axis has. */
  readonly sizes: readonly number[];
  readonly values: readonly (number | undefined)[];
}

export interface Plateau {
  /** The parameter set in its middle. */
  readonly centre: number;
  /** All its parameter sets, the middle one too. */
  readonly sets: readonly number[];
  readonly mean: number;
  readonly worst: number;
  readonly best: number;
}

/** The index of a parameter set on each axis. */
export function coordinatesOf({ sizes }: Pick<Grid, 'sizes'>, set: number): readonly number[] {
  const coordinates: number[] = [];
  let rest = set;
  for (const size of sizes.toReversed()) {
    coordinates.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return coordinates;
}

const setAt = (sizes: readonly number[], coordinates: readonly number[]): number =>
  coordinates.reduce((set, at, axis) => set * (sizes[axis] as number) + at, 0);

/** The parameter set of the highest value, the first of equals; undefined without values. */
export function bestSet({ values }: Pick<Grid, 'values'>): number | undefined {
  let best: number | undefined;
  for (const [set, value] of values.entries())
    if (value !== undefined && (best === undefined || value > (values[best] as number))) best = set;
  return best;
}

/**
 * The block with the highest mean; it has three values on each axis that varies. Blocks do not extend beyond the edges: with fewer
 * neighbours a peak would pass as a plateau. Undefined where every block has holes, and where an axis has two values: it has no middle.
 */
export function bestPlateau({ sizes, values }: Grid): Plateau | undefined {
  if (sizes.includes(2) || sizes.every((size) => size === 1)) return undefined;
  let found: Plateau | undefined;
  for (const centre of values.keys()) {
    const sets = blockAround(sizes, coordinatesOf({ sizes }, centre));
    const inside = sets.flatMap((set) => values[set] ?? []);
    if (sets.length === 0 || inside.length < sets.length) continue;
    const mean = inside.reduce((sum, value) => sum + value, 0) / inside.length;
    if (found === undefined || mean > found.mean)
      found = { centre, sets, mean, worst: Math.min(...inside), best: Math.max(...inside) };
  }
  return found;
}

/** Empty where the block would extend beyond an edge. */
function blockAround(sizes: readonly number[], centre: readonly number[]): readonly number[] {
  let block: readonly (readonly number[])[] = [[]];
  for (const [axis, size] of sizes.entries()) {
    const at = centre[axis] as number;
    if (size > 1 && (at === 0 || at === size - 1)) return [];
    const along = size > 1 ? [at - 1, at, at + 1] : [at];
    block = block.flatMap((before) => along.map((one) => [...before, one]));
  }
  return block.map((one) => setAt(sizes, one));
}

/** Rows and columns of the first two axes; each value is the best over all others. A single axis is one row. */
export function heatOf({ sizes, values }: Grid): readonly (readonly (number | undefined)[])[] {
  const [rows, columns] = sizes.length === 1 ? [1, sizes[0] as number] : [sizes[0] as number, sizes[1] as number];
  const heat = Array.from({ length: rows }, () => new Array<number | undefined>(columns).fill(undefined));
  for (const [set, value] of values.entries()) {
    if (value === undefined) continue;
    const [first = 0, second = 0] = coordinatesOf({ sizes }, set);
    const [row, column] = sizes.length === 1 ? [0, first] : [first, second];
    const line = heat[row] as (number | undefined)[];
    line[column] = Math.max(line[column] ?? Number.NEGATIVE_INFINITY, value);
  }
  return heat;
}
