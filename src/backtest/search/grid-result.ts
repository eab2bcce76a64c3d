/** What a grid found: its best parameter set, its best plateau, and what is said of both. */
import { grouped } from '../../domain/words.ts';
import { fewestRoundTrips } from '../../research/round-trip-figures.ts';
import { bestPlateau, bestSet, heatOf } from '../../research/significance/plateau.ts';
import { type Axis, axisNames, type ParameterSet } from './axes.ts';
import type { Objective } from './objective.ts';
import { hasRun, isFew, isRanked, type Outcome } from './outcome.ts';
import type { Overfitting } from './overfitting.ts';

export interface GridResult {
  readonly objective: Objective;
  readonly axes: readonly Axis[];
  readonly sets: readonly ParameterSet[];
  /** In the order of the sets; undefined for those that did not run. */
  readonly outcomes: readonly (Outcome | undefined)[];
  /** Of the same strategies on overlapping data, this grid counted. */
  readonly tries: number;
  readonly asset: string;
  readonly klines: number;
  /** Undefined where the sets had too many returns to save. */
  readonly doubt: Overfitting | undefined;
}

/** Whether an axis is of several words, none of which is the neighbour of another: there is no plateau along it. */
export const hasWords = (axes: readonly Axis[]): boolean =>
  axes.some(({ values }) => values.length > 1 && typeof values[0] !== 'number');

/** Sets that are not ranked, or have no such figure, are holes. */
export function findIn({ objective, axes, outcomes }: Pick<GridResult, 'objective' | 'axes' | 'outcomes'>) {
  const sizes = axes.map(({ values }) => values.length);
  const values = outcomes.map((one) => (isRanked(one) ? objective.figureOf(one) : undefined));
  const grid = { sizes, values };
  const plateau = hasWords(axes) ? undefined : bestPlateau(grid);
  return { best: bestSet(grid), plateau, heat: heatOf(grid) };
}

export type Found = ReturnType<typeof findIn>;

export const setText = (axes: readonly Axis[], set: ParameterSet | undefined): string =>
  axisNames(axes)
    .map((name, index) => `${name} ${set?.[index]}`)
    .join(', ');

/** How many sets did not run before the grid was stopped. */
export const missingIn = ({ outcomes }: Pick<GridResult, 'outcomes'>): number =>
  outcomes.filter((one) => one === undefined).length;

/** How many sets are not ranked, and why; undefined where every set that ran is ranked. */
export function fewText({ outcomes }: Pick<GridResult, 'outcomes'>): string | undefined {
  const few = outcomes.filter(isFew).length;
  if (few === 0) return undefined;
  const ran = outcomes.filter(hasRun).length;
  return few === ran
    ? `no parameter set closed ${fewestRoundTrips} round trips, so there is no best one`
    : `${grouped(few)} of ${grouped(ran)} parameter sets closed fewer than ${fewestRoundTrips} round trips: too few to rank`;
}

/** How many sets a limit stopped before their end: beside whole ones they say little. */
export function stoppedText({ outcomes }: Pick<GridResult, 'outcomes'>, best: Found['best']): readonly string[] {
  const stopped = outcomes.filter((one) => hasRun(one) && one.kills.length > 0).length;
  if (stopped === 0) return [];
  const of = `${grouped(stopped)} of ${grouped(outcomes.filter(hasRun).length)} parameter sets, by a limit`;
  if (best === undefined) return [of];
  const winner = outcomes[best];
  const why = hasRun(winner) ? winner.kills[0] : undefined;
  return [why === undefined ? `${of}, not the best one` : `${of}, including the best: ${why}`];
}
