/** What a grid of results says beyond its best cell: which neighbourhood is good as a whole ("plateau centres"). */

/** Cells are numbered with the last axis fastest; undefined where a cell has no result. */
export interface Grid {
  /** How many values each axis has. */
  readonly sizes: readonly number[];
  readonly values: readonly (number | undefined)[];
}

export interface Plateau {
  /** The cell in its middle. */
  readonly centre: number;
  /** Every cell of it, the middle too. */
  readonly cells: readonly number[];
  readonly mean: number;
  readonly worst: number;
  readonly best: number;
}

/** The place of a cell on each axis. */
export function placeOf({ sizes }: Pick<Grid, 'sizes'>, cell: number): readonly number[] {
  const place: number[] = [];
  let rest = cell;
  for (const size of sizes.toReversed()) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return place;
}

const cellAt = (sizes: readonly number[], place: readonly number[]): number =>
  place.reduce((cell, at, axis) => cell * (sizes[axis] as number) + at, 0);

/** The cell of the highest value, the first of equals; undefined where no cell has one. */
export function bestCell({ values }: Pick<Grid, 'values'>): number | undefined {
  let best: number | undefined;
  for (const [cell, value] of values.entries())
    if (value !== undefined && (best === undefined || value > (values[best] as number))) best = cell;
  return best;
}

/**
 * The block of three values on each axis that varies whose mean is highest. Blocks are not cut at the edges: fewer neighbours would make
 * a lucky cell look like a plateau. Undefined where no block is without holes, and where an axis has two values: neither is in their middle.
 */
export function bestPlateau({ sizes, values }: Grid): Plateau | undefined {
  if (sizes.includes(2) || sizes.every((size) => size === 1)) return undefined;
  let found: Plateau | undefined;
  for (const centre of values.keys()) {
    const cells = blockAround(sizes, placeOf({ sizes }, centre));
    const inside = cells.flatMap((cell) => values[cell] ?? []);
    if (cells.length === 0 || inside.length < cells.length) continue;
    const mean = inside.reduce((sum, value) => sum + value, 0) / inside.length;
    if (found === undefined || mean > found.mean)
      found = { centre, cells, mean, worst: Math.min(...inside), best: Math.max(...inside) };
  }
  return found;
}

/** None where the block would reach beyond an edge. */
function blockAround(sizes: readonly number[], place: readonly number[]): readonly number[] {
  let places: readonly (readonly number[])[] = [[]];
  for (const [axis, size] of sizes.entries()) {
    const at = place[axis] as number;
    if (size > 1 && (at === 0 || at === size - 1)) return [];
    const along = size > 1 ? [at - 1, at, at + 1] : [at];
    places = places.flatMap((before) => along.map((one) => [...before, one]));
  }
  return places.map((one) => cellAt(sizes, one));
}

/** Rows and columns of the first two axes; each value is the best over all others. One axis alone is one row. */
export function heatOf({ sizes, values }: Grid): readonly (readonly (number | undefined)[])[] {
  const [rows, columns] = sizes.length === 1 ? [1, sizes[0] as number] : [sizes[0] as number, sizes[1] as number];
  const heat = Array.from({ length: rows }, () => new Array<number | undefined>(columns).fill(undefined));
  for (const [cell, value] of values.entries()) {
    if (value === undefined) continue;
    const place = placeOf({ sizes }, cell);
    const [row, column] = sizes.length === 1 ? [0, place[0] as number] : [place[0] as number, place[1] as number];
    const line = heat[row] as (number | undefined)[];
    line[column] = Math.max(line[column] ?? Number.NEGATIVE_INFINITY, value);
  }
  return heat;
}
