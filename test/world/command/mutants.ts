/** `--mutants`: rules broken on purpose, each to be seen within so many seeds. */
import { textTable } from '../../../src/terminal/table.ts';
import type { Killed } from '../campaign.ts';
import { mutants } from '../mutants/all.ts';
import type { Task } from '../worker.ts';
import { onThreads, out, told } from './threads.ts';

export interface HuntOptions {
  readonly from: number;
  readonly most: number;
  readonly jobs: number;
  readonly only: string | undefined;
}

export async function huntAll({ from, most, jobs, only }: HuntOptions): Promise<boolean> {
  const hunted = mutants.filter(({ name }) => only === undefined || name === only);
  if (hunted.length === 0) {
    out(`there is no mutant ${only}; there are ${mutants.map(({ name }) => name).join(', ')}`);
    return false;
  }
  const found = new Map<string, Killed | undefined>();
  await onThreads(
    hunted.map(({ name }): Task => ({ kind: 'mutant', name, from, most })),
    {
      jobs,
      ended(task, value) {
        if (task.kind === 'mutant') found.set(task.name, value as Killed | undefined);
        told(`${found.size} of ${hunted.length} mutants`);
      },
    },
  );
  const rows = hunted.map(({ name, about }) => {
    const killed = found.get(name);
    return [name, killed === undefined ? 'alive' : String(killed.seed - from + 1), killed?.invariant ?? '', about];
  });
  out(textTable(['mutant', 'seeds', 'seen by', 'what it does'], rows));
  const alive = hunted.filter(({ name }) => found.get(name) === undefined);
  out(`${hunted.length - alive.length} of ${hunted.length} mutants killed within ${most} seeds`);
  return alive.length === 0;
}
