/** A rule of the protocol broken on purpose, to show that the invariants see it. */
import type { Journal } from '../../../src/journal/journal.ts';
import type { Bent } from '../mutation-points.ts';

export interface Mutant {
  readonly name: string;
  /** What is wrong with it, and who is known to do it so. */
  readonly about: string;
  readonly bent: Bent;
}

/** The same journal with something about it changed. */
export const changed = (journal: Journal, change: Partial<Journal>): Journal => ({
  ...journal,
  get full() {
    return journal.full;
  },
  ...change,
});
