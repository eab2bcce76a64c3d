/** A thread that runs parts of a campaign. */
import { parentPort } from 'node:worker_threads';
import { hunt, mutantOf, runPart, type Seeds } from './campaign.ts';
import { type Corner, explore } from './exhaustive.ts';

export type Task =
  | { readonly kind: 'seeds'; readonly seeds: Seeds }
  | { readonly kind: 'mutant'; readonly name: string; readonly from: number; readonly most: number }
  | { readonly kind: 'corner'; readonly corner: Corner; readonly twice: boolean };

const each = (): void => parentPort?.postMessage({ kind: 'run' });

function carriedOut(task: Task): Promise<unknown> {
  if (task.kind === 'seeds') return runPart(task.seeds, each);
  return task.kind === 'corner'
    ? explore(task.corner, { twice: task.twice, each })
    : hunt(mutantOf(task.name).bent, task.from, task.most);
}

parentPort?.on('message', (task: Task) => {
  void carriedOut(task).then((value) => parentPort?.postMessage({ kind: 'done', task, value }));
});
