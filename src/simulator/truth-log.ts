/** The truth log: a file, a listener, and the newest entries in memory for the control address. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Refusal } from '../domain/refusal.ts';
import type { LogEntry } from './log.ts';

/** Entries kept in memory; older ones are only in the file. */
const newestLimit = 10_000;

export interface NumberedEntry {
  /** Counts from 1. */
  readonly number: number;
  readonly entry: LogEntry;
}

export interface LogTargets {
  readonly file: string | undefined;
  readonly listener: ((entry: LogEntry) => void) | undefined;
  /** Whether the newest entries are kept in memory. */
  readonly keep: boolean;
}

/** Each entry is written at once: a kill -9 loses none. */
export class TruthLog {
  readonly #targets: LogTargets;
  #descriptor: number | undefined;
  #newest: NumberedEntry[] = [];
  #count = 0;

  constructor(targets: LogTargets) {
    this.#targets = targets;
    if (targets.file !== undefined) this.#descriptor = openedFile(targets.file);
  }

  /** False when entries go nowhere, so that none need to be made. */
  get isRead(): boolean {
    return this.#targets.keep || this.#targets.file !== undefined || this.#targets.listener !== undefined;
  }

  /** Number of entries in memory. */
  get size(): number {
    return this.#newest.length;
  }

  write(entry: LogEntry): void {
    this.#count++;
    if (this.#targets.keep) this.#newest.push({ number: this.#count, entry });
    if (this.#newest.length >= 2 * newestLimit) this.#newest = this.#newest.slice(-newestLimit);
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`);
    this.#targets.listener?.(entry);
  }

  /** Entries in memory with a greater number, the oldest first. */
  after(number: number): NumberedEntry[] {
    return this.#newest.filter((one) => one.number > number);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function openedFile(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw new Refusal(`cannot write the log ${file}: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
}
