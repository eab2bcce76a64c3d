/** The glossary's words are in use, and no message says a word that it advises against. Pages are checked by `npm run prose`. */
import { expect, test } from 'vitest';
import { wordFaults } from '../tidy/prose.ts';
import { codeOfTree, filesBelow, lineAt, textOf } from '../tidy/source.ts';

const product = codeOfTree().filter(({ path }) => /^src\/(?!backtest\/engine\/|.*\.test)/.test(path));

test('each word occurs in the code or in another page', () => {
  const [, said = ''] = textOf('docs/glossary.md').split('\n## Say\n');
  const words = [...(said.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \|/gm)].map(([, word = '']) => word).slice(1);
  const pages = filesBelow('docs').filter((path) => /(?<!glossary)\.md$/.test(path));
  const all = [...pages.map(textOf), ...product.map(({ text }) => text)].join('\n').toLowerCase();
  expect(words.length).toBeGreaterThan(30);
  expect(words.filter((word) => ![word, word.replace(' ', '')].some((one) => all.includes(one.toLowerCase())))).toEqual(
    [],
  );
});

/** Texts with a space are taken for messages, apart from SQL and units of systemd. */
const isMessage = (text: string): boolean =>
  /\S\s+\S/.test(text) && !/^\[Service\]$/m.test(text) && !/\b(SELECT|INSERT|UPDATE|DELETE|CREATE)\b/.test(text);

test('no message says a word that the glossary advises against', () => {
  const faults = product.flatMap(({ path, text, nodes }) =>
    nodes.flatMap(({ node }) => {
      if (node.type !== 'Literal' && node.type !== 'TemplateElement') return [];
      const value = node.type === 'Literal' ? node['value'] : (node['value'] as { readonly raw: string }).raw;
      if (typeof value !== 'string' || !isMessage(value)) return [];
      return wordFaults(value.replace(/<[^>]*>/g, '')).map(
        (fault) => `${path}:${lineAt(text, node.start)} ${fault.text}: ${value}`,
      );
    }),
  );
  expect(faults).toEqual([]);
});
