/** Makes a failing plan as small as it can: classes of faults first, then events, as long as the same invariant breaks. */
import type { FaultClass, Plan } from './plan.ts';
import type { WorldOptions, WorldResult } from './result.ts';
import { runWorld } from './world.ts';

/** Which class an event belongs to: without the class the event goes as well. */
const classOf: Readonly<Record<Plan['events'][number]['kind'], FaultClass>> = {
  crash: 'crash',
  outage: 'outage',
  fullDisk: 'fullDisk',
  skew: 'skew',
  quiet: 'quiet',
  stop: 'kill',
  flatten: 'byHand',
  cancelOne: 'byHand',
  resolve: 'resolve',
  transfer: 'transfer',
  ioError: 'ioError',
  noPages: 'ioError',
  wall: 'wall',
  step: 'step',
};

export interface Shrunk {
  readonly plan: Plan;
  readonly result: WorldResult;
  /** Runs that it took. */
  readonly runs: number;
}

/** Two passes at most: what is needed after the second is taken for needed. */
const passes = 2;

export async function shrink(
  plan: Plan,
  result: WorldResult,
  world: Pick<WorldOptions, 'bent' | 'absentAfterMs'> = {},
): Promise<Shrunk> {
  let best = { plan, result };
  let runs = 0;
  const invariant = result.failure?.invariant;
  const tried = async (smaller: Plan): Promise<void> => {
    runs++;
    const again = await runWorld({ ...world, plan: smaller });
    if (again.failure !== undefined && again.failure.invariant === invariant) best = { plan: smaller, result: again };
  };
  for (let pass = 0; pass < passes; pass++) {
    const before = best.plan;
    for (const name of before.classes) {
      const classes = best.plan.classes.filter((one) => one !== name);
      await tried({ ...best.plan, classes, events: best.plan.events.filter(({ kind }) => classOf[kind] !== name) });
    }
    for (const event of before.events) {
      const events = best.plan.events.filter((one) => one !== event);
      if (events.length < best.plan.events.length) await tried({ ...best.plan, events });
    }
    if (Object.keys(best.plan.quirks).length > 0) await tried({ ...best.plan, quirks: {} });
    if (best.plan === before) break;
  }
  return { ...best, runs };
}
