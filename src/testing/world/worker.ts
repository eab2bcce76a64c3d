/** A thread that runs parts of a campaign. */
import { parentPort } from 'node:worker_threads';
import { hunt, mutantOf, runPart, type Seeds } from './campaign.ts';

export type Task =
  | { readonly kind: 'seeds'; readonly seeds: Seeds }
  | { readonly kind: 'mutant'; readonly name: string; readonly from: number; readonly most: number };

parentPort?.on('message', (task: Task) => {
  const work =
    task.kind === 'seeds'
      ? runPart(task.seeds, () => parentPort?.postMessage({ kind: 'seed' }))
      : hunt(mutantOf(task.name).bent, task.from, task.most);
  void work.then((value) => parentPort?.postMessage({ kind: 'done', task, value }));
});
