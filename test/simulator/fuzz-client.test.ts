/** A small share of `npm run fuzz`, always with the same seeds. */
import { describe, expect, test } from 'vitest';
import { fuzzFramesInTime } from '../kit/fuzz-frames-thread.ts';
import { fuzzReplies, goodReplies } from '../kit/fuzz-replies.ts';

describe('the client never breaks', () => {
  test.for([1, 2, 3])('on bad frames, seed %i, and believes only what makes sense', async (seed) => {
    expect(await fuzzFramesInTime(seed, 400, 15_000)).toBeGreaterThan(20);
  });

  test.for([1, 2, 3])('on bad replies, seed %i', async (seed) => {
    expect(await fuzzReplies(seed, 600)).toBeGreaterThan(20);
  });

  test('and takes each good reply that the bad ones are made of', async () => {
    expect(await goodReplies()).toEqual([]);
  });
});
