import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Entry } from '../../journal/entries.ts';
import { commitIn } from '../../journal/hash-chain.ts';
import { load } from '../../journal/load.ts';
import { takeLock } from '../../journal/lock.ts';
import { thisHost } from '../../journal/newest-head.ts';
import { journalFile, openState } from '../../journal/open.ts';
import { openForWriting } from '../../journal/open-for-writing.ts';
import { schemaVersion } from '../../journal/schema.ts';
import { writer } from '../../journal/writer.ts';
import { controlFiles } from '../../session/control/control-files.ts';
import { callDaemon } from '../../session/control/daemon-client.ts';
import { writeDaemonInfo } from '../../session/state.ts';
import { cancel, flatten, kill, pause, resume } from './actions.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-control-'));
  openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['trend', 'grid']).lock.release();
});
afterEach(() => rmSync(dir, { recursive: true }));

function inJournal<T>(act: (db: Database.Database) => T): T {
  const db = openForWriting(join(dir, journalFile));
  try {
    return act(db);
  } finally {
    db.close();
  }
}
const write = (...entries: readonly Entry[]): void => inJournal((db) => writer(db, 1)(entries));

/** What the command prints where no daemon runs. */
async function says(
  action: 'kill' | 'pause' | 'resume' | 'cancel',
  strategy?: string,
  reason?: string,
  everything = false,
): Promise<string> {
  const lines: string[] = [];
  const options = {
    ...{ ...(strategy !== undefined && { strategy }), ...(reason !== undefined && { reason }) },
    ...{ state: dir, json: false, all: false, everything },
    out: (line: string) => void lines.push(line),
    say: () => undefined,
  };
  if (action === 'kill' || action === 'resume') await { kill, resume }[action](options);
  else if (action === 'cancel') await cancel(undefined, options);
  else await pause(strategy, { ...options, reason: reason ?? '' });
  return lines.join('\n').replace(dir, 'DIR');
}

test('a resume without a daemon is not undone by the loss that was made before it', async () => {
  write(
    { kind: 'day', day: Date.UTC(2020, 2, 12), equity: '2000000' },
    { kind: 'kill', everything: false, at: 1, strategy: null, by: 'dailyLoss', reason: 'lost' },
  );
  expect(await says('resume')).toBe(
    'All strategies may create orders again in DIR; the daily loss is measured from now on.',
  );
  const { kills, days } = inJournal(load);
  expect(kills).toEqual([]);
  expect(days.size).toBe(0);
});

test('a pause and its resume without a daemon keep what losses are measured from', async () => {
  const day = Date.UTC(2020, 2, 12);
  write(
    { kind: 'day', day, equity: '2000000' },
    { kind: 'memory', name: 'throttle.trend', value: '{"losses":2}' },
    { kind: 'memory', name: 'peak', value: '2100000' },
  );
  for (const strategy of [undefined, 'trend']) {
    await says('pause', strategy);
    await says('resume', strategy);
  }
  const { kills, days, memories } = inJournal(load);
  expect(kills).toEqual([]);
  expect([...days]).toEqual([[day, '2000000']]);
  expect([...memories.keys()].sort()).toEqual(['peak', 'throttle.trend']);
});

test('a resume without a daemon ends what a daemon was closing, of its strategy alone', async () => {
  const flatten = { symbol: 'BTCUSDT', by: 'operator', reason: 'out', begun: 1, worst: '1', until: 9e15 };
  const rest = { restsUntil: null, closed: '0', value: '0', ended: null };
  const kept = ['trend', 'grid'].map((strategy) => ({ strategy, ...flatten, ...rest }));
  write({ kind: 'memory', name: 'flatten', value: JSON.stringify(kept) });
  await says('resume', 'trend', 'calm');
  expect(JSON.parse(inJournal(load).memories.get('flatten') ?? '')).toMatchObject([
    { strategy: 'trend', until: 0, ended: 'resumed by operator: calm' },
    { strategy: 'grid', until: 9e15, ended: null },
  ]);
});

test('pause takes its strategy as the others do, too', async () => {
  const options = { state: dir, json: false, reason: 'news', out: () => undefined, say: () => undefined };
  await pause(undefined, { ...options, strategy: 'trend' });
  expect(inJournal(load).kills).toMatchObject([{ kind: 'pause', strategy: 'trend' }]);
  await expect(pause('grid', { ...options, strategy: 'trend' })).rejects.toThrow('name one strategy');
});

test('flatten refuses a strategy that is not there as kill and pause do', async () => {
  const options = { state: dir, json: false, reason: 'news', out: () => undefined, say: () => undefined };
  await expect(flatten({ ...options, strategy: 'trned' })).rejects.toMatchObject({
    message: expect.stringMatching(/^strategy trned never ran on/),
    exitCode: 2,
  });
});

test('a resume of one strategy names all that still stands', async () => {
  write(
    { kind: 'halt', everything: false, at: 0, strategy: null, by: 'ledger', reason: 'less BTC' },
    { kind: 'kill', everything: false, at: 1, strategy: null, by: 'operator', reason: 'news' },
    { kind: 'kill', everything: false, at: 2, strategy: 'trend', by: 'operator', reason: 'odd' },
  );
  expect(await says('resume', 'trend')).toBe(
    'trend may not create orders yet in DIR: all strategies are killed (news); trading is halted (less BTC). To lift that, too: sluice resume without --strategy.',
  );
  expect(await says('resume')).toContain('All strategies may create orders again');
});

test.each([
  ['  ', 'sluice kill'],
  [` ${'x'.repeat(600)}`, 'x'.repeat(500)],
])('a kill is carried out whatever its reason is (%#)', async (reason, written) => {
  await says('kill', undefined, reason);
  expect(inJournal(load).kills).toMatchObject([{ reason: written }]);
});

test.each(['kill', 'pause', 'resume', 'cancel'] as const)('%s refuses a strategy that is not there', async (action) => {
  await expect(says(action, 'trned')).rejects.toMatchObject({
    message: `strategy trned never ran on ${dir} (did you mean "trend"?); there are trend, grid`,
    exitCode: 2,
  });
  expect(inJournal(load).kills).toEqual([]);
});

test('a pause and a kill of everything wait in the journal, and a resume says what it lifted', async () => {
  expect(await says('pause', 'trend', 'news')).toMatch(
    /^trend is paused in DIR: it enters nothing until you resume\. It may leave positions, and exits stay in force\. .* None runs now/,
  );
  expect(await says('kill', undefined, 'fire', true)).toMatch(/^All strategies are killed with all exits in DIR: /);
  expect(inJournal(load).kills).toMatchObject([
    { kind: 'pause', strategy: 'trend', everything: false, by: 'operator', reason: 'news' },
    { kind: 'kill', strategy: null, everything: true, by: 'operator', reason: 'fire' },
  ]);
  expect(await says('resume', 'trend')).toMatch(
    /^trend may not create orders yet in DIR: all strategies are killed \(fire\)/,
  );
  await says('resume');
  await says('pause');
  expect(await says('resume')).toBe('All strategies may enter positions again in DIR.');
  expect(await says('resume')).toBe('Nothing was in force in DIR: no kill, no pause and no HALT.');
  expect(await says('resume', 'trend')).toBe('Nothing was in force in DIR: no kill and no pause of trend.');
});

test.each(['kill', 'pause', 'resume'] as const)(
  '%s leaves a journal alone that a newer Sluice wrote',
  async (action) => {
    inJournal((db) => db.pragma(`user_version = ${schemaVersion + 1}`));
    await expect(says(action)).rejects.toMatchObject({ exitCode: 3 });
    const db = new Database(join(dir, journalFile));
    expect(db.prepare('SELECT count(*) AS rows FROM kills').get()).toEqual({ rows: 0 });
    db.close();
  },
);

test.each(['kill', 'resume'] as const)(
  '%s writes nothing into a journal that something else changed',
  async (action) => {
    write({ kind: 'kill', everything: false, at: 1, strategy: 'trend', by: 'operator', reason: 'news' });
    inJournal((db) => db.exec("UPDATE kills SET reason = 'none'"));
    await expect(says(action)).rejects.toMatchObject({
      message: expect.stringContaining('was changed by something other than Sluice'),
      exitCode: 3,
    });
    const db = new Database(join(dir, journalFile));
    expect(db.prepare('SELECT count(*) AS rows FROM kills').get()).toEqual({ rows: 1 });
    db.close();
  },
);

test('a resume takes away what files ask for that no daemon has carried out', async () => {
  const files = ['kill', 'kill-grid', 'kill-trend'].map((name) => join(dir, name));
  for (const file of files) writeFileSync(file, 'smoke\n');
  expect(await says('resume', 'trend')).toMatch(
    /^trend may not create orders yet in DIR: all strategies are killed \(smoke \(\S+kill\)\)/,
  );
  expect(files.map((file) => existsSync(file))).toEqual([true, true, false]);
  expect(await says('resume')).toContain('All strategies may create orders again');
  expect(files.map((file) => existsSync(file))).toEqual([false, false, false]);
});

test('a daemon that is just starting finds a kill and a pause when it has begun; a resume waits until it trades', async () => {
  const lock = takeLock(dir);
  expect(await says('kill', 'trend')).toMatch(
    /^The kill is stored in .*kill-trend: .* Now a daemon is just starting or stopping on /,
  );
  expect(await says('pause')).toMatch(
    /^The pause is stored in .*pause: .* before anything is entered\. Now a daemon is/,
  );
  await expect(says('resume')).rejects.toThrow(
    /^nothing was lifted: a daemon is just starting .*\. Run sluice resume when it trades\. What is only stored is taken back by: rm \S+kill-trend \S+pause$/,
  );
  // A pause of all stays, as it does for a resume of one strategy that is carried out.
  await expect(says('resume', 'trend')).rejects.toThrow(/taken back by: rm \S+kill-trend$/);
  lock?.release();
  expect(controlFiles(dir)).toMatchObject([
    { kind: 'kill', strategy: 'trend', reason: 'sluice kill' },
    { kind: 'pause', strategy: undefined, reason: 'sluice pause' },
  ]);
  expect(inJournal(load).kills).toEqual([]);
});

describe('a daemon that does not carry out a kill', () => {
  /** What the command says of one that breaks off instead of answering. */
  async function said(strategy?: string): Promise<string> {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const lock = takeLock(dir);
    const common = { mode: 'live', startedAt: 0, exchange: 'x', token: 't' };
    writeDaemonInfo(dir, { ...common, pid: 4_711, control: `http://127.0.0.1:${port}` });
    try {
      return await says('kill', strategy).then(
        () => 'nothing was wrong',
        (error: unknown) => String(error),
      );
    } finally {
      server.close();
      lock?.release();
    }
  }

  test.each([
    [undefined, 'kill'],
    ['trend', 'kill-trend'],
  ])('finds it as a file (%s)', async (strategy, name) => {
    expect(await said(strategy)).toMatch(
      new RegExp(`process 4711\\) has not confirmed kill \\(ECONNRESET\\): .*stored in .*/${name}: .*kill -9 4711`),
    );
    expect(controlFiles(dir)).toMatchObject([{ strategy, by: 'file', reason: 'sluice kill' }]);
  });
});

test('a kill that is in force while its cancels wait for the exchange is told as that', async () => {
  const server = createServer((request) => {
    write({ kind: 'kill', everything: false, at: 1, strategy: null, by: 'operator', reason: 'sluice kill' });
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const lock = takeLock(dir);
  const common = { mode: 'live', startedAt: 0, exchange: 'x', token: 't' };
  writeDaemonInfo(dir, { ...common, pid: 4_711, control: `http://127.0.0.1:${port}` });
  await expect(says('kill')).rejects.toMatchObject({
    message: expect.stringMatching(
      /^All strategies are killed, and exits stay in force: .* did not confirm the cancels \(ECONNRESET\)/,
    ),
    exitCode: 1,
  });
  server.close();
  lock?.release();
  expect(controlFiles(dir)).toEqual([]);
});

test.each([
  ['says nothing', 'no answer within 0\\.1 s', () => undefined],
  ['ends before it answers', 'ECONNRESET', (request: IncomingMessage) => void request.socket.destroy()],
])('where a daemon %s, the message says that it may have been done', async (_, why, answer) => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const daemon = {
    pid: 4_711,
    mode: 'live',
    startedAt: 0,
    exchange: 'x',
    token: 't',
    control: `http://127.0.0.1:${port}`,
  };
  await expect(callDaemon(daemon, 'adjust', {}, 100)).rejects.toThrow(
    new RegExp(`has not confirmed adjust \\(${why}\\): it may have done it, or still be working on it`),
  );
  server.closeAllConnections();
  server.close();
});

test('a state directory that takes nothing is said in one line', async () => {
  // As for another user, who may not open it.
  rmSync(join(dir, 'lock.db'));
  mkdirSync(join(dir, 'lock.db'));
  await expect(says('kill')).rejects.toMatchObject({
    exitCode: 3,
    message: `the journal in ${dir} cannot be written (unable to open database file): do this as the user whose daemon trades there, or change its permissions; nothing was changed`,
  });
});

describe('a copy of a journal that traded', () => {
  const guard = () => ({ dir: join(dir, 'xdg', 'sluice', 'journals'), host: thisHost(), accept: undefined });
  const open = (at = dir): void =>
    openState(at, { mode: 'live', account: 'spot', venue: 'v' }, ['trend', 'grid'], guard()).lock.release();
  beforeEach(() => {
    vi.stubEnv('XDG_STATE_HOME', join(dir, 'xdg'));
    open();
    mkdirSync(join(dir, 'copy'));
    copyFileSync(join(dir, journalFile), join(dir, 'copy', journalFile));
  });
  afterEach(() => vi.unstubAllEnvs());
  const killCopy = (): Promise<void> =>
    kill({ state: join(dir, 'copy'), everything: false, json: false, out: () => undefined, say: () => undefined });

  test('is written into by no command once the other one went on, and stays as it is', async () => {
    open();
    const bytes = readFileSync(join(dir, 'copy', journalFile));
    await expect(killCopy()).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/is older than the one that traded here last.*nothing was changed$/),
    });
    expect(readFileSync(join(dir, 'copy', journalFile))).toEqual(bytes);
    expect(await says('kill')).toMatch(/are killed in DIR/);
  });

  test('is written into by no command while a daemon runs on the other one', async () => {
    // Its opening is in the copy, too: the copy is as new.
    const running = openState(dir, { mode: 'live', account: 'spot', venue: 'v' }, ['trend', 'grid'], guard());
    copyFileSync(join(dir, journalFile), join(dir, 'copy', journalFile));
    await expect(killCopy()).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/is a copy of the journal with which a daemon of this machine runs/),
    });
    running.lock.release();
    await killCopy();
  });

  test('is old once a command wrote into the other one', async () => {
    await says('kill');
    expect(() => open(join(dir, 'copy'))).toThrow(/is older than the one that traded here last/);
    open();
  });

  test('from another host is written into by no command', async () => {
    inJournal((db) =>
      commitIn(db, () => db.prepare("UPDATE openings SET host = 'elsewhere' WHERE host IS NOT NULL").run()),
    );
    await expect(says('resume')).rejects.toThrow(/was last written on another host/);
  });
});
