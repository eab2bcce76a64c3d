import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { beginning, filledOrder } from '../../../test/kit/ended-orders.ts';
import { refusalLater } from '../../../test/kit/refusal.ts';
import type { Entry } from '../../journal/entries.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { backup, restore } from './backup.ts';
import { checkJournal } from './check.ts';
import { showSize } from './size.ts';

let root: string;
let dir: string;
let identity: Identity;
let said: string[];
const passphrase = { SLUICE_BACKUP_PASSPHRASE: 'correct horse battery' };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
  dir = join(root, 'state');
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  ({ identity } = state);
  state.lock.release();
  put(...beginning, ...filledOrder(identity, 1));
  said = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(...entries: readonly Entry[]): void {
  const db = openForWriting(join(dir, journalFile));
  writer(db, identity.epoch)(entries);
  db.close();
}
const io = { json: false, out: (line: string) => void said.push(line), say: (line: string) => void said.push(line) };
const backUp = (environment: Readonly<Record<string, string>> = {}): Promise<void> =>
  backup(join(root, 'copy'), { state: dir, environment, ...io });
const putBack = (environment: Readonly<Record<string, string>> = {}, from = join(root, 'copy')): void =>
  restore(from, { state: join(root, 'again'), environment, ...io });

/** Changes one byte of a file. */
function spoil(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

describe.each([
  ['plain', {}, journalFile],
  ['encrypted', passphrase, `${journalFile}.encrypted`],
] as const)('a %s backup', (_, environment, file) => {
  test('comes back with every row, and is intact', async () => {
    await backUp(environment);
    putBack(environment);
    const checked = checkJournal(join(root, 'again'), { XDG_STATE_HOME: root });
    expect(checked.findings).toEqual([]);
    expect(checked).toEqual(checkJournal(dir, { XDG_STATE_HOME: root }));
    expect(said.join('\n')).toContain('--accept-restored REASON');
    expect(statSync(join(root, 'again', journalFile)).mode & 0o077).toBe(0);
  });

  test('beside a program that writes holds one moment of the journal', async () => {
    const db = openForWriting(join(dir, journalFile));
    const write = writer(db, identity.epoch);
    const backing = backUp(environment);
    write(filledOrder(identity, 2));
    await backing;
    write(filledOrder(identity, 3));
    db.close();
    putBack(environment);
    const { rows, findings } = checkJournal(join(root, 'again'), { XDG_STATE_HOME: root });
    expect([rows['orders'], findings]).toEqual([1, []]);
  });

  test('that was changed anywhere, or cut off, is refused, and nothing is left of it', async () => {
    await backUp(environment);
    const path = join(root, 'copy', file);
    const whole = readFileSync(path);
    for (const at of [0, 40, 5_000, whole.length - 1]) {
      spoil(path, at);
      expect((await refusalLater(() => putBack(environment))).message).toMatch(/damaged|differs|wrong/);
      writeFileSync(path, whole);
    }
    // After a whole block, and within one.
    for (const length of [31 + 65_552, 100, whole.length - 1]) {
      writeFileSync(path, whole.subarray(0, length));
      expect((await refusalLater(() => putBack(environment))).message).toMatch(/damaged|differs|wrong/);
      writeFileSync(path, whole);
    }
    expect(existsSync(join(root, 'again'))).toBe(false);
    putBack(environment);
  });
});

test('an encrypted backup has nothing of the journal, and needs its passphrase', async () => {
  await backUp(passphrase);
  const bytes = readFileSync(join(root, 'copy', `${journalFile}.encrypted`));
  for (const text of ['SQLite format', 'BTCUSDT', Buffer.from(identity.idKey).toString('hex')])
    expect(bytes.includes(text)).toBe(false);
  expect((await refusalLater(() => putBack())).message).toContain('is encrypted: set SLUICE_BACKUP_PASSPHRASE');
  const wrong = { SLUICE_BACKUP_PASSPHRASE: 'incorrect horse battery' };
  expect((await refusalLater(() => putBack(wrong))).message).toContain('SLUICE_BACKUP_PASSPHRASE is wrong');
  expect(
    (
      await refusalLater(() =>
        backup(join(root, 'b'), { state: dir, environment: { SLUICE_BACKUP_PASSPHRASE: 'short' }, ...io }),
      )
    ).message,
  ).toContain('fewer than 12 characters');
});

test('a restore overwrites nothing, and a backup neither', async () => {
  await backUp();
  expect((await refusalLater(() => backUp())).message).toContain('copy exists: name a new folder');
  mkdirSync(join(root, 'again'), { mode: 0o700 });
  copyFileSync(join(dir, journalFile), join(root, 'again', journalFile));
  const before = readFileSync(join(root, 'again', journalFile));
  expect((await refusalLater(() => putBack())).message).toMatch(/journal\.db exists and is not overwritten/);
  expect(readFileSync(join(root, 'again', journalFile))).toEqual(before);
});

test('a journal that something else changed is not backed up, and leaves nothing', async () => {
  const db = openForWriting(join(dir, journalFile));
  db.exec("UPDATE fills SET price = '1'");
  db.close();
  expect((await refusalLater(() => backUp())).message).toContain('was changed by something other than Sluice');
  expect(existsSync(join(root, 'copy'))).toBe(false);
  expect(existsSync(join(root, 'copy.unfinished'))).toBe(false);
});

test('a folder that is no backup, and one that would write elsewhere, are refused', async () => {
  expect((await refusalLater(() => putBack({}, root))).message).toContain('is not a backup');
  mkdirSync(join(root, 'unreadable', 'backup.json'), { recursive: true });
  expect((await refusalLater(() => putBack({}, join(root, 'unreadable')))).message).toMatch(
    /^the backup .*unreadable cannot be read: it is a folder, not a file \(EISDIR\)$/,
  );
  await backUp();
  const path = join(root, 'copy', 'backup.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"journal.db"', '"../../journal.db"'));
  expect((await refusalLater(() => putBack())).message).toContain('backup.json is damaged, or of a newer Sluice');
  expect((await refusalLater(() => restore(join(root, 'copy'), { environment: {}, ...io }))).message).toContain(
    '--state DIR',
  );
});

test('size tells rows and bytes of each table, the growth per day and what a year takes', () => {
  const day = 86_400_000;
  put(
    ...Array.from(
      { length: 400 },
      (_, index): Entry => ({ kind: 'equity', at: startTime + (index * day) / 100, equity: '1000' }),
    ),
  );
  showSize({ state: dir, ...io, json: true });
  const size = JSON.parse(said.join('')) as {
    readonly tables: readonly {
      readonly table: string;
      readonly rows: number;
      readonly bytes: number;
      readonly bytesPerDay: number | null;
    }[];
    readonly fileBytes: number;
    readonly bytesPerDay: number;
    readonly bytesInAYear: number;
  };
  const equity = size.tables.find(({ table }) => table === 'equity');
  expect(equity).toMatchObject({ rows: 400, bytesPerDay: expect.closeTo((equity?.bytes ?? 0) / 3.99, 0) });
  expect(size.tables.find(({ table }) => table === 'cursors')).toMatchObject({ bytesPerDay: null });
  // The rest is SQLite's own schema.
  expect(size.tables.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(size.fileBytes * 0.8);
  expect(size.bytesPerDay).toBe(equity?.bytesPerDay);
  expect(size.bytesInAYear).toBe(size.fileBytes + 365 * size.bytesPerDay);
  said = [];
  showSize({ state: dir, ...io });
  expect(said.join('\n')).toMatch(/│ equity +│ 400 +│/);
});
