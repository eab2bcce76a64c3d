import { expect, test } from 'vitest';
import { timesNote } from './compare.ts';

const run = (name: string, from: number, to: number) => ({ name, summary: { from, to } });

test('runs over other times are marked, and those that do not overlap by name', () => {
  expect(timesNote([run('a', 0, 10), run('b', 0, 10)])).toBeUndefined();
  expect(timesNote([run('a', 0, 10), run('b', 5, 10)])).toMatch(/overlap only in part/);
  // One ends at the close at which the other begins.
  expect(timesNote([run('a', 0, 10), run('b', 0, 5), run('c', 5, 10)])).toMatch(/^b and c do not overlap in time/);
});
