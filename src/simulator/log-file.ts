/** Where the truth log goes: a file, somebody who listens, and the newest entries in memory for the control address. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Refusal } from '../domain/refusal.ts';
import type { LogEntry } from './log.ts';

/** Entries kept in memory where somebody can ask for them; older ones are in the file, or gone. */
const newestLimit = 10_000;

export interface NumberedEntry {
  /** Counts from 1. */
  readonly number: number;
  readonly entry: LogEntry;
}

export interface TruthLog {
  readonly write: (entry: LogEntry) => void;
  /** False when entries go nowhere, so that none need be made. */
  readonly isHeard: boolean;
  /** Entries in memory with a greater number, the oldest first. */
  readonly after: (number: number, count: number) => NumberedEntry[];
  readonly size: () => number;
  readonly close: () => void;
}

export interface LogSetup {
  readonly file: string | undefined;
  readonly listener: ((entry: LogEntry) => void) | undefined;
  /** Whether the newest entries are kept in memory. */
  readonly keep: boolean;
}

/** Written at once, entry by entry: a kill -9 loses nothing of it. */
export function openLog({ file, listener, keep }: LogSetup): TruthLog {
  const descriptor = file === undefined ? undefined : openedFile(file);
  let newest: NumberedEntry[] = [];
  let count = 0;
  let closed = false;
  return {
    isHeard: keep || descriptor !== undefined || listener !== undefined,
    write(entry) {
      count++;
      if (keep) newest.push({ number: count, entry });
      if (newest.length >= 2 * newestLimit) newest = newest.slice(-newestLimit);
      if (descriptor !== undefined && !closed) writeSync(descriptor, `${JSON.stringify(entry)}\n`);
      listener?.(entry);
    },
    after: (number, most) => newest.filter((one) => one.number > number).slice(0, most),
    size: () => newest.length,
    close() {
      if (descriptor !== undefined && !closed) closeSync(descriptor);
      closed = true;
    },
  };
}

function openedFile(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw new Refusal(`cannot write the log ${file}: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
}
