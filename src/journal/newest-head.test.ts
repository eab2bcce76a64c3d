import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderRowOf } from '../../test/kit/journal-rows.ts';
import { refusal } from '../../test/kit/refusal.ts';
import { takeLock } from './lock.ts';
import { type Guard, thisHost } from './newest-head.ts';
import { type Binding, discard, journalFile, type OpenedState, openState } from './open.ts';
import { workerHost } from './writer-hosts.ts';

const binding: Binding = { mode: 'live', account: 'spot', venue: 'v' };
let root: string;
let dir: string;
let guard: Guard;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-guard-'));
  dir = join(root, 'state');
  guard = { dir: join(root, 'shared', 'journals'), host: 'here', accept: undefined };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function openOnce(given: Partial<Guard> = {}, at = dir): OpenedState {
  const state = openState(at, binding, ['s'], { ...guard, ...given });
  state.lock.release();
  return state;
}
/** Opens, has the writer write an order, and closes. */
async function trade(id: string): Promise<void> {
  const state = openState(dir, binding, ['s'], guard);
  const host = workerHost(
    state.path,
    state.identity.epoch,
    (error) => {
      throw error;
    },
    state.remember,
  );
  await host.write([orderRowOf({ clientOrderId: id })]);
  await host.close();
  state.lock.release();
}
const file = (): string => join(dir, journalFile);
/** The bytes of a directory's files but the lock's and the index of the log, which readers share. */
const bytes = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dir)
      .filter((name) => name.startsWith(journalFile) && !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(dir, name), 'base64')])
      .filter(([, content]) => content !== ''),
  );
const accepted = (): unknown => {
  const db = new Database(file(), { readonly: true });
  const rows = db.prepare('SELECT epoch, accepted FROM openings ORDER BY epoch').all();
  db.close();
  return rows;
};

describe('a journal', () => {
  test('that goes on where it was left is opened again and again', async () => {
    await trade('a');
    await trade('b');
    expect(openOnce().identity.epoch).toBe(3);
    expect(openOnce().notices).toEqual([]);
  });

  test('beside another one of the same user has a head of its own', async () => {
    const other = join(root, 'other');
    await trade('a');
    openOnce({}, other);
    await trade('b');
    openOnce({}, other);
    expect(openOnce().identity.epoch).toBe(3);
  });

  test('restored from a backup is refused, with what to do, and nothing is changed', async () => {
    await trade('a');
    copyFileSync(file(), join(root, 'backup'));
    await trade('b');
    copyFileSync(join(root, 'backup'), file());
    const before = bytes();
    const refused = refusal(() => openOnce());
    expect(refused.exitCode).toBe(3);
    expect(refused.message).toMatch(/is older than the one that traded here last, or .* \(that one had \d+ commits\):/);
    expect(refused.message).toContain('--accept-restored REASON');
    expect(refused.message).not.toContain('\n');
    expect(bytes()).toEqual(before);
  });

  test('restored to a moment of the same run is refused as well', async () => {
    const state = openState(dir, binding, ['s'], guard);
    const host = workerHost(state.path, state.identity.epoch, () => {}, state.remember);
    await host.write([orderRowOf({ clientOrderId: 'a' })]);
    cpSync(dir, join(root, 'copy'), { recursive: true });
    await host.write([orderRowOf({ clientOrderId: 'b' })]);
    await host.close();
    state.lock.release();
    expect(refusal(() => openOnce({}, join(root, 'copy'))).exitCode).toBe(3);
    expect(openOnce().identity.epoch).toBe(2);
  });

  test('whose newest commits were lost with the log beside it is refused', async () => {
    const state = openState(dir, binding, ['s'], guard);
    const host = workerHost(state.path, state.identity.epoch, () => {}, state.remember);
    await host.write([orderRowOf({ clientOrderId: 'a' })]);
    cpSync(dir, join(root, 'killed'), { recursive: true });
    await host.close();
    state.lock.release();
    expect(existsSync(join(root, 'killed', `${journalFile}-wal`))).toBe(true);
    rmSync(join(root, 'killed', `${journalFile}-wal`));
    expect(refusal(() => openOnce({}, join(root, 'killed'))).exitCode).toBe(3);
  });

  test('that differs from the copied head is refused', async () => {
    await trade('a');
    cpSync(dir, join(root, 'copy'), { recursive: true });
    await trade('b');
    const elsewhere = { dir: join(root, 'other') };
    for (let times = 0; times < 3; times++) openOnce(elsewhere, join(root, 'copy'));
    expect(refusal(() => openOnce({}, join(root, 'copy'))).message).toContain('differs from it');
  });

  test('from another host is refused', () => {
    openOnce();
    const before = bytes();
    const refused = refusal(() => openOnce({ host: 'there' }));
    expect(refused.exitCode).toBe(3);
    expect(refused.message).toContain('was last written on another host');
    expect(bytes()).toEqual(before);
  });

  test('is taken all the same when the operator says why, which is written down, and never uses an id twice', async () => {
    await trade('a');
    copyFileSync(file(), join(root, 'backup'));
    await trade('b');
    await trade('c');
    copyFileSync(join(root, 'backup'), file());
    const state = openOnce({ accept: 'the disk broke' });
    expect(state.identity.epoch).toBeGreaterThan(3);
    expect(state.notices.join()).toContain('the disk broke');
    expect(accepted()).toEqual([
      { epoch: 1, accepted: null },
      { epoch: state.identity.epoch, accepted: expect.stringMatching(/^the disk broke \(it is older/) },
    ]);
    expect(openOnce().notices).toEqual([]);
  });

  test('is opened where nothing is remembered of it, or only half of it', async () => {
    await trade('a');
    for (const name of readdirSync(guard.dir)) writeFileSync(join(guard.dir, name), '{"epoch":1,');
    expect(openOnce().identity.epoch).toBe(2);
    rmSync(guard.dir, { recursive: true });
    expect(openOnce().identity.epoch).toBe(3);
  });

  test.each([undefined, 'disk failed'])(
    'of which another copy is open is refused (accepted as restored: %s)',
    (accept) => {
      const copy = join(root, 'copy');
      const opens = (): OpenedState => openOnce({ accept }, copy);
      const first = openState(dir, binding, ['s'], guard);
      // Nothing was committed since, so the copy is as new as the journal.
      cpSync(dir, copy, { recursive: true });
      expect(refusal(opens)).toMatchObject({
        exitCode: 3,
        message: expect.stringContaining(
          `is a copy of the journal with which a daemon of this machine runs (state directory ${dir})`,
        ),
      });
      first.lock.release();
      expect(opens().identity.epoch).toBe(2);
    },
  );

  test('whose lock cannot be used is opened, and says so', () => {
    openOnce();
    const [lock = ''] = readdirSync(guard.dir).filter((name) => name.endsWith('.lock'));
    writeFileSync(join(guard.dir, lock), 'no database'.repeat(100));
    expect(openOnce().notices).toEqual([
      expect.stringMatching(
        /^another copy of this journal would not be noticed: .*\.lock cannot be used \(.*\)\. Give it/,
      ),
    ]);
    rmSync(join(guard.dir, lock));
    expect(openOnce().notices).toEqual([]);
  });

  test('in use by a command is no copy', () => {
    openOnce();
    const [name = ''] = readdirSync(guard.dir).filter((file) => file.endsWith('.lock'));
    const lock = takeLock(guard.dir, name);
    expect(refusal(openOnce).message).toMatch(
      /is in use by another process, such as sluice journal compact: try again/,
    );
    lock?.release();
    openOnce();
  });

  test('is opened where nothing can be remembered', () => {
    writeFileSync(join(root, 'shared'), '');
    expect(openOnce().identity.epoch).toBe(1);
    expect(openOnce().identity.epoch).toBe(2);
  });

  test('that is taken away again is forgotten', () => {
    discard(openOnce());
    expect(readdirSync(guard.dir)).toEqual([]);
    expect(openOnce().identity.epoch).toBe(1);
  });
});

test.each([
  ['with tables of its own', 'CREATE TABLE contacts (name)'],
  ['that counts its versions, too', 'CREATE TABLE contacts (name); PRAGMA user_version = 2'],
])('another program’s database %s is refused and left as it is', (_, sql) => {
  mkdirSync(dir);
  const db = new Database(file());
  db.exec(sql);
  db.close();
  const before = bytes();
  const refused = refusal(() => openOnce());
  expect(refused.exitCode).toBe(3);
  expect(refused.message).toContain('not a journal of Sluice');
  expect(bytes()).toEqual(before);
});

test('an empty file, as a first start leaves that was killed at once, becomes a journal', () => {
  mkdirSync(dir);
  writeFileSync(file(), '');
  expect(openOnce().identity.epoch).toBe(1);
});

test('a host has a name that stays', () => {
  expect(thisHost()).toMatch(/^[0-9a-f]{16}$/);
  expect(thisHost()).toBe(thisHost());
});
