/** Reads a state directory for a command, beside a running daemon or without one. */
import { join } from 'node:path';
import { Refusal } from '../../domain/refusal.ts';
import { examine } from '../../journal/examine.ts';
import { journalFile } from '../../journal/open.ts';
import { type JournalReader, openReader } from '../../journal/reader.ts';
import { refuseOld } from '../../session/preflight/journal-head-check.ts';
import { type ChosenState, chooseState, refusalOf } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';

export interface ShowOptions extends Output {
  readonly state?: string;
}

/** Opens the chosen state, shows it, and closes it whatever happens. */
export function withState(
  { state, say }: Pick<ShowOptions, 'state' | 'say'>,
  show: (reader: JournalReader, chosen: ChosenState) => void,
): void {
  const chosen = chooseState(state, say);
  thenExamined(chosen, () => {
    const reader = openReader(chosen.dir);
    try {
      show(reader, chosen);
    } finally {
      reader.close();
    }
  });
}

/** Shows a journal, then refuses (exit 3) if another program changed it: it is readable, but not reliable. */
export function thenExamined<T>(chosen: ChosenState, show: () => T): T {
  const refusal = startExamining(chosen);
  const failed = (error: unknown): never => {
    // A change may be why it cannot be read, and says more.
    throw refusal() ?? refusalOf(error, chosen.dir, 'read');
  };
  const ended = (): void => {
    const found = refusal();
    if (found !== undefined) throw new Refusal(`do not rely on this output: ${found.message}`, found.exitCode);
  };
  let shown: T;
  try {
    shown = show();
  } catch (error) {
    return failed(error);
  }
  if (shown instanceof Promise) return shown.then(ended, failed) as T;
  ended();
  return shown;
}

/** Begins to check a journal, a large one by threads. A running daemon did so at its start. */
function startExamining({ dir, running }: ChosenState): () => Refusal | undefined {
  if (running !== undefined) return () => undefined;
  const caught = (work: () => void): Refusal | undefined => {
    try {
      work();
      return undefined;
    } catch (error) {
      const refusal = refusalOf(error, dir, 'read');
      if (refusal instanceof Refusal) return refusal;
      throw error;
    }
  };
  const path = join(dir, journalFile);
  let examining: ReturnType<typeof examine>;
  const early = caught(() => {
    examining = examine(path, (db) => refuseOld(db, path, process.env));
  });
  return () => early ?? caught(() => examining?.block());
}
