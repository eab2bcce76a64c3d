/** Saved backtests and grids for the page: only those of one folder, and none that a link leads to. */

import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type KeptRun, readRun, runIds } from '../../backtest/runs/store.ts';
import { type GridHead, savedGrids } from '../../backtest/search/saved-grids.ts';
import { gridFolder } from '../../backtest/search/store.ts';
import type { ComparisonView } from '../../dashboard/machine/comparison.ts';
import type { GridRow, Library, LibraryView, RunRow, Wanted } from '../../dashboard/machine/library.ts';
import { moduleUrl } from '../../domain/module-url.ts';
import { causeOf, orRefusal, Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import type { FromThread, Task } from './thread.ts';

/** Runs that are listed: more are in `sluice runs`. */
const maxListed = 500;
/** What a thread may use: a long backtest has many klines. */
const maxHeapMb = 4_096;

function rowOf({ id, at, configuration, code, instruments, summary }: KeptRun): RunRow {
  const { from, to, metrics, fillCount, verdict, warnings } = summary;
  return {
    ...{ id, at, file: configuration.file, set: configuration.set, from, to, fills: fillCount },
    strategies: [...new Set(code.map(({ use }) => use))],
    symbols: instruments.map(({ symbol }) => symbol),
    ...{ return: metrics.return, maxDrawdown: metrics.maxDrawdown, sharpe: metrics.sharpe },
    ...{ conclusion: verdict.conclusion, notes: warnings.length },
  };
}

function gridRowOf({ axes, ...head }: GridHead): GridRow {
  const { id, at, file, set, strategies, symbols, from, to, parameterSets, missing, objective, best } = head;
  return {
    ...{ id, at, file, set, strategies, symbols, from, to, parameterSets, missing, objective, best },
    axes: axes.map(({ param, values }) => `${param} ${values[0]} to ${values.at(-1)} (${values.length})`),
  };
}

/** A folder of its own, not a link to one elsewhere. */
const isOwn = (folder: string): boolean => lstatSync(folder).isDirectory();

export function libraryOf(dir: string): Library {
  const listed = (): readonly string[] => runIds(dir).filter((id) => isOwn(join(dir, id)));
  // A saved run never changes; a damaged one may be restored.
  const read = new Map<string, RunRow>();

  function runs(ids: readonly string[]): readonly (RunRow | Refusal)[] {
    const shown = ids.slice(0, maxListed);
    for (const id of [...read.keys()]) if (!shown.includes(id)) read.delete(id);
    return shown.map((id) => {
      const found = read.get(id) ?? orRefusal(() => rowOf(readRun(join(dir, id))));
      if (!(found instanceof Refusal)) read.set(id, found);
      return found;
    });
  }

  function list(): LibraryView {
    const ids = listed();
    const all = runs(ids);
    const { heads, others } = savedGrids(gridFolder(dir));
    const more = ids.length - maxListed;
    return {
      folder: resolve(dir),
      runs: all.flatMap((one) => (one instanceof Refusal ? [] : [one])),
      grids: heads.map(gridRowOf),
      notes: [
        ...all.flatMap((one) => (one instanceof Refusal ? [one.message] : [])),
        ...(more > 0 ? [`${counted(more, 'older run')} not listed: see sluice runs`] : []),
        ...(others > 0
          ? [`${counted(others, 'grid')} without a description: run the same command again, which takes no time`]
          : []),
      ],
    };
  }

  function own(id: string): string {
    if (listed().includes(id)) return join(dir, id);
    throw new Refusal(`there is no saved run ${id}`);
  }

  function taskOf(wanted: Wanted): Task {
    if ('grid' in wanted) return { kind: 'grid', folder: gridFolder(dir), id: wanted.grid };
    if ('run' in wanted) return { kind: 'run', folder: own(wanted.run) };
    return { kind: 'compare', folders: [...new Set(wanted.compare)].map(own) };
  }

  // Pages that ask at the same time share one thread.
  const comparing = new Map<string, Promise<ComparisonView>>();
  function compare(stateDir: string): Promise<ComparisonView> {
    const folders = listed()
      .slice(0, maxListed)
      .map((id) => join(dir, id));
    const answer =
      comparing.get(stateDir) ??
      inThread({ kind: 'live', stateDir, folders })
        .then((text) => JSON.parse(text) as ComparisonView)
        .finally(() => comparing.delete(stateDir));
    comparing.set(stateDir, answer);
    return answer;
  }

  return { list, report: async (wanted) => inThread(taskOf(wanted)), compare };
}

/** A report walks all klines of a run, a comparison all fills of a daemon. So a thread does it, and the daemons are shown meanwhile. */
function inThread(task: Task): Promise<string> {
  return new Promise((done, fail) => {
    const worker = new Worker(moduleUrl('./thread', import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    worker.once('message', (said: FromThread) => {
      if ('text' in said) done(said.text);
      else fail(new Refusal(said.refusal, 1));
    });
    worker.once('error', (error) => fail(new Refusal(`it cannot be made: ${causeOf(error)}`, 1)));
    worker.once('exit', () => fail(new Refusal('it was not made', 1)));
  });
}
