/** The thread that makes one report, or compares the strategies of one daemon, and ends. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { reportOfKept } from '../../backtest/runs/report-input.ts';
import { savedGridReport } from '../../backtest/search/saved-grids.ts';
import { comparisonOf } from '../../comparison/comparison.ts';
import { Refusal } from '../../domain/refusal.ts';
import { comparedText } from '../runs/compare.ts';

export type Task =
  | { readonly kind: 'run'; readonly folder: string }
  | { readonly kind: 'grid'; readonly folder: string; readonly id: string }
  | { readonly kind: 'compare'; readonly folders: readonly string[] }
  | { readonly kind: 'live'; readonly stateDir: string; readonly folders: readonly string[] };
export type FromThread = { readonly text: string } | { readonly refusal: string };

/** HTML; of `live` JSON. */
async function carryOut(task: Task): Promise<string> {
  switch (task.kind) {
    case 'run':
      return reportOfKept(task.folder);
    case 'grid':
      return savedGridReport(task.folder, task.id);
    case 'compare':
      return comparedText(task.folders);
    case 'live':
      return JSON.stringify(comparisonOf(task.stateDir, task.folders));
    default:
      return task satisfies never;
  }
}

async function answer(task: Task): Promise<FromThread> {
  try {
    return { text: await carryOut(task) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message };
    throw error;
  }
}

const port = parentPort as MessagePort;
void answer(workerData as Task).then((said) => port.postMessage(said));
