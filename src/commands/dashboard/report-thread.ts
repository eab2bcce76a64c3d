/** The thread that makes one report for the page, and ends. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { reportOfKept } from '../../backtest/runs/report-input.ts';
import { Refusal } from '../../domain/refusal.ts';
import { savedGridReport } from '../grid/report.ts';
import { comparedText } from '../runs/compare.ts';

export type ReportTask =
  | { readonly kind: 'run'; readonly folder: string }
  | { readonly kind: 'grid'; readonly folder: string; readonly id: string }
  | { readonly kind: 'compare'; readonly folders: readonly string[] };
export type FromThread = { readonly html: string } | { readonly refusal: string };

async function make(task: ReportTask): Promise<string> {
  if (task.kind === 'run') return reportOfKept(task.folder);
  return task.kind === 'grid' ? savedGridReport(task.folder, task.id) : comparedText(task.folders);
}

async function answer(task: ReportTask): Promise<FromThread> {
  try {
    return { html: await make(task) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message };
    throw error;
  }
}

const port = parentPort as MessagePort;
void answer(workerData as ReportTask).then((said) => port.postMessage(said));
