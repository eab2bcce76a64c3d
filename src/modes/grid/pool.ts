/** Cells over worker threads. A cell's outcome depends on the cell alone, so it is the same for any number of workers. */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { pause, systemClock } from '../../clock/clock.ts';
import { type Columns, mapColumns } from '../../domain/market.ts';
import type { RunSeries } from '../backtest/run.ts';
import type { Cell } from './axes.ts';
import type { Outcome } from './outcome.ts';
import type { Stage } from './worker.ts';

export type Ended = 'through' | 'busy' | 'starting';

export interface GridPool {
  readonly workers: number;
  /**
   * Runs cells until all are through or `signal` says to stop; tells of each as it comes, in no fixed order. `busy` where a cell that was
   * on its way when it was told to stop did not come to an end in seconds, `starting` where threads had not begun by then.
   */
  run(cells: readonly Cell[], came: (index: number, outcome: Outcome) => void, signal?: AbortSignal): Promise<Ended>;
  close(): Promise<void>;
}

/** Klines that a task should run over, about 30 ms: short ones would wait for each other, long ones would leave a core idle at the end. */
const klinesATask = 300_000;

/** What is left, after a signal, to cells on their way, ms: a strategy that never comes back would be waited for without end. */
const lastCellsMs = 5_000;

/** Threads for each core; more only wait for each other, and take a second each to start. */
const mostACore = 4;

/** `asked`: threads, of which no more start than there are `cells`. */
export function openPool(
  given: Omit<Stage, 'begun'>,
  asked: number = availableParallelism(),
  cells: number = Number.POSITIVE_INFINITY,
): GridPool {
  const stage: Stage = { ...given, begun: new Int32Array(new SharedArrayBuffer(4)) };
  const klines = stage.series.reduce((sum, { first, end }) => sum + end - first, 0);
  const workers = Math.max(1, Math.min(asked, cells, mostACore * availableParallelism()));
  // Not so many that a thread has none: cells over few klines take long, too.
  const atOnce = Math.max(1, Math.min(64, Math.round(klinesATask / klines), Math.ceil(cells / workers)));
  const pool = new Piscina<readonly Cell[], readonly Outcome[]>({
    filename: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url).href,
    workerData: { ...stage, series: stage.series.map(shared) },
    minThreads: workers,
    maxThreads: workers,
  });
  return {
    workers,
    async run(cells, came, signal) {
      let next = 0;
      const work = async (): Promise<void> => {
        while (next < cells.length && signal?.aborted !== true) {
          const from = next;
          next += atOnce;
          const outcomes = await pool.run(cells.slice(from, from + atOnce));
          for (const [index, outcome] of outcomes.entries()) came(from + index, outcome);
        }
      };
      const ended = new AbortController();
      const all = Promise.all(Array.from({ length: workers }, work)).then((): Ended => 'through');
      const late = lateAfter(signal, ended.signal).then(
        (): Ended => (Atomics.load(stage.begun, 0) < workers ? 'starting' : 'busy'),
      );
      return Promise.race([all, late]).finally(() => ended.abort());
    },
    close: () => pool.destroy(),
  };
}

/** Resolves so long after `signal`, or once `ended`. */
function lateAfter(signal: AbortSignal | undefined, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = (): void => void pause(systemClock, lastCellsMs, ended).then(resolve);
    if (signal?.aborted === true) wait();
    else signal?.addEventListener('abort', wait, { once: true });
  });
}

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
