/** The page that compares rulesets is of the rules as they are. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rulesetNames } from '../../src/fill/ruleset-names.ts';
import { comparedPage } from '../kit/compared-page.ts';

const written = readFileSync(new URL('../../docs/explanation/compared.md', import.meta.url), 'utf8');

test('docs/explanation/compared.md is what `npm run docs` makes', () => {
  expect(written).toBe(comparedPage());
});

test('it has a row for each ruleset in each of its tables of results', () => {
  for (const name of rulesetNames) expect(written.split(`\n| \`${name}\` `).length).toBe(4);
});
