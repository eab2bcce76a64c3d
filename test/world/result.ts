/** What a world is asked for, and what it came to. */

import type { Disk } from './disk.ts';
import type { Time } from './life.ts';
import type { Bent } from './mutation-points.ts';
import type { Plan } from './plan.ts';
import type { Reach } from './reach.ts';
import type { Trace } from './trace.ts';
import type { Broken, Watch } from './watch.ts';

export interface WorldOptions {
  readonly plan: Plan;
  readonly bent?: Bent;
  /** D, ms; the world's own where it is left out. */
  readonly absentAfterMs?: number | undefined;
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
  /** Orders carried out after they were given up, and those of them that another one had replaced. */
  readonly late: number;
  readonly second: number;
  /** Outcomes that nobody could prove. */
  readonly quarantined: number;
  readonly commits: number;
  readonly virtualMs: number;
  /** Points of a scenario at which a first and a second crash can be put. */
  readonly points: readonly number[];
  readonly reach: Reach;
  readonly trace: readonly string[];
}

export const resultOf = (
  watch: Watch,
  time: Time,
  disk: Disk,
  trace: Trace,
): Omit<WorldResult, 'seed' | 'crashes' | 'points'> => ({
  failure: watch.failure,
  hash: trace.hash,
  steps: time.steps,
  unknowns: watch.unknowns,
  creates: watch.creates,
  fills: watch.fills,
  late: watch.givenUp.late,
  second: watch.givenUp.second,
  quarantined: watch.quarantined,
  commits: disk.commits,
  virtualMs: time.elapsed(),
  reach: watch.reach,
  trace: trace.lines,
});
