/** The tutorial on unit tests: its tests fail and pass where the page says so. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';
import { typeErrors } from '../kit/type-errors.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'tutorial', 'unit-tests.md'), 'utf8');
const at = desk();
afterAll(() => at.remove());

test('one test fails until the page fixes the strategy, then all of them pass', async () => {
  expect((await at.sluice(['init', 'my-tests'])).code).toBe(0);
  for (const [, file = '', text = ''] of page.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms))
    at.write(`my-tests/${file}`, text);
  const run = () => at.sluice(['test', 'my-tests/strategies/careful.test.ts']);
  const first = await run();
  expect(first.code).toBe(1);
  expect(first.out).toMatch(/^ℹ pass 5\nℹ fail 1$/m);
  expect(first.out).toMatch(/✖ leaves a position that has gained nothing in a day/);

  const [, file = '', fixed = ''] = /^```ts fix=(\S+)\n(.*?)^```$/ms.exec(page) ?? [];
  const lines = fixed.split('\n').filter((line) => line !== '');
  const before = readFileSync(join(at.dir, 'my-tests', file), 'utf8');
  const swapped = lines.toReversed().join('\n');
  expect(before).toContain(swapped);
  at.write(`my-tests/${file}`, before.replace(swapped, lines.join('\n')));
  const second = await run();
  expect(second.code, second.out).toBe(0);
  expect(second.out).toMatch(/^ℹ pass 6\nℹ fail 0$/m);
});

test('its code has the types that it needs', () => {
  expect(typeErrors(join(at.dir, 'my-tests'), ['strategies/careful*.ts'])).toBe('');
});
