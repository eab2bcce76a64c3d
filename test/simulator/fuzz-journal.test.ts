/** A small share of what `npm run fuzz` does to journals, always with the same seeds. */
import { expect, test } from 'vitest';
import { fuzzJournal } from '../kit/fuzz-journal.ts';

test.for([1, 2])('a journal with changed bits is refused, or holds what it held, seed %i', async (seed) => {
  const { refused, same } = await fuzzJournal(seed, 40);
  expect(refused).toBeGreaterThan(10);
  expect(same).toBeGreaterThan(0);
});
