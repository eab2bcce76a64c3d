/** Strategies that threw, as the journal keeps them for the screen and for `sluice status`. */
import type { JournalReader } from '../../journal/reader.ts';

/** Their name in the journal. */
export const stoppedName = 'stopped';

/** One that threw, at a time in UTC ms. */
export interface StoppedStrategy {
  readonly strategy: string;
  readonly at: number;
  readonly error: string;
}

/** Strategies that threw since the running daemon began. */
export const stoppedIn = (reader: Pick<JournalReader, 'memories'>): readonly StoppedStrategy[] =>
  JSON.parse(reader.memories().get(stoppedName) ?? '[]') as readonly StoppedStrategy[];
