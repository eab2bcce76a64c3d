/**
 * Every crash point: a scenario with a crash at each point where the process meets the outside (before and after each commit, request
 * and answer, and at each timer: between those nothing but its own memory changes), and for each of these a second crash at each point
 * of the recovery that follows, all of it once without and once with each fault.
 */
import { type Failure, failureOf } from './failure.ts';
import { type ExactFault, exactFaults, type Plan } from './plan.ts';
import type { WorldOptions } from './result.ts';
import { type ScenarioName, scenarioNames } from './scenarios.ts';
import { runWorld } from './world.ts';

/** One scenario under one fault. */
export interface Corner {
  readonly scenario: ScenarioName;
  readonly fault: ExactFault;
}

export interface Explored {
  readonly corner: Corner;
  /** Points at which a first crash was put, and at which a second one. */
  readonly first: number;
  readonly second: number;
  readonly steps: number;
  readonly failures: readonly Failure[];
}

export const cornersOf = (scenario?: string): readonly Corner[] =>
  scenarioNames
    .filter((name) => scenario === undefined || scenario === name)
    .flatMap((name) => exactFaults.map((fault) => ({ scenario: name, fault })));

/** Failures kept of a corner; a rule that is broken is broken at many points. */
const maxFailures = 20;

export const exactPlan = ({ scenario, fault }: Corner, crashes: readonly number[]): Plan => ({
  seed: 1,
  classes: [],
  harm: 0,
  events: [],
  habits: {},
  lagMs: 0,
  lateQueue: false,
  exact: { scenario, fault, crashes },
});

export interface Exploring {
  /** Every so many-th point: 1 is all of them. */
  readonly stride?: number;
  /** Whether a second crash is put as well. */
  readonly twice?: boolean;
  /** Told of each run. */
  readonly each?: () => void;
  readonly bent?: WorldOptions['bent'];
}

/** Goes through all points of a corner. */
export async function explore(
  corner: Corner,
  { stride = 1, twice = true, each, bent = {} }: Exploring = {},
): Promise<Explored> {
  const failures: Failure[] = [];
  let steps = 0;
  const run = async (...crashes: readonly number[]): Promise<readonly number[]> => {
    const plan = exactPlan(corner, crashes);
    const result = await runWorld({ plan, bent });
    steps += result.steps;
    if (result.failure !== undefined && failures.length < maxFailures) failures.push(failureOf(result, plan));
    each?.();
    return result.points;
  };
  const [points = 0] = await run();
  let [first, second] = [0, 0];
  for (let at = 0; at < points; at += stride) {
    first++;
    const [, recovery = 0] = await run(at);
    for (let again = 0; twice && again < recovery; again += stride) {
      second++;
      await run(at, again);
    }
  }
  return { corner, first, second, steps, failures };
}
