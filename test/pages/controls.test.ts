/** The controls: the page is made of the list, and every rule that refuses says so in a sentence of its own. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { denialText } from '../../src/domain/words.ts';
import { rules } from '../../src/risk/rules.ts';
import { controlsPage } from '../kit/controls-page.ts';

test('controls.md is what `npm run docs` makes', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/reference/controls.md', import.meta.url)), 'utf8');
  expect(page).toBe(controlsPage());
});

describe('a refusal', () => {
  test.each(Object.keys(rules))('by %s has a sentence', (code) => {
    expect(denialText({ code, facts: {} })).not.toMatch(/^Denied by/);
  });
});
