import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTime } from '../../../test/kit/builders.ts';
import { beginning, filledOrder, idOf, sent } from '../../../test/kit/ended-orders.ts';
import { denialOf, eventOf, orderRowOf } from '../../../test/kit/journal-rows.ts';
import { refusalLater } from '../../../test/kit/refusal.ts';
import { attachArchive } from '../../archive/attach.ts';
import { keyFile } from '../../archive/compact.ts';
import { archiveDir, archivesIn } from '../../journal/archive.ts';
import type { Entry, SignalEntry, VenueTradeEntry } from '../../journal/entries.ts';
import { takeLock } from '../../journal/lock.ts';
import { type Identity, journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { openReader } from '../../journal/reader.ts';
import { writer } from '../../journal/writer.ts';
import { Performance } from '../../session/history/performance.ts';
import { showPnl } from '../books/pnl.ts';
import { showWhy } from '../show/why.ts';
import { backup, restore } from './backup.ts';
import { checkJournal } from './check.ts';
import { compact } from './compact.ts';

const dayMs = 86_400_000;
let root: string;
let dir: string;
let identity: Identity;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-compact-'));
  dir = join(root, 'state');
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  ({ identity } = state);
  state.lock.release();
  put(...past());
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(...entries: readonly Entry[]): void {
  const db = openForWriting(join(dir, journalFile));
  writer(db, identity.epoch)(entries);
  db.close();
}
const signal = (at: number): SignalEntry => ({
  ...{ kind: 'signal', at, decision: 1, strategy: 's', role: 'main', symbol: 'BTCUSDT', quantity: '1', memory: null },
  signal: { kind: 'target', size: { quantity: 1 }, reason: 'r' } as never,
});
const tradeOf = (entries: readonly Entry[]): VenueTradeEntry =>
  entries.find((entry) => entry.kind === 'venueTrade') as VenueTradeEntry;

/** Three orders that ended ten days ago and one now, one that is open since, a foreign trade, and what is shown of the past. */
function past(): readonly Entry[] {
  const now = startTime + 10 * dayMs;
  const equity = (at: number, value = '1000'): Entry => ({ kind: 'equity', at, equity: value });
  const trade = tradeOf(filledOrder(identity, 9));
  return [
    ...beginning,
    ...[1, 2, 3].flatMap((sequence) => filledOrder(identity, sequence)),
    ...filledOrder(identity, 4, { at: 10 * dayMs }),
    eventOf('sending', { clientOrderId: idOf(identity, 5) }),
    eventOf('unknown', { clientOrderId: idOf(identity, 5) }),
    orderRowOf({ clientOrderId: idOf(identity, 5), ...sent, state: 'unknown' }),
    { ...trade, quantity: '0.1', orderIds: ['77'], tradeId: '500' },
    ...[signal(startTime), signal(startTime + 1), signal(now)],
    ...[denialOf(), denialOf({ at: now, draft: 'BUY 3' })],
    ...[equity(startTime), equity(startTime + 60_000), equity(startTime + 120_000, '1010')],
    ...[equity(startTime + dayMs, '1020'), equity(startTime + dayMs + 60_000, '1030'), equity(now)],
    { kind: 'notice', at: startTime, level: 'info', text: 'oldest' },
    { kind: 'notice', at: startTime, level: 'info', text: 'old' },
    { kind: 'cursor', symbol: 'BTCUSDT', tradeIds: ['74'] },
  ];
}

const io = { json: false, out: () => {}, say: () => {} };
const environment = (): Readonly<Record<string, string>> => ({ XDG_STATE_HOME: root });
const run = (given: Partial<Parameters<typeof compact>[0]> = {}): Promise<void> =>
  compact({ state: dir, keepDays: 5, environment: environment(), ...io, ...given });

const tables = ['orders', 'fills', 'events', 'venue_orders', 'venue_trades', 'signals', 'denials', 'notices', 'equity'];
/** Every row of a journal, those of its archive too. */
function allRows(): Readonly<Record<string, readonly string[]>> {
  const db = new Database(join(dir, journalFile), { readonly: true });
  attachArchive(db, dir);
  const rows = tables.map((table) => [
    table,
    db
      .prepare(`SELECT * FROM ${table}`)
      .raw()
      .all()
      .map((row) => JSON.stringify(row))
      .sort((a, b) => (a < b ? -1 : 1)),
  ]);
  db.close();
  return Object.fromEntries(rows) as Readonly<Record<string, readonly string[]>>;
}
function countIn(table: string): number {
  const db = new Database(join(dir, journalFile), { readonly: true });
  const count = db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  db.close();
  return Number(count);
}
const check = () => checkJournal(dir, environment());

test('the profit of each day is the same afterwards', async () => {
  const days = (): unknown => {
    const reader = openReader(dir);
    const { periods } = new Performance().of(reader, undefined);
    reader.close();
    return periods.day;
  };
  const before = days();
  expect(before).toMatchObject([{ profit: '-30' }, { profit: '20' }, { profit: '10' }]);
  await run();
  expect(days()).toEqual(before);
});

test('old evidence moves to the archive, and every row is still read', async () => {
  const before = allRows();
  const { rows, expectedBalances } = check();
  await run();
  expect(tables.map((table) => [table, countIn(table)])).toEqual([
    ...[
      ['orders', 5],
      ['fills', 4],
      ['events', 8],
      ['venue_orders', 1],
      ['venue_trades', 2],
      ['signals', 1],
      ['denials', 1],
    ],
    ...[
      ['notices', 1],
      // The first one, and the last of each day.
      ['equity', 4],
    ],
  ]);
  expect(allRows()).toEqual(before);
  const after = check();
  expect(after.findings).toEqual([]);
  expect(after.expectedBalances).toEqual(expectedBalances);
  for (const table of tables) expect([table, after.rows[table]]).toEqual([table, rows[table]]);
});

test('why and pnl answer as before', async () => {
  const answers = (): readonly string[] => {
    const out: string[] = [];
    const shown = { state: dir, json: false, out: (line: string) => void out.push(line), say: () => {} };
    showWhy(idOf(identity, 1), shown);
    showPnl({ ...shown, method: 'fifo', by: ['day'] });
    return out;
  };
  const before = answers();
  expect(before.join('\n')).toContain('journalled, then sent');
  await run();
  expect(answers()).toEqual(before);
});

test('a daemon opens it with its open orders, and finds each old fill and the owner of each old order', async () => {
  await run();
  const state = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  const { loaded, lock } = state;
  expect(loaded.orders.map(({ clientOrderId }) => clientOrderId)).toEqual([idOf(identity, 5)]);
  expect(loaded.past.fill({ tradeId: '71', orderId: '1001' })).toMatchObject({ clientOrderId: idOf(identity, 1) });
  expect(loaded.past.ownerOf('1001')).toMatchObject({ strategy: 's' });
  expect(loaded.venueTrades.map(({ tradeId }) => tradeId)).toEqual(['500']);
  expect([loaded.cursors.get('BTCUSDT'), loaded.signals.length, loaded.firstEquity]).toEqual([['74'], 1, '1000']);
  loaded.past.close();
  lock.release();
});

test('a second run moves what is old by then, and a trade that the exchange shows again counts once', async () => {
  await run();
  const trade = tradeOf(filledOrder(identity, 1));
  const before = allRows();
  put({ ...trade, seenAt: startTime + 11 * dayMs });
  expect(allRows()).toEqual(before);
  expect(check().findings).toEqual([]);
  await run({ keepDays: 0 });
  expect(readdirSync(join(dir, archiveDir)).filter((name) => name.startsWith('000002'))).not.toEqual([]);
  expect(check().findings).toEqual([]);
  expect(countIn('orders')).toBe(5);
});

test('denials and notices after a compaction of all are read beside the archived ones', async () => {
  const seen = (table: string): number => allRows()[table]?.length ?? 0;
  const before = [seen('denials'), seen('notices')] as const;
  put({ kind: 'equity', at: startTime + 20 * dayMs, equity: '1000' });
  for (const round of [1, 2]) {
    await run({ keepDays: 0 });
    const at = startTime + 11 * dayMs;
    put(denialOf({ at, draft: `BUY ${round}` }), { kind: 'notice', at, level: 'info', text: `new ${round}` });
    expect([seen('denials'), seen('notices')]).toEqual([before[0] + round, before[1] + round]);
  }
  expect(allRows()['notices']?.at(-1)).toContain('new 2');
  expect(check().findings).toEqual([]);
});

test('a backup has the archive and its key, and comes back whole', async () => {
  await run();
  const before = allRows();
  const secret = { ...environment(), SLUICE_BACKUP_PASSPHRASE: 'correct horse battery' };
  await backup(join(root, 'copy'), { state: dir, environment: secret, ...io });
  rmSync(dir, { recursive: true });
  restore(join(root, 'copy'), { state: dir, environment: secret, ...io });
  expect(allRows()).toEqual(before);
  expect(check().findings).toEqual([]);
});

test('a backup of an archive that was changed, or is missing, is refused, and leaves nothing', async () => {
  await run();
  const to = join(root, 'copy');
  const said: string[] = [];
  const backUp = (): Promise<void> =>
    backup(to, { state: dir, environment: environment(), ...io, say: (line) => void said.push(line) });
  const path = join(dir, archiveDir, readdirSync(join(dir, archiveDir))[0] ?? '');
  const whole = readFileSync(path);
  writeFileSync(path, Buffer.concat([whole, Buffer.from('x')]));
  expect(await refusalLater(backUp)).toMatchObject({
    message: `${path} is not the file that the journal names: restore it from a backup`,
    exitCode: 3,
  });
  rmSync(path);
  expect(await refusalLater(backUp)).toMatchObject({
    message: `${path} is missing: restore it from a backup`,
    exitCode: 3,
  });
  expect([existsSync(to), existsSync(`${to}.unfinished`)]).toEqual([false, false]);
  writeFileSync(path, whole);
  await backUp();
  expect(said.at(-1)).toContain('the key of the order ids and that of the checkpoints (checkpoint.key)');
});

/** The steps of a compaction, from a copy. */
async function stepsOf(): Promise<readonly string[]> {
  const copy = join(root, 'steps');
  const state = openState(copy, { mode: 'live', account: 'spot', venue: 'v' }, ['s']);
  state.lock.release();
  for (const end of ['-wal', '-shm']) rmSync(join(copy, `${journalFile}${end}`), { force: true });
  copyFileSync(join(dir, journalFile), join(copy, journalFile));
  const steps: string[] = [];
  await run({ state: copy, step: (name) => void steps.push(name) });
  return steps;
}

describe('an interruption loses nothing', () => {
  test('at any step, by an error', async () => {
    const before = allRows();
    const steps = await stepsOf();
    expect(steps).toEqual(
      expect.arrayContaining(['clean', 'write events', 'compare', 'delete events', 'shrink', 'end']),
    );
    for (const broken of steps) {
      const failing = run({
        step: (name) => {
          if (name === broken) throw new Error('the power went');
        },
      });
      await expect(failing, broken).rejects.toThrow('the power went');
      expect(allRows(), broken).toEqual(before);
      expect(check().findings, broken).toEqual([]);
    }
    await run();
    expect(allRows()).toEqual(before);
    const left = readdirSync(join(dir, archiveDir)).length;
    const db = new Database(join(dir, journalFile), { readonly: true });
    expect(archivesIn(db).length).toBe(left);
    db.close();
  });

  test('at any step, by kill -9', async () => {
    const before = allRows();
    const child = join(import.meta.dirname, '../../../test/kit/compact-child.ts');
    for (const broken of await stepsOf()) {
      const { signal: ended } = spawnSync(process.execPath, [child, dir, root, broken], { timeout: 60_000 });
      // A run after the commit has nothing left to do at the steps before it.
      if (broken === 'clean' || broken === 'end') expect(ended, broken).toBe('SIGKILL');
      expect(allRows(), broken).toEqual(before);
      expect(check().findings, broken).toEqual([]);
    }
    await run();
    expect(allRows()).toEqual(before);
  }, 300_000);
});

describe('the checkpoint', () => {
  test('finds an archive that was changed, is missing, or was signed with another key', async () => {
    await run();
    const [file = ''] = readdirSync(join(dir, archiveDir));
    const path = join(dir, archiveDir, file);
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.concat([whole, Buffer.from('x')]));
    expect(check().findings).toMatchObject([
      { rule: 'archive', text: expect.stringContaining('is not the file that') },
    ]);
    rmSync(path);
    expect(check().findings).toMatchObject([{ rule: 'archive', text: expect.stringContaining('is missing') }]);
    writeFileSync(path, whole);
    writeFileSync(join(dir, keyFile), `${'0'.repeat(64)}\n`);
    expect(check().findings[0]).toMatchObject({ rule: 'archive', text: expect.stringContaining('another key') });
    rmSync(join(dir, keyFile));
    expect(check().findings[0]).toMatchObject({
      rule: 'archive',
      text: expect.stringContaining('key of the checkpoints'),
    });
  });

  test('is signed with the key of the environment, which is then not in the directory', async () => {
    const secret = { ...environment(), SLUICE_CHECKPOINT_KEY: 'k'.repeat(40) };
    expect(
      (await refusalLater(() => run({ environment: { ...secret, SLUICE_CHECKPOINT_KEY: 'short' } }))).message,
    ).toContain('fewer than 32 characters');
    await run({ environment: secret });
    expect(existsSync(join(dir, keyFile))).toBe(false);
    expect(checkJournal(dir, secret).findings).toEqual([]);
  });

  test('has a key that only its owner can read', async () => {
    await run();
    expect(statSync(join(dir, keyFile)).mode & 0o077).toBe(0);
  });
});

describe('is refused', () => {
  test('while a daemon runs', async () => {
    const lock = takeLock(dir);
    expect(await refusalLater(() => run())).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('stop it first'),
    });
    lock?.release();
  });

  test('for a journal that something else changed, or in which something is wrong', async () => {
    put(...filledOrder(identity, 6, { executed: '2' }));
    expect((await refusalLater(() => run())).message).toContain('sluice journal check finds 1');
    const db = new Database(join(dir, journalFile));
    db.exec("UPDATE fills SET price = '1'");
    db.close();
    expect((await refusalLater(() => run())).message).toContain('was changed by something other than Sluice');
    expect(existsSync(join(dir, archiveDir))).toBe(false);
  });

  test('not where nothing is old: then it says so', async () => {
    const said: string[] = [];
    await run({ keepDays: 100, say: (line) => void said.push(line) });
    expect(said).toEqual([expect.stringMatching(/^nothing to move: no evidence is older than /)]);
  });
});

test('the first equity and the last of each day stay, however little is kept', async () => {
  put({ kind: 'equity', at: startTime + 20 * dayMs, equity: '900' });
  put({ kind: 'notice', at: startTime + 40 * dayMs, level: 'info', text: 'newest' });
  await run({ keepDays: 0 });
  const db = new Database(join(dir, journalFile), { readonly: true });
  expect(db.prepare('SELECT equity FROM equity ORDER BY at').pluck().all()).toEqual([
    ...['1000', '1010', '1030', '1000', '900'],
  ]);
  db.close();
});
