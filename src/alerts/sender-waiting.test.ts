/** Alerts that wait: for quiet hours, on a full disk, over starts and changes of the clock. */
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { minute, SenderRig } from '../../test/kit/sender-rig.ts';
import { Outbox, outboxFile } from './outbox.ts';

let rig: SenderRig;
beforeEach(() => {
  rig = new SenderRig();
});
afterEach(() => rig.close());

describe('quiet hours', () => {
  test('hold the repetitions of an alarm that they hold', async () => {
    const quietHours = { from: '22:00', to: '07:00' };
    const routes = [{ minLevel: 'warn', to: ['phone'], escalate: { repeatMs: 5 * minute, to: ['team'] } }];
    const one = rig.sender({ routes, quietHours });
    rig.now = Date.UTC(2026, 0, 5, 23);
    one.add(rig.alert('denied', { level: 'warn' }));
    for (let minutes = 0; minutes < 7 * 60; minutes += 5, rig.now += 5 * minute) await one.send();
    expect(rig.sent).toEqual([]);
    rig.now = Date.UTC(2026, 0, 6, 7);
    await one.send();
    await one.send();
    expect(rig.texts('team')).toHaveLength(1);
  });
});

describe('a disk that takes nothing any more', () => {
  test('loses no alert: what waits is kept in memory, and an alarm is acknowledged there', async () => {
    rig.outbox.close();
    let code = '';
    rig.outbox = new Outbox(rig.dir, (given) => {
      code = given;
    });
    const routes = [{ minLevel: 'error', to: ['phone'], escalate: { repeatMs: minute, to: ['phone'] } }];
    const one = rig.sender({ routes });
    rig.failing = { phone: 'ETIMEDOUT' };
    one.add(rig.alert('first'));
    await one.send();
    // From now on each write fails, as on a full disk.
    const holder = new Database(join(rig.dir, outboxFile));
    holder.exec('ALTER TABLE messages RENAME TO gone');
    one.add(rig.alert('the disk is full'));
    expect(code).toMatch(/^SQLITE_/);
    rig.failing = {};
    rig.now += minute;
    await one.send();
    await one.send();
    expect(rig.texts().join('\n')).toContain('the disk is full');
    expect(rig.outbox.acknowledge(undefined, 'telegram', rig.now)).toBeGreaterThan(0);
    holder.close();
  });

  test('is reported when the file cannot be opened, and alerts go', async () => {
    rig.outbox.close();
    writeFileSync(join(rig.dir, outboxFile), 'not a database, by far: something else wrote over it');
    expect(() => new Outbox(rig.dir)).toThrow();
    let code = '';
    rig.outbox = new Outbox(rig.dir, (given) => {
      code = given;
    });
    expect(code).toBe('SQLITE_NOTADB');
    const one = rig.sender();
    one.add(rig.alert('killed'));
    await one.send();
    expect(rig.texts()).toEqual(['ERROR killed']);
  });
});

test('what waits for a channel that is not configured any more is dropped', async () => {
  rig.outbox.add(rig.alert('old'), [{ channel: 'gone', at: 0 }]);
  rig.sender();
  expect(rig.outbox.waiting().size).toBe(0);
});

test('what keeps a daemon from starting is sent once an hour, however often and with whatever numbers it is tried', async () => {
  const failed = (process: number): Promise<void> => {
    const one = rig.sender();
    one.add(rig.alert(`did not start: process ${process} holds it`, { isOfStart: true }));
    return one.send();
  };
  for (let time = 0; time < 60; time++) {
    await failed(1_000 + time);
    rig.now += minute;
  }
  expect(rig.texts()).toEqual(['ERROR did not start: process 1000 holds it']);
  await failed(2_000);
  expect(rig.texts()).toHaveLength(2);
});

test('the end of a start that was reported goes where its errors went, and stops its alarms', async () => {
  const escalate = { repeatMs: 5 * minute, to: ['phone', 'team'] };
  const routes = [{ minLevel: 'error', to: ['phone'], escalate }];
  const one = rig.sender({ routes });
  one.cameUp();
  one.add(rig.alert('did not start: wrong key', { isOfStart: true }));
  await one.send();
  expect(rig.outbox.alarms()).toHaveLength(1);
  const next = rig.sender({ routes });
  next.cameUp();
  await next.send();
  expect(rig.texts()).toEqual([
    expect.stringContaining('did not start: wrong key'),
    'the daemon has started: sluice status shows what may trade',
  ]);
  expect(rig.outbox.alarms()).toEqual([]);
  rig.now += 10 * minute;
  await next.send();
  expect(rig.texts('team')).toEqual([]);
});

test('a start that could not open the file of the alerts ends what earlier starts reported there', async () => {
  const routes = [{ minLevel: 'error', to: ['phone'], escalate: { repeatMs: minute, to: ['phone'] } }];
  rig.sender({ routes }).add(rig.alert('did not start: the disk is full', { isOfStart: true }));
  rig.outbox.close();
  const log = join(rig.dir, `${outboxFile}-wal`);
  mkdirSync(log);
  rig.outbox = new Outbox(rig.dir, () => undefined);
  const next = rig.sender({ routes });
  rmdirSync(log);
  next.cameUp();
  await next.send();
  expect(rig.texts().at(-1)).toContain('the daemon has started: sluice status shows what may trade');
  expect(rig.outbox.alarms()).toEqual([]);
});

test('a clock that is set back delays neither a retry nor an alarm', async () => {
  const escalate = { repeatMs: 5 * minute, to: ['phone'] };
  const one = rig.sender({ routes: [{ minLevel: 'error', to: ['phone'], escalate }] });
  rig.failing['phone'] = 'HTTP 500';
  one.add(rig.alert('killed'));
  await one.send();
  rig.now -= 60 * minute;
  rig.failing = {};
  await one.send();
  expect(rig.texts()[0]).toMatch(/killed/);
  rig.now += 5 * minute;
  await one.send();
  expect(rig.texts().join('\n')).toMatch(/not acknowledged yet: killed/);
});
