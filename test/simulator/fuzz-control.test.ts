/** A small share of what `npm run fuzz` does to the control address, always with the same seeds. */
import { expect, test } from 'vitest';
import { fuzzControl } from '../kit/fuzz-control.ts';

test.for([1, 2])('the control address answers every bad request, and the exchange goes on, seed %i', async (seed) => {
  expect(await fuzzControl(seed, 300)).toBeGreaterThan(50);
});
