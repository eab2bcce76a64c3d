import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { beginning, filledOrder, idOf, sent } from '../../../test/kit/ended-orders.ts';
import { eventOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { rechain } from '../../journal/hash-chain.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { openReader } from '../../journal/reader.ts';
import { schemaVersion, versionOf } from '../../journal/schema.ts';
import { writer } from '../../journal/writer.ts';
import { kill, resume } from '../control/actions.ts';
import { checkJournal } from './check.ts';

let root: string;
let dir: string;
let identity: Identity;
const binding = { mode: 'live', account: 'spot', venue: 'v' } as const;
const path = (): string => join(dir, journalFile);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
  dir = join(root, 'state');
  const state = openState(dir, binding, ['s']);
  ({ identity } = state);
  state.lock.release();
  const db = openForWriting(path());
  writer(
    db,
    identity.epoch,
  )([
    ...beginning,
    ...filledOrder(identity, 1),
    orderRowOf({ clientOrderId: idOf(identity, 2), orderId: '1002', ...sent, state: 'open' }),
    eventOf('sending', { clientOrderId: idOf(identity, 2) }),
    eventOf('accepted', { clientOrderId: idOf(identity, 2), detail: { orderId: '1002' } }),
    orderRowOf({ clientOrderId: idOf(identity, 3), ...sent, state: 'unknown', createdAt: startTime + 1 }),
    eventOf('sending', { clientOrderId: idOf(identity, 3) }),
    eventOf('unknown', { clientOrderId: idOf(identity, 3) }),
    { kind: 'protection', strategy: 's', symbol: 'BTCUSDT', protection: { stop: '90' } },
    { kind: 'kill', everything: false, at: startTime, strategy: 's', by: 'me', reason: 'r' },
    { kind: 'cursor', symbol: 'BTCUSDT', tradeIds: ['71'] },
  ]);
  db.close();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Undoes the newest migration, so that the file is as the version before wrote it. */
function asBefore(): void {
  const db = openForWriting(path());
  db.exec('DROP TABLE archives; ALTER TABLE kills DROP COLUMN everything');
  db.pragma(`user_version = ${schemaVersion - 1}`);
  rechain(db);
  db.close();
}

test('a start brings the schema before to this one, with open orders, stops and kills, and keeps a copy', () => {
  asBefore();
  const { loaded, lock, notices, isNew } = openState(dir, binding, ['s']);
  expect(isNew).toBe(false);
  expect(loaded.orders.map(({ clientOrderId, state }) => [clientOrderId, state])).toEqual([
    [idOf(identity, 2), 'open'],
    [idOf(identity, 3), 'unknown'],
  ]);
  expect([loaded.protections.length, loaded.kills.length, loaded.cursors.get('BTCUSDT')]).toEqual([1, 1, ['71']]);
  // As kills were then.
  expect(loaded.kills).toMatchObject([{ strategy: 's', everything: true }]);
  expect([...loaded.past.fills()].map(({ tradeId }) => tradeId)).toEqual(['71']);
  expect(notices).toEqual([
    `${path()} was brought from schema ${schemaVersion - 1} to ${schemaVersion}; a copy is kept beside it`,
  ]);
  loaded.past.close();
  lock.release();
  expect(checkJournal(dir, { XDG_STATE_HOME: root }).findings).toEqual([]);
  const copy = new Database(`${path()}.before-${schemaVersion}`, { readonly: true });
  expect(versionOf(copy)).toBe(schemaVersion - 1);
  expect(copy.prepare('SELECT count(*) FROM orders').pluck().get()).toBe(3);
  copy.close();
});

test('commands read a journal of the schema before, and leave it as it is', () => {
  asBefore();
  const before = readFileSync(path());
  expect(checkJournal(dir, { XDG_STATE_HOME: root })).toMatchObject({ schema: schemaVersion - 1, findings: [] });
  const reader = openReader(dir);
  expect(reader.orders()).toHaveLength(3);
  expect(reader.kills()).toMatchObject([{ kind: 'kill', strategy: 's', everything: true }]);
  expect(reader.halts()).toEqual([]);
  reader.close();
  expect(readFileSync(path())).toEqual(before);
});

test('a kill and a resume without a daemon work on a journal of the schema before', async () => {
  const io = { state: dir, json: false, out: () => {}, say: () => {} };
  asBefore();
  await kill({ ...io, everything: false, reason: 'news' });
  const reader = openReader(dir);
  expect(reader.kills()).toMatchObject([
    { strategy: 's', everything: true },
    { strategy: null, everything: false, reason: 'news' },
  ]);
  reader.close();
  asBefore();
  await resume(io);
  const after = openReader(dir);
  expect(after.kills()).toEqual([]);
  after.close();
});

test('a journal that was changed is not migrated', () => {
  asBefore();
  const db = new Database(path());
  db.exec("UPDATE fills SET price = '1'");
  db.close();
  expect(() => openState(dir, binding, ['s'])).toThrow(/was changed by something other than Sluice/);
  const after = new Database(path(), { readonly: true });
  expect(versionOf(after)).toBe(schemaVersion - 1);
  after.close();
});

test('a journal of a newer version is refused with what to do, by a start and by commands, and stays as it is', () => {
  const db = new Database(path());
  db.pragma(`user_version = ${schemaVersion + 1}`);
  db.close();
  const before = readFileSync(path());
  const advice =
    /newer Sluice \(schema \d+, this one knows \d+\): upgrade Sluice, or restore a backup made before its upgrade \(docs\/how-to\/upgrade\.md\); nothing was changed$/;
  expect(() => openState(dir, binding, ['s'])).toThrow(advice);
  expect(() => openReader(dir)).toThrow(advice);
  expect(readFileSync(path())).toEqual(before);
  expect(existsSync(`${path()}.before-${schemaVersion}`)).toBe(false);
});
