/** The prose linter finds what it is for, and leaves code and good sentences alone. */
import { expect, test } from 'vitest';
import { proseFaults } from './prose.ts';

const long = `It reads ${'and reads '.repeat(15)}on.`;

test.each([
  ['a long sentence', `Short one. ${long}`, 'a sentence of 33 words'],
  ['a long sentence in a list', `- ${long}`, 'a sentence of 33 words'],
  ['a long cell', `| a |\n|---|\n| ${'word '.repeat(15)}|`, 'a table cell of 15 words'],
  ['a wide row', `| a |\n|---|\n| \`${'x'.repeat(160)}\` |`, 'a table line of 166 characters'],
  ['a private word', 'You are told.', '"told"'],
  ['a private phrase', 'An order of zero is no order.', '"is no order"'],
])('finds %s', async (_, text, fault) => {
  expect(await proseFaults('a.md', text)).toEqual([expect.stringContaining(fault)]);
});

test.each([
  'There is no limit. The daemon is no longer there. It reports a round trip.',
  'The key `goal` is a name.',
  '```\nsluice told\n```',
])('leaves alone: %s', async (text) => {
  expect(await proseFaults('a.md', text)).toEqual([]);
});
