import { expect, test } from 'vitest';
import type { Notice } from '../../journal/entries.ts';
import { outOfFilesReporter, unlessOutOfFiles } from './file-shortage.ts';

const failing = (code: string) => (): never => {
  throw Object.assign(new Error(`${code}: no`), { code });
};

test.for([
  ['EMFILE', 'this process'],
  ['ENFILE', 'the machine'],
] as const)('%s is reported once, tried again, and its end is reported', ([code, whose]) => {
  const notices: Notice[] = [];
  const listed = outOfFilesReporter((notice) => notices.push(notice));
  expect(listed(() => 1)).toBe(1);
  expect(listed(failing(code))).toBeUndefined();
  expect(listed(failing(code))).toBeUndefined();
  expect(listed(() => 2)).toBe(2);
  expect(listed(() => 3)).toBe(3);
  expect(notices.map(({ level }) => level)).toEqual(['error', 'info']);
  expect(notices[0]?.text).toContain(`${whose} has too many files open (${code})`);
});

test('every other error is thrown on', () => {
  expect(() => unlessOutOfFiles(failing('ENOENT'))).toThrow('ENOENT');
  expect(() => outOfFilesReporter(() => {})(failing('EIO'))).toThrow('EIO');
});
