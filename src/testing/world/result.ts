/** What a world is asked for, and what it came to. */
import type { Bent } from './bent.ts';
import type { Plan } from './plan.ts';
import type { Reach } from './reach.ts';
import type { Broken } from './watch.ts';

export interface WorldOptions {
  readonly plan: Plan;
  readonly bent?: Bent;
  /** D, ms; the world's own where it is left out. */
  readonly horizonMs?: number | undefined;
  /** Keeps every line of the trace. */
  readonly trace?: boolean;
}

export interface WorldResult {
  readonly seed: number;
  readonly failure: Broken | undefined;
  readonly hash: string;
  readonly steps: number;
  readonly crashes: number;
  readonly unknowns: number;
  readonly creates: number;
  readonly fills: number;
  /** Outcomes that nobody could prove. */
  readonly quarantined: number;
  readonly commits: number;
  readonly virtualMs: number;
  /** Points of a scenario at which a first and a second crash can be put. */
  readonly points: readonly number[];
  readonly reach: Reach;
  readonly trace: readonly string[];
}
