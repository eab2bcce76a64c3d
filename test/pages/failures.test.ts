/** The page of failures names tests that exist, and every failure of the design has one. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { kinds } from '../torture/kinds.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const rows = read('docs/reference/failures.md')
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ number: Number.parseInt(text, 10), text }));

/** `path` and title of every test that an entry cites. */
const cited = (text: string): readonly (readonly [path: string, title: string])[] =>
  [...text.matchAll(/^- `([^`]+\.test\.ts)`: `([^`]+)`$/gm)].map(([, path = '', title = '']) => [path, title]);

test('the page of failures has every failure of the design, in its order, each with a test', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 76 }, (_, index) => index + 1));
  for (const { number, text } of rows) expect([number, cited(text).length > 0]).toEqual([number, true]);
});

test('every test that the page names exists', () => {
  const gone: string[] = [];
  for (const { number, text } of rows)
    for (const [path, title] of cited(text)) {
      // The kinds of torture are titles by what they count.
      const isKind = path === 'test/torture/torture.test.ts' && kinds.some(({ counts }) => counts === title);
      if (!isKind && !read(path).includes(`${title}'`) && !read(path).includes(`${title}\``))
        gone.push(`${number}: ${path} “${title}”`);
    }
  expect(gone).toEqual([]);
});
