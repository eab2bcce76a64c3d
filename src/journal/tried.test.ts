import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { tried } from './tried.ts';

const failing = (code: string) => () => {
  throw new Database.SqliteError('the disk says no', code);
};

it('a batch that finds no room may find it later', () => {
  expect(tried(failing('SQLITE_FULL'), [])).toBe('full');
});

it.for(['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC', 'SQLITE_CORRUPT'])(
  '%s is thrown on: nobody knows what is on the disk',
  (code) => {
    expect(() => tried(failing(code), [])).toThrow(expect.objectContaining({ code }));
  },
);
