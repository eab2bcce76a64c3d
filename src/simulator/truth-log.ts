/** The truth log: a file, a listener, and the newest entries in memory for the control address. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { causeOf, Refusal } from '../domain/refusal.ts';
import type { LogEntry } from './log.ts';

/** Entries kept in memory; older ones are only in the file. */
const newestLimit = 10_000;

interface NumberedEntry {
  /** Counts from 1. */
  readonly number: number;
  readonly entry: LogEntry;
}

export type TruthLog = ReturnType<typeof openTruthLog>;

/** Each entry is written at once: a kill -9 loses none. `keep`: whether the newest entries are kept in memory. */
export function openTruthLog(
  file: string | undefined,
  listener: ((entry: LogEntry) => void) | undefined,
  keep: boolean,
) {
  let descriptor = file === undefined ? undefined : openedFile(file);
  let newest: NumberedEntry[] = [];
  let count = 0;
  return {
    /** False when entries go nowhere, so that none need to be made. */
    isRead: keep || file !== undefined || listener !== undefined,
    /** Number of entries in memory. */
    size: (): number => newest.length,
    write: (entry: LogEntry): void => {
      count++;
      if (keep) newest.push({ number: count, entry });
      if (newest.length >= 2 * newestLimit) newest = newest.slice(-newestLimit);
      if (descriptor !== undefined) writeSync(descriptor, `${JSON.stringify(entry)}\n`);
      listener?.(entry);
    },
    /** Entries in memory with a greater number, the oldest first. */
    after: (number: number): NumberedEntry[] => newest.filter((one) => one.number > number),
    close(): void {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function openedFile(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw new Refusal(`cannot write the log ${file}: ${causeOf(error)}`, 1);
  }
}
