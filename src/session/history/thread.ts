/** The thread that reads the journal for the dashboard: years of fills are read beside trading, never in its way. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { openReader } from '../../journal/reader.ts';
import { type AnyQuestion, answer } from './answer.ts';
import { Performance } from './performance.ts';

export type FromThread = { readonly answer: unknown } | { readonly refusal: string } | { readonly fault: string };

const port = parentPort as MessagePort;
const dir = workerData as string;
const performance = new Performance();
port.on('message', (given: AnyQuestion) => port.postMessage(answered(given)));

function answered(given: AnyQuestion): FromThread {
  // Opened anew each time: a connection that stays open would keep the log of the journal from being folded in.
  const reader = openReader(dir);
  try {
    return { answer: answer(reader, dir, given, performance) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message };
    return { fault: causeOf(error) };
  } finally {
    reader.close();
  }
}
