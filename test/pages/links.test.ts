/** Every link of a page to a page or heading of the repository leads there. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filesBelow, textOf } from '../tidy/source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '');
/** As GitHub names the headings of a page. */
const anchorsOf = (path: string): readonly string[] =>
  [...withoutCode(textOf(path)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

const pages = filesBelow('').filter((path) => path.endsWith('.md'));

test.for(pages)('the links of %s lead somewhere', (page) => {
  const links = [...withoutCode(textOf(page)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
  const broken = links.filter(([, path = '', anchor]) => {
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test('the list of pages has every page', () => {
  const listed = textOf('docs/README.md');
  const own = pages.filter((path) => /^docs\/(tutorial|how-to|reference|explanation)?\/?[^/]+\.md$/.test(path));
  expect(
    own.filter((path) => path !== 'docs/README.md' && !listed.includes(`](${path.slice('docs/'.length)})`)),
  ).toEqual([]);
});
