/**
 * Every crash point: a scenario with a crash at each point where the process meets the outside (before and after each commit, request
 * and answer, and at each timer: between those nothing but its own memory changes), and for each of these a second crash at each point
 * of the recovery that follows, all of it once without and once with each fault.
 */
import { chanceOf } from './chance.ts';
import { type Failure, failureOf } from './failure.ts';
import { type ExactFault, exactFaults, type Plan } from './plan.ts';
import type { WorldOptions } from './result.ts';
import { type ScenarioName, scenarioNames } from './scenarios.ts';
import { runWorld } from './world.ts';

/** Those in which one decision has two legs. Every second crash of them is too many runs: seeds draw some. */
const twoLegs = ['legs', 'unwind', 'complete', 'rotate'] as const satisfies readonly ScenarioName[];

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
  quirks: {},
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

/** A world of its own, in which a decision of two legs meets a fault, a crash and a second one in the recovery, all drawn by the seed. */
export async function crashTwice(
  seed: number,
  bent: WorldOptions['bent'] = {},
): Promise<{ readonly crashes: number; readonly failure: Failure | undefined }> {
  const chance = chanceOf(seed, 'second crash');
  const corner = { scenario: chance.pick(twoLegs), fault: chance.pick(exactFaults) };
  const crashes: number[] = [];
  for (;;) {
    const plan = { ...exactPlan(corner, crashes), seed };
    const result = await runWorld({ plan, bent });
    const points = result.points[crashes.length] ?? 0;
    if (result.failure !== undefined || crashes.length === 2 || points === 0)
      return { crashes: result.crashes, failure: result.failure && failureOf(result, plan) };
    crashes.push(chance.whole(0, points - 1));
  }
}
