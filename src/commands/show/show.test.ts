import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fillRowOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { Refusal } from '../../domain/refusal.ts';
import { takeLock } from '../../journal/lock.ts';
import { journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { writer } from '../../journal/writer.ts';
import { aloneMemory } from '../../portfolio/legs-alone.ts';
import { writeDaemonInfo } from '../../session/state.ts';
import { bannedUntilName } from '../../session/watch/exchange-watch.ts';
import { unprotectedMemory } from '../../session/watch/unprotected-time.ts';
import { textTable } from '../../terminal/table.ts';
import { showLimits } from '../control/limits.ts';
import type { ShowOptions } from './read-state.ts';
import { showFills, showOrders, showPositions } from './show.ts';
import { showStatus } from './status.ts';
import { showWhy } from './why.ts';

let dir: string;
let out: string[];
beforeEach(() => {
  out = [];
  dir = mkdtempSync(join(tmpdir(), 'sluice-show-'));
  openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']).lock.release();
  const db = openForWriting(join(dir, journalFile));
  writer(db, 1)([orderRowOf({ clientOrderId: 'c1', strategy: 's' }), fillRowOf({ clientOrderId: 'c1', price: '100' })]);
  db.close();
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Another program's doing. */
function change(sql: string): void {
  const db = new Database(join(dir, journalFile));
  db.exec(sql);
  db.close();
}

/** What a command refuses in the end. */
function refusal(show: (options: ShowOptions) => void): Refusal | undefined {
  try {
    show({ state: dir, json: false, out: (line) => void out.push(line), say: () => undefined });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return undefined;
}

test('how long something was unprotected is told in tenths of a second, rounded up', () => {
  const db = openForWriting(join(dir, journalFile));
  const value = JSON.stringify([['s', 'BTCUSDT', 144_193.592_773_437_5, null]]);
  writer(db, 1)([{ kind: 'memory', name: unprotectedMemory, value }]);
  db.close();
  showStatus({ state: dir, json: false, out: (line) => void out.push(line), say: () => undefined });
  expect(out).toContain('unprotected at most 144.2 s: position of s on BTCUSDT');
});

test('status counts the denials of the last hour, and names the most frequent rule with an example', () => {
  const minute = 60_000;
  const denied = { kind: 'denied', strategy: 's', symbol: 'BTCUSDT', reason: 'up', facts: {} } as const;
  const deny = (at: number, code: string, draft: string) => ({ ...denied, at: at * minute, code, draft });
  const db = openForWriting(join(dir, journalFile));
  writer(
    db,
    1,
    15 * minute,
  )([
    ...[deny(1, 'collar', 'BUY 1'), deny(2, 'collar', 'BUY 1')],
    ...[deny(100, 'orderShare', 'BUY 2'), deny(101, 'orderShare', 'BUY 2'), deny(102, 'collar', 'BUY 3')],
    { kind: 'equity', at: 110 * minute, equity: '1000' },
  ]);
  db.close();
  const options = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => undefined };
  showStatus(options);
  expect(out.find((line) => line.startsWith('denied'))).toMatch(
    /^denied {5}3 in the last hour, 2 by orderShare, such as s BTCUSDT BUY 2: .*\(sluice why s\)$/,
  );
  out = [];
  showStatus({ ...options, json: true });
  expect(JSON.parse(out[0] ?? '')).toMatchObject({
    denialsLastHour: [
      { rule: 'orderShare', times: 2, order: 'BUY 2' },
      { rule: 'collar', times: 1, order: 'BUY 3' },
    ],
  });
});

test('status and why show how long legs were open alone', () => {
  const db = openForWriting(join(dir, journalFile));
  const action = 'unwind';
  const times = {
    strategy: 's',
    afterMs: 60_000,
    action,
    since: null,
    open: ['BTCUSDT'],
    missing: ['ETHUSDT'],
    quote: 'USDT',
  };
  const long = { longestMs: 61_500, times: 2, beyondMs: 2_030, largest: 100, unwound: 'unwound' };
  writer(db, 1)([{ kind: 'memory', name: aloneMemory, value: JSON.stringify([{ ...times, ...long }]) }]);
  db.close();
  const options = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => undefined };
  showStatus(options);
  showWhy('s', options);
  const said =
    'legs alone s had a leg open alone for at most 61.5 s, 2 times longer than 60 s (by 2.1 s in all), with at most 100 USDT open; action: unwind; the last time BTCUSDT without ETHUSDT; all stay closed until one decision changes all their targets';
  expect(out.filter((line) => line === said)).toHaveLength(2);
});

test('status shows what files ask to be killed that no daemon has carried out', () => {
  writeFileSync(join(dir, 'kill-s'), 'smoke\n');
  expect(refusal(showStatus)).toBeUndefined();
  expect(out.join('\n')).toMatch(/^KILL PENDING of s by the file \S+kill-s: smoke \(a daemon applies it/m);
});

describe('a journal that something else changed', () => {
  test.each([
    ['status', showStatus],
    ['fills', showFills],
    ['orders', showOrders],
    ['positions', showPositions],
    ['limits', showLimits],
    ['why', (options: ShowOptions) => showWhy('c1', options)],
  ] as const)('is shown by %s, and said not to be relied on', (_, show) => {
    expect(refusal(show)).toBeUndefined();
    change("UPDATE fills SET price = '1'");
    out = [];
    expect(refusal(show)).toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^do not rely on this output: .*journal\.db was changed by something other than/),
    });
    expect(out).not.toEqual([]);
  });

  test('is the business of the daemon that runs on it, which looked when it began', () => {
    const lock = takeLock(dir);
    const there = { pid: 1, mode: 'live', startedAt: 1, exchange: 'x', control: 'http://127.0.0.1:1', token: 'z' };
    writeDaemonInfo(dir, there);
    change("UPDATE fills SET price = '1'");
    expect(refusal(showFills)).toBeUndefined();
    lock?.release();
    expect(refusal(showFills)).toBeDefined();
  });
});

test('a journal that is damaged, empty or locked away is refused in one line', () => {
  const path = join(dir, journalFile);
  writeFileSync(path, Buffer.alloc(16_384, 'x'));
  expect(refusal(showStatus)?.message).toMatch(/cannot be read \(file is not a database\)/);
  truncateSync(path, 0);
  expect(refusal(showStatus)?.message).toMatch(/journal\.db is empty, not a journal of Sluice/);
  rmSync(path);
  mkdirSync(path);
  expect(refusal(showStatus)?.message).toMatch(/cannot be read \(/);
});

test('status says how long what is without its protection has been, while it lasts, too', () => {
  const db = openForWriting(join(dir, journalFile));
  writer(
    db,
    1,
  )([
    {
      kind: 'memory',
      name: unprotectedMemory,
      value: '[["s","BTCUSDT",7200000,60000],["t","BTCUSDT",1200,null,90000]]',
    },
  ]);
  db.close();
  expect(refusal(showStatus)).toBeUndefined();
  expect(out.filter((line) => line.startsWith('unprotected'))).toEqual([
    'unprotected since 1970-01-01 00:01:00 UTC and still: position of s on BTCUSDT (at most 7200 s)',
    'unprotected at most 1.2 s, until 1970-01-01 00:01:30 UTC: position of t on BTCUSDT',
  ]);
});

test('status shows a flatten that waits for the next daemon', () => {
  const flatten = {
    strategy: 's',
    symbol: 'BTCUSDT',
    by: 'Ann',
    reason: 'news',
    until: 1,
    leftMs: 9,
    last: 4e12,
  };
  const ended = { ...flatten, strategy: 't', ended: 'resumed' };
  const db = openForWriting(join(dir, journalFile));
  writer(
    db,
    1,
  )([
    {
      kind: 'memory',
      name: 'flatten',
      value: JSON.stringify([
        { ...flatten, ended: null },
        ended,
        { ...flatten, strategy: 'over', ended: null, leftMs: null },
      ]),
    },
  ]);
  db.close();
  expect(refusal(showStatus)).toBeUndefined();
  expect(out.filter((line) => line.startsWith('flatten'))).toEqual([
    'flatten    s on BTCUSDT by Ann (news): goes on when a daemon starts, until 2096-10-02 07:06:40 UTC at the latest',
  ]);
});

test('status and positions say that nobody watches the exits of a position, while no daemon runs', () => {
  const options = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => undefined };
  const db = openForWriting(join(dir, journalFile));
  writer(
    db,
    1,
  )([
    { kind: 'instrument', symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 6 },
    { kind: 'protection', strategy: 's', symbol: 'BTCUSDT', protection: { size: '1', stop: '90', trailing: '0.1' } },
  ]);
  db.close();
  expect(refusal(showStatus)).toBeUndefined();
  expect(out.join('\n')).toMatch(/the exits of s on BTCUSDT \(stop 90, trailing 0.1\) are not watched until/);
  out = [];
  showPositions(options);
  expect(out.at(-1)).toBe('The protection works only while a daemon runs, and none runs here.');
  const lock = takeLock(dir);
  writeDaemonInfo(dir, {
    pid: 1,
    mode: 'live',
    startedAt: 1,
    exchange: 'x',
    control: 'http://127.0.0.1:1',
    token: 'z',
  });
  out = [];
  expect(refusal(showStatus)).toBeUndefined();
  expect(out.join('\n')).not.toContain('not watched');
  out = [];
  showPositions(options);
  expect(out.join('\n')).not.toMatch(/works only|unprotected/);
  const later = openForWriting(join(dir, journalFile));
  writer(later, 1)([{ kind: 'memory', name: unprotectedMemory, value: '[["s","BTCUSDT",1200,60000]]' }]);
  later.close();
  showPositions(options);
  expect(out.at(-1)).toBe(
    'The position of s on BTCUSDT is unprotected since 1970-01-01 00:01:00 UTC: its exits cannot act now.',
  );
  lock?.release();
});

test('status has the end of a ban, while a daemon runs and until the ban is over', () => {
  const banned = (until: string): string => {
    const db = openForWriting(join(dir, journalFile));
    writer(db, 1)([{ kind: 'memory', name: bannedUntilName, value: until }]);
    db.close();
    out = [];
    expect(refusal(showStatus)).toBeUndefined();
    return out.join('\n');
  };
  const inYears = String(Date.UTC(2100, 0, 1));
  expect(banned(inYears)).not.toContain('forbids');
  const lock = takeLock(dir);
  const there = { pid: 1, mode: 'live', startedAt: 1, exchange: 'x', control: 'http://127.0.0.1:1', token: 'z' };
  writeDaemonInfo(dir, there);
  expect(banned(inYears)).toContain(
    'ATTENTION  the exchange forbids requests until 2100-01-01 00:00:00 UTC, stops and cancels included',
  );
  expect(banned('1000')).not.toContain('forbids');
  expect(banned('')).not.toContain('forbids');
  lock?.release();
});

test('a table of a journal of years is drawn in a moment', () => {
  expect(
    textTable(
      ['a', ''],
      [
        ['long', '…1'],
        ['b', ''],
      ],
      'none',
    ).split('\n'),
  ).toEqual(['┌──────┬────┐', '│ a    │    │', '├──────┼────┤', '│ long │ …1 │', '│ b    │    │', '└──────┴────┘']);
  expect(textTable(['a'], [], 'none')).toBe('none');
  // What takes longer than a test may.
  const many = Array.from({ length: 50_000 }, (_, row) => [String(row), 'b', 'c']);
  expect(textTable(['a', 'b', 'c'], many, '').length).toBeGreaterThan(50_000);
});

test('why asks for a decision only where Sluice cannot decide: an unknown order is queried', () => {
  const options = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => undefined };
  const db = openForWriting(join(dir, journalFile));
  const states = [
    orderRowOf({ clientOrderId: 'u1', state: 'unknown' }),
    orderRowOf({ clientOrderId: 'q1', state: 'quarantined' }),
  ];
  writer(db, 1)(states);
  db.close();
  showWhy('u1', options);
  expect(out.join()).toContain('wait: a running daemon queries its outcome');
  expect(out.join()).not.toContain('sluice resolve');
  out = [];
  showWhy('q1', options);
  expect(out.join()).toContain('only you may decide it: sluice resolve q1 --as ');
});
