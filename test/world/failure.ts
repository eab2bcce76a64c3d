/** How a run failed, with all that is needed to see it again. */
import type { Plan } from './plan.ts';
import type { WorldResult } from './result.ts';

export interface Failure {
  readonly seed: number;
  readonly invariant: string;
  readonly text: string;
  readonly atMs: number;
  readonly plan: Plan;
  readonly trace: readonly string[];
}

export const failureOf = ({ seed, failure, trace }: WorldResult, plan: Plan): Failure => ({
  seed,
  invariant: failure?.invariant ?? '',
  text: failure?.text ?? '',
  atMs: failure?.atMs ?? 0,
  plan,
  trace,
});
