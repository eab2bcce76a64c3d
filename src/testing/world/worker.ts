/** A thread that runs parts of a campaign. */
import { parentPort } from 'node:worker_threads';
import { hunt, mutantOf, runPart } from './campaign.ts';

export type Task =
  | { readonly kind: 'seeds'; readonly from: number; readonly to: number; readonly twice: boolean }
  | { readonly kind: 'mutant'; readonly name: string; readonly from: number; readonly most: number };

parentPort?.on('message', (task: Task) => {
  const work =
    task.kind === 'seeds'
      ? runPart(task.from, task.to, task.twice, () => parentPort?.postMessage({ kind: 'seed' }))
      : hunt(mutantOf(task.name).bent, task.from, task.most);
  void work.then((value) => parentPort?.postMessage({ kind: 'done', task, value }));
});
