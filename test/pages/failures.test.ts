/** The table of failures names tests that exist, and every row of the design has one. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { kinds } from '../torture/kinds.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const rows = read('docs/reference/failures.md')
  .split('\n')
  .filter((line) => /^\| \d+ /.test(line))
  .map((line) => ({ number: Number(line.split('|')[1]), line }));

/** `path` and title of every test that a row cites. */
const cited = (line: string): readonly (readonly [path: string, title: string])[] =>
  [...line.matchAll(/`([^`]+\.test\.ts)` “([^”]+)”/g)].map(([, path = '', title = '']) => [path, title]);

test('the table of failures has every row of the design, in its order, each with a test', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 76 }, (_, index) => index + 1));
  for (const { number, line } of rows) expect([number, cited(line).length > 0]).toEqual([number, true]);
});

test('every test that the table names exists', () => {
  const gone: string[] = [];
  for (const { number, line } of rows)
    for (const [path, title] of cited(line)) {
      // The kinds of torture are titles by what they count.
      const isKind = path === 'test/torture/torture.test.ts' && kinds.some(({ counts }) => counts === title);
      if (!isKind && !read(path).includes(`${title}'`) && !read(path).includes(`${title}\``))
        gone.push(`${number}: ${path} “${title}”`);
    }
  expect(gone).toEqual([]);
});
