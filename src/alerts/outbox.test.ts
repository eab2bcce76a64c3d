import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Outbox, outboxFile } from './outbox.ts';
import type { Alert } from './routes.ts';

const minute = 60_000;
const now = Date.UTC(2026, 0, 5, 12);
const alert = (text: string, given: Partial<Alert> = {}): Alert => ({
  ...{ kind: 'notice', level: 'error', time: now, text },
  ...given,
});

let dir: string;
let outbox: Outbox;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-outbox-'));
  outbox = new Outbox(dir);
});
afterEach(() => {
  outbox.close();
  rmSync(dir, { recursive: true });
});

test('an alarm is dropped when it is the oldest of too many, an error last', () => {
  const of = (text: string, level: Alert['level']) => outbox.open(alert(text, { level }), now, minute, ['phone']);
  of('killed', 'error');
  for (let index = 0; index < 150; index++) of(`denied ${index}`, 'warn');
  const open = outbox.alarms().map(({ text }) => text);
  expect([open.length, open[0], open[1], open.at(-1)]).toEqual([100, 'killed', 'denied 51', 'denied 149']);
});

test('a full disk gets what is in memory as soon as it takes it again, and a kill -9 loses nothing', () => {
  const before = outbox.open(alert('before'), now, minute, ['phone']);
  const other = outbox.open(alert('other'), now, minute, ['phone']);
  const holder = new Database(join(dir, outboxFile));
  outbox.close();
  outbox = new Outbox(dir, () => undefined);
  const blocking = "CREATE TRIGGER full BEFORE INSERT ON messages BEGIN SELECT RAISE(FAIL, 'full'); END";
  holder.exec(blocking);
  outbox.add(alert('the disk is full'), [{ channel: 'phone', at: now }]);
  outbox.acknowledge(before, 'telegram', now);
  expect(outbox.writeOut()).toBe(false);
  holder.exec('DROP TRIGGER full');
  holder.prepare('UPDATE alarms SET acknowledged_at = 1 WHERE id = ?').run(other);
  expect(outbox.writeOut()).toBe(true);
  expect(outbox.writeOut()).toBe(false);
  // Another connection reads what a kill -9 would leave.
  const left = new Outbox(dir);
  expect(left.due('phone', now).map(({ text }) => text)).toEqual(['the disk is full']);
  expect(left.alarms()).toEqual([]);
  left.close();
  holder.close();
});

test('a file that cannot be opened keeps what was never read, and gets what is new', () => {
  outbox.add(alert('killed'), [{ channel: 'phone', at: now }]);
  outbox.open(alert('killed'), now, minute, ['phone']);
  outbox.close();
  // A folder with the name of the log: the file cannot be opened, as on a full disk.
  const log = join(dir, `${outboxFile}-wal`);
  mkdirSync(log);
  const errors: string[] = [];
  outbox = new Outbox(dir, (code) => errors.push(code));
  expect(errors).toEqual([expect.stringMatching(/^SQLITE_/)]);
  outbox.add(alert('sent'), [{ channel: 'phone', at: now }]);
  outbox.sent(outbox.due('phone', now));
  outbox.add(alert('the disk is full'), [{ channel: 'phone', at: now }]);
  outbox.open(alert('the disk is full'), now, minute, ['phone']);
  const sending = outbox.due('phone', now);
  expect(outbox.writeOut()).toBe(false);
  rmdirSync(log);
  expect(outbox.writeOut()).toBe(true);
  const texts = ['killed', 'the disk is full'];
  expect(outbox.due('phone', now).map(({ text }) => text)).toEqual(texts);
  expect(outbox.alarms().map(({ text }) => text)).toEqual(texts);
  outbox.sent(sending);
  expect(outbox.due('phone', now).map(({ text }) => text)).toEqual(['killed']);
});

test('what was due once stays due when the clock is set back', () => {
  outbox.add(alert('digest'), [{ channel: 'phone', at: now + minute }]);
  const at = (time: number) => outbox.due('phone', time).length;
  expect([at(now), at(now + minute), at(now - 60 * minute)]).toEqual([0, 1, 1]);
});

test('the outbox is for its owner alone', () => {
  expect(statSync(join(dir, outboxFile)).mode & 0o077).toBe(0);
});

test('what keeps a daemon from starting is news once an hour, also over restarts, until a start finishes', () => {
  const hour = 60 * minute;
  const isNews = (at: number) => outbox.isNews('did not start: #', at, hour);
  expect([isNews(now), isNews(now + hour - 1)]).toEqual([true, false]);
  outbox.close();
  outbox = new Outbox(dir);
  expect([isNews(now + minute), isNews(now + hour), isNews(now + hour + minute)]).toEqual([false, true, false]);
  // The clock was set back.
  expect(isNews(now)).toBe(true);
  outbox.forgetReported();
  expect(isNews(now)).toBe(true);
});

test('without a directory alerts are in memory, and nothing is written out', () => {
  const memory = new Outbox(undefined);
  memory.add(alert('did not start'), [{ channel: 'phone', at: now }]);
  expect(memory.due('phone', now).map(({ text }) => text)).toEqual(['did not start']);
  expect(memory.writeOut()).toBe(false);
  memory.close();
});
