/**
 * A crash in the recovery of a crash, while a decision of two legs is carried out. The scenario, the fault and both points are drawn by a seed:
 * `SECOND_CRASHES=500 FROM=1000 npx vitest run test/world/second-crash.test.ts --testTimeout 3600000` draws more, and others.
 */
import { expect, test } from 'vitest';
import { crashTwice } from './exhaustive.ts';

const count = Number(process.env['SECOND_CRASHES'] ?? 20);
const from = Number(process.env['FROM'] ?? 1);

test('breaks no invariant', async () => {
  const failures: string[] = [];
  let twice = 0;
  for (let seed = from; seed < from + count; seed++) {
    const { crashes, failure } = await crashTwice(seed);
    if (crashes === 2) twice++;
    if (failure !== undefined)
      failures.push(`seed ${seed} ${failure.invariant}: ${failure.text}, plan ${JSON.stringify(failure.plan)}`);
  }
  expect(failures).toEqual([]);
  expect(twice).toBeGreaterThan(count * 0.8);
});
