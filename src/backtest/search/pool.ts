/** Runs parameter sets on worker threads. An outcome depends on its set alone, so it is the same for any number of workers. */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { pause, systemClock } from '../../clock/clock.ts';
import { type Columns, mapColumns } from '../../domain/market.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import { Refusal } from '../../domain/refusal.ts';
import { unloaded } from '../../trading/load-hosted.ts';
import type { RunSeries } from '../run.ts';
import { parameterSets } from './axes.ts';
import type { Outcome } from './outcome.ts';
import type { Fault, Reply, Stage, WorkerData } from './worker.ts';

/** A thread ended while it ran a parameter set. */
export class ThreadEnd extends Error {
  readonly index: number;

  constructor(index: number, cause: Error) {
    super(cause.message, { cause });
    this.index = index;
  }
}

/** How long sets may still run after an abort, ms: a strategy that never returns would block the end for ever. */
export const lastSetsMs = 5_000;

/** More threads for each core only wait for each other, and take a second each to start. */
const maxPerCore = 4;

/** `asked`: threads, of which no more start than there are `sets` to run. */
export function openPool(
  stage: Stage,
  asked: number = availableParallelism(),
  sets: number = Number.POSITIVE_INFINITY,
) {
  const workers = Math.max(1, Math.min(asked, sets, maxPerCore * availableParallelism()));
  const isStopped = new Int32Array(new SharedArrayBuffer(4));
  const isBegun = new Uint8Array(new SharedArrayBuffer(parameterSets(stage.axes).length));
  const { input } = stage;
  const series = input.series.map(shared);
  const hosted = input.hosted.map(unloaded);
  const workerData: WorkerData = { ...stage, input: { ...input, series, hosted }, isStopped, isBegun };
  const pool = new Piscina<number, Reply>({
    filename: moduleUrl('./worker', import.meta.url).href,
    workerData,
    minThreads: workers,
    maxThreads: workers,
  });
  return {
    workers,
    run: (open: readonly number[], came: Came, signal?: AbortSignal) =>
      runSets({ pool, workers, isStopped, isBegun }, open, came, signal),
    close: () => pool.destroy(),
  };
}

export type GridPool = ReturnType<typeof openPool>;
type Came = (index: number, outcome: Outcome) => void;

/** The class of a refusal is lost between threads. */
const errorOf = ({ fault }: Fault): unknown => (typeof fault === 'string' ? new Refusal(fault, 1) : fault);

interface Threads extends Pick<WorkerData, 'isStopped' | 'isBegun'> {
  readonly pool: Piscina<number, Reply>;
  readonly workers: number;
}

/**
 * Runs the parameter sets with these indices until all are done or `signal` aborts, and calls `came` for each, in no fixed order. Resolves to
 * the sets that threads were still at `lastSetsMs` after the abort. Rejects with a `ThreadEnd`, and for errors of strategies outside a run.
 */
async function runSets(
  { pool, workers, isStopped, isBegun }: Threads,
  open: readonly number[],
  came: Came,
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const running = new Set<number>();
  const done = Promise.withResolvers<readonly number[]>();
  const ended = new AbortController();
  // After an abort, sets that no thread has begun are not waited for.
  const atWork = (): readonly number[] => [...running].filter((index) => Atomics.load(isBegun, index) === 1);
  const endIfIdle = (): void => {
    if (signal?.aborted === true && atWork().length === 0) done.resolve([]);
  };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < open.length && signal?.aborted !== true) {
      const index = open[next++] as number;
      running.add(index);
      Atomics.store(isBegun, index, 0);
      const reply = await pool.run(index).catch((error: unknown): never => {
        throw isThreadEnd(error) ? new ThreadEnd(index, error) : error;
      });
      running.delete(index);
      if (reply !== undefined) {
        if ('fault' in reply) throw errorOf(reply);
        came(index, reply);
      }
      endIfIdle();
    }
  };
  const stop = (): void => {
    Atomics.store(isStopped, 0, 1);
    endIfIdle();
    void pause(systemClock, lastSetsMs, ended.signal).then(() => done.resolve(atWork()));
  };
  // A fault is sent at once, too: the run beside it may never end.
  const failed = (fault: Fault): void => done.reject(errorOf(fault));
  pool.on('message', failed);
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true, signal: ended.signal });
  Promise.all(Array.from({ length: workers }, work)).then(() => done.resolve([]), done.reject);
  return await done.promise.finally(() => {
    ended.abort();
    pool.off('message', failed);
  });
}

/** Node has a code for the end by memory, piscina a message for all others. */
const isThreadEnd = (error: unknown): error is Error =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') || error.message.startsWith('worker exited'));

/** The same klines in memory that threads share, instead of a copy for each worker. */
const shared = (series: RunSeries): RunSeries => ({
  ...series,
  columns: sharedColumns(series.columns),
  ...(series.finer === undefined ? {} : { finer: sharedColumns(series.finer) }),
});

const sharedColumns = (columns: Columns): Columns =>
  mapColumns(columns, (column) => {
    if (column.buffer instanceof SharedArrayBuffer) return column;
    const copy = new Float64Array(new SharedArrayBuffer(column.byteLength));
    copy.set(column);
    return copy;
  });
