/** Chance in named streams: taking one fault out of a seed's plan does not move the others. */
import { type Rng, seededRng } from '../../src/clock/clock.ts';

export interface Chance {
  /** In [0, 1). */
  readonly next: Rng;
  /** True with this probability. */
  is(probability: number): boolean;
  /** A number from `low` up to but not including `high`. */
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
}

/** FNV-1a over a text, going on from a state: cheap, and the same everywhere. */
export function hashed(state: number, text: string): number {
  let hash = state;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The stream of a seed with this name. */
export function chanceOf(seed: number, name: string): Chance {
  const next = seededRng(hashed(Math.imul(seed, 0x9e3779b1) ^ 0x811c9dc5, name));
  return {
    next,
    is: (probability) => next() < probability,
    between: (low, high) => low + next() * (high - low),
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick<T>(list: readonly T[]): T {
      const chosen = list[Math.floor(next() * list.length)];
      if (chosen === undefined) throw new Error('nothing to pick from');
      return chosen;
    },
  };
}
