/** Tasks on several threads, with a line that tells how far they are. */
import { Worker } from 'node:worker_threads';
import { realMs } from '../../../src/clock/clock.ts';
import type { Task } from '../worker.ts';

/** Room for what lives for a step only, MB: the collector takes a tenth of a seed otherwise. */
const youngMb = 192;

export const out = (line: string): void => void process.stdout.write(`${line}\n`);

/** A line that stays in its place, where there is a terminal; an empty one takes it away. */
export const told = (line: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
};

export interface Going {
  readonly jobs: number;
  /** Told of each task that has ended, with what it came to. */
  readonly ended: (task: Task, value: unknown) => void;
  /** Told of each run, with how many there were and how many a second. */
  readonly ran?: (runs: number, perSecond: number) => void;
}

/** What it took. */
export interface Took {
  readonly ms: number;
  readonly runs: number;
  /** ms of processor of all threads. */
  readonly cpuMs: number;
}

/** Carries tasks out, as many at a time as there are threads. */
export async function onThreads(tasks: readonly Task[], { jobs, ended, ran }: Going): Promise<Took> {
  const left = [...tasks];
  const [startedAt, cpu] = [realMs(), process.cpuUsage()];
  let runs = 0;
  const run = (): void => {
    runs++;
    ran?.(runs, (runs * 1_000) / (realMs() - startedAt));
  };
  await Promise.all(
    Array.from({ length: Math.min(jobs, tasks.length) }, async () => {
      const worker = new Worker(new URL('../worker.ts', import.meta.url), {
        resourceLimits: { maxYoungGenerationSizeMb: youngMb },
      });
      try {
        for (let task = left.shift(); task !== undefined; task = left.shift())
          ended(task, await answered(worker, task, run));
      } finally {
        await worker.terminate();
      }
    }),
  );
  told('');
  const { user, system } = process.cpuUsage(cpu);
  return { ms: realMs() - startedAt, runs, cpuMs: (user + system) / 1_000 };
}

function answered(worker: Worker, task: Task, run: () => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const hear = (said: { kind: 'run' } | { kind: 'done'; value: unknown }): void => {
      if (said.kind === 'run') {
        run();
        return;
      }
      worker.off('message', hear);
      worker.off('error', reject);
      resolve(said.value);
    };
    worker.on('message', hear);
    worker.once('error', reject);
    worker.postMessage(task);
  });
}
