import { expect, test } from 'vitest';
import { maxReasonLength, statedReason } from './stated-reason.ts';

test('a reason is one line of at most 500 characters that says something', () => {
  expect(statedReason('  news\n ready: 9 strategies  ')).toBe('news ready: 9 strategies');
  expect(() => statedReason(' \n ')).toThrow(/^--reason is empty/);
  expect(() => statedReason('x'.repeat(maxReasonLength + 1))).toThrow(/^--reason has 501 characters/);
});
