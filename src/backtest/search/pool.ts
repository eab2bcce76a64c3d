/** Cells over worker threads. A cell's outcome depends on the cell alone, so it is the same for any number of workers. */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { pause, systemClock } from '../../clock/clock.ts';
import { type Columns, mapColumns } from '../../domain/market.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RunSeries } from '../run.ts';
import type { Outcome } from './outcome.ts';
import type { Fault, Share, Stage, Told } from './worker.ts';

export interface GridPool {
  readonly workers: number;
  /**
   * Runs the cells in these places of the grid until all are through or `signal` says to stop; tells of each as it ends, in no fixed order.
   * Resolves to those that are given up: a thread was still on them so long after `signal`. Rejects where a strategy threw beside its cells,
   * and with a `ThreadEnd`.
   */
  run(
    open: readonly number[],
    came: (index: number, outcome: Outcome) => void,
    signal?: AbortSignal,
  ): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** A thread ended while it was at a cell. */
export class ThreadEnd extends Error {
  /** The place of the cell. */
  readonly index: number;

  constructor(index: number, cause: Error) {
    super(cause.message, { cause });
    this.index = index;
  }
}

/** What is left, after a signal, to cells on their way, ms: a strategy that never comes back would be waited for without end. */
export const lastCellsMs = 5_000;

/** Threads for each core; more only wait for each other, and take a second each to start. */
const mostACore = 4;

/** `asked`: threads, of which no more start than there are `cells`. */
export function openPool(
  stage: Stage,
  asked: number = availableParallelism(),
  cells: number = Number.POSITIVE_INFINITY,
): GridPool {
  const workers = Math.max(1, Math.min(asked, cells, mostACore * availableParallelism()));
  const pool = new Piscina<Share, Fault | undefined>({
    filename: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url).href,
    workerData: { ...stage, series: stage.series.map(shared) },
    minThreads: workers,
    maxThreads: workers,
  });
  return {
    workers,
    run: (open, came, signal) => runOpen(pool, workers, open, came, signal),
    close: () => pool.destroy(),
  };
}

const errorOf = ({ fault }: Fault): unknown => (typeof fault === 'string' ? new Refusal(fault, 1) : fault);

async function runOpen(
  pool: Piscina<Share, Fault | undefined>,
  workers: number,
  open: readonly number[],
  came: (index: number, outcome: Outcome) => void,
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const taken = new Int32Array(new SharedArrayBuffer(4));
  const places = sharedPlaces(open);
  const left = new Set(open);
  let toCome = open.length;
  let atWork = workers;
  const ended = new AbortController();
  const through = Promise.withResolvers<readonly number[]>();
  // Not before the threads are through: what a strategy left to timers and promises is heard with the end of their tasks.
  const look = (): void => {
    if (atWork === 0 && open.length - left.size >= toCome) through.resolve([]);
  };
  const tell = (told: Told | Fault): void => {
    try {
      if ('fault' in told) throw errorOf(told);
      const { index, outcome } = told;
      if (left.delete(index)) came(index, outcome);
      look();
    } catch (error) {
      through.reject(error);
    }
  };
  const stop = (): void => {
    // No thread takes another one; those that have not begun yet are not waited for.
    toCome = Math.min(open.length, Atomics.exchange(taken, 0, open.length));
    look();
    void pause(systemClock, lastCellsMs, ended.signal).then(() =>
      through.resolve(open.slice(0, toCome).filter((index) => left.has(index))),
    );
  };
  const work = async (): Promise<void> => {
    const at = sharedPlaces([0]);
    const share: Share = { open: places, taken, at };
    while (Atomics.load(taken, 0) < open.length) {
      const found = await pool.run(share).catch((error: unknown): never => {
        const place = Atomics.load(at, 0);
        throw place > 0 && isThreadEnd(error) ? new ThreadEnd(place - 1, error) : error;
      });
      if (found !== undefined) throw errorOf(found);
    }
  };
  pool.on('message', tell);
  // What threads tell keeps no program up, and the last of it may come after their tasks have ended.
  const release = systemClock.at(Number.MAX_SAFE_INTEGER, () => {});
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true, signal: ended.signal });
  const rest = (): void => {
    atWork--;
    look();
  };
  for (let thread = 0; thread < workers; thread++) void work().then(rest, through.reject);
  return await through.promise.finally(() => {
    ended.abort();
    release();
    pool.off('message', tell);
  });
}

/** As Node says it of memory, and piscina of all else. */
const isThreadEnd = (error: unknown): error is Error =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') || error.message.startsWith('worker exited'));

/** The same klines in memory that threads share: each worker would hold a copy of its own otherwise. */
const shared = (series: RunSeries): RunSeries => ({
  ...series,
  columns: sharedColumns(series.columns),
  ...(series.finer === undefined ? {} : { finer: sharedColumns(series.finer) }),
});

const sharedColumns = (columns: Columns): Columns => mapColumns(columns, sharedColumn);

function sharedColumn(column: Float64Array): Float64Array {
  if (column.buffer instanceof SharedArrayBuffer) return column;
  const copy = new Float64Array(new SharedArrayBuffer(column.byteLength));
  copy.set(column);
  return copy;
}

function sharedPlaces(open: readonly number[]): Int32Array {
  const places = new Int32Array(new SharedArrayBuffer(4 * open.length));
  places.set(open);
  return places;
}
