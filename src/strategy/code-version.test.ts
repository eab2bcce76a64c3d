import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { codeHash } from './code-version.ts';

test('a strategy is another version when anything that it imports changes, a table as well', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-code-'));
  const write = (name: string, text: string): void => writeFileSync(join(dir, name), text);
  write('mine.ts', "import { level } from './levels.ts';\nimport table from './table.json' with { type: 'json' };\n");
  write('levels.ts', "import more from './more.json' with { type: 'json' };\n");
  write('table.json', '[1]');
  write('more.json', '[2]');
  const hashes = [codeHash('mine.ts', dir)];
  for (const [name, text] of [
    ['table.json', '[3]'],
    ['more.json', '[4]'],
    ['levels.ts', ''],
  ] as const) {
    write(name, text);
    hashes.push(codeHash('mine.ts', dir));
  }
  expect(new Set(hashes).size).toBe(4);
  write('other.json', '[5]');
  expect(codeHash('mine.ts', dir)).toBe(hashes.at(-1));
  rmSync(dir, { recursive: true });
});
