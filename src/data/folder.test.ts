import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Refusal } from '../domain/refusal.ts';
import { makeFolder } from './folder.ts';

test('a folder for data is made with those around it, and refused where a file stands in the way', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-folder-'));
  makeFolder(join(dir, 'a', 'b'));
  makeFolder(join(dir, 'a', 'b'));
  expect(existsSync(join(dir, 'a', 'b'))).toBe(true);
  writeFileSync(join(dir, 'file'), '');
  expect(() => makeFolder(join(dir, 'file', 'x'))).toThrow(
    new Refusal(`${join(dir, 'file')} is a file, not a folder: name another folder for the data (--data)`),
  );
});

test.runIf(existsSync('/proc/self'))('a folder that no rights can make is refused at once', () => {
  expect(() => makeFolder('/proc/sluice/cache')).toThrow(/^\/proc\/sluice cannot be made \(E\w+\): .* \(--data\)$/);
});
