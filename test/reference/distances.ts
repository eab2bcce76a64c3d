/** Distances of exits that stay as they were when the position was entered. */
import type { Level, Target } from './types.ts';

/** By the exit that each belongs to. */
export type Distances = Readonly<Record<string, string>>;

/** The distances of a target that do not move. */
export function distancesOf(target: Target | undefined): Distances {
  if (target === undefined) return {};
  const { stop, trailing, breakEven, takeProfit } = target;
  const profits = Array.isArray(takeProfit)
    ? takeProfit.map(({ at }, index) => [`takeProfit ${index}`, at] as const)
    : [['takeProfit', takeProfit as Level | undefined] as const];
  const levels = [['stop', stop], ['trailing', trailing], ['after', breakEven?.after], ...profits] as const;
  return Object.fromEntries(
    levels.flatMap(([exit, level]) =>
      typeof level === 'object' && 'distance' in level && level.moving !== true ? [[exit, level.distance]] : [],
    ),
  );
}

/** Those of a position that is held already: each stays for as long as every signal has one. */
export const stayed = (before: Distances, target: Target): Distances =>
  Object.fromEntries(Object.entries(distancesOf(target)).map(([exit, distance]) => [exit, before[exit] ?? distance]));
