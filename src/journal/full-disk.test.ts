import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { writeOrFull } from './writer.ts';

const failing = (code: string) => () => {
  throw new Database.SqliteError('the disk says no', code);
};

it.for(['SQLITE_FULL', 'SQLITE_CANTOPEN'])(
  'a batch that finds no room, or no file to open, may find it later (%s)',
  (code) => {
    expect(writeOrFull(failing(code), [])).toBe('full');
  },
);

it.for(['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC', 'SQLITE_CORRUPT'])(
  '%s is thrown on: nobody knows what is on the disk',
  (code) => {
    expect(() => writeOrFull(failing(code), [])).toThrow(expect.objectContaining({ code }));
  },
);
