import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Archive, archiveDir } from '../journal/archive.ts';
import { attachArchive } from './attach.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-attach-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true });
});

/** Attaches a file of this content. */
function attach(content: string): void {
  mkdirSync(join(dir, archiveDir));
  writeFileSync(join(dir, archiveDir, 'events-1.parquet'), content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const archive: Archive = {
    ...{ file: 'events-1.parquet', table: 'events', rows: 1, sha256, total: '0', until: 0 },
    ...{ links: 0, link: '', signature: '' },
  };
  const db = new Database(':memory:');
  db.exec('CREATE TABLE events (seq INTEGER PRIMARY KEY)');
  try {
    attachArchive(db, dir, [archive]);
  } finally {
    db.close();
  }
}

test('a reader that dies without a word is noticed at once', () => {
  vi.stubEnv('NODE_OPTIONS', '--require /nowhere/at-all.js');
  expect(() => attach('PAR1')).toThrow(/^the archive cannot be read \(its reader ended with exit code 1\): restore it/);
});

test('a file that is no Parquet is refused with the reason', () => {
  expect(() => attach('none at all')).toThrow(
    /^the archive cannot be read \(.*(parquet|Parquet|magic).*\): restore it/s,
  );
});
