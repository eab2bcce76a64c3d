import { expect, test } from 'vitest';
import { exitCodeOf } from './exit-code.ts';

const said = (error: unknown): string => {
  const lines: string[] = [];
  expect(exitCodeOf(error, (line) => void lines.push(line))).toBe(1);
  return lines.join('\n');
};

test('a file that this user may not use is no bug, and one that ought to be there is', () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open 'a.json'"), {
    code: 'EACCES',
    path: 'a.json',
  });
  expect(said(denied)).toBe(
    'sluice: a.json cannot be opened by this user (permission denied): change its owner or permissions (EACCES)',
  );
  expect(said(Object.assign(new Error('ENOENT'), { code: 'ENOENT' }))).toContain('this is a bug, please report it');
});
