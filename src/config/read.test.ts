import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { issuesText } from '../domain/refusal.ts';
import { parseSetting, readConfig } from './read.ts';

const schema = z.object({
  strategies: z.array(z.object({ id: z.string(), params: z.record(z.string(), z.number()) })),
});

test.each([
  ['strategies.0.params.fast=7', [7, 5, 5]],
  ['strategies.1.params.fast=7', [5, 7, 5]],
  ['strategies.2.params.fast=7', [5, 5, 7]],
])('a setting of one place (%s) is none of those that the same YAML stands for', (setting, fast) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-read-'));
  const file = join(dir, 'c.yaml');
  writeFileSync(
    file,
    'strategies:\n  - &one { id: a, params: &p { fast: 5, slow: 9 } }\n  - { id: b, params: *p }\n  - *one\n',
  );
  const { strategies } = readConfig(file, schema, [parseSetting(setting)]);
  expect(strategies.map(({ params }) => params['fast'])).toEqual(fast);
  expect(strategies.map(({ params }) => params['slow'])).toEqual([9, 9, 9]);
  rmSync(dir, { recursive: true });
});

test.each(['strategies.1.id=b', 'strategies.7.id=b'])(
  'a setting of a list’s element that is not there (%s) is refused',
  (setting) => {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-read-'));
    const file = join(dir, 'c.yaml');
    writeFileSync(file, 'strategies:\n  - { id: a, params: {} }\n');
    expect(() => readConfig(file, schema, [parseSetting(setting)])).toThrow(
      `--set ${setting}: there is no such place in the configuration: strategies has 1, counted from 0`,
    );
    rmSync(dir, { recursive: true });
  },
);

test('a fault inside a structured setting is named at the setting, with what is wrong', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-read-'));
  const file = join(dir, 'c.yaml');
  writeFileSync(file, 'strategies:\n  - { id: a, params: {} }\n');
  const setting = parseSetting('strategies.0.params={fast: "five"}');
  expect(() => readConfig(file, schema, [setting])).toThrow(/--set strategies\.0\.params\.fast: .*number/i);
  rmSync(dir, { recursive: true });
});

test('what a schema finds wrong is said without its words', () => {
  const strict = z.strictObject({
    count: z.int(),
    text: z.string(),
    list: z.array(z.boolean()),
    most: z.number().max(1),
    begins: z.string().startsWith('x'),
    one: z.union([z.number(), z.boolean()]),
    name: z.enum(['a', 'b']),
  });
  const given = { count: 1.5, text: 5, list: ['x'], most: 2, begins: 'y', one: 'x', name: 'c', more: 1, other: 2 };
  const found = strict.safeParse(given);
  expect(issuesText(found.error?.issues ?? []).split('; ')).toEqual([
    'count: must be a whole number',
    'text: must be a string, not a number',
    'list.0: must be true or false, not a string',
    'most: must be at most 1',
    'begins: must start with "x"',
    'one: matches none of the allowed forms',
    'name: must be one of "a", "b"',
    'it: "more", "other" are no known keys',
  ]);
});
