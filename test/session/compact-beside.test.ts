/** `sluice journal compact` beside a daemon that trades: orders go on, nothing is lost or counted twice, whatever is killed meanwhile. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test, vi } from 'vitest';
import { attachArchive } from '../../src/archive/attach.ts';
import { compact } from '../../src/commands/journal/compact.ts';
import { archivesIn } from '../../src/journal/archive.ts';
import type { Entry } from '../../src/journal/entries.ts';
import { journalFile } from '../../src/journal/open.ts';
import { callDaemon } from '../../src/session/control/daemon-client.ts';
import { writeOffline } from '../../src/session/control/offline-journal.ts';
import { runningDaemon } from '../../src/session/state.ts';
import { differencesAtRest } from '../kit/books.ts';
import type { Program } from '../kit/program.ts';
import { target, trader } from '../kit/rig.ts';
import { exchange, rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { until } from '../kit/until.ts';

rigForEachTest();
let daemon: Program | undefined;
afterEach(async () => {
  await daemon?.end('SIGKILL');
  vi.unstubAllEnvs();
});

const count = 2_000;
/** Of 2023, months before the exchange's time. */
const longAgo = 1_700_000_000_000;

/** What a daemon leaves behind in years, without orders. */
const evidence = (): readonly Entry[] =>
  Array.from({ length: count }, (_, row): readonly Entry[] => {
    const at = longAgo + row * 60_000;
    return [
      { kind: 'notice', at, level: 'info', text: `old ${row}` },
      { kind: 'equity', at, equity: '600000' },
    ];
  }).flat();

/** Old notices: in the journal alone, and with its archive. */
function notices(): readonly [number, number] {
  const db = new Database(join(rig.state, journalFile), { readonly: true });
  const countOf = (table: string): number =>
    Number(db.prepare(`SELECT count(*) FROM ${table} WHERE text LIKE 'old %'`).pluck().get());
  try {
    const left = countOf('main.notices');
    attachArchive(db, rig.state);
    return [left, countOf('notices')];
  } finally {
    db.close();
  }
}

/** A daemon with old evidence that trades. */
async function trading(): Promise<Program> {
  await (await rig.start()).end('SIGINT');
  for (const [name, value] of Object.entries(rig.env)) if (name.startsWith('XDG')) vi.stubEnv(name, value);
  writeOffline(rig.state, evidence());
  return rig.start();
}

const given = () => ({
  ...{ state: rig.state, keepDays: 1, environment: rig.env, json: false, out: () => {}, say: () => {} },
});

test('old rows leave the journal in small commits while orders go on', async () => {
  daemon = await trading();
  const filled = exchange.allOrders(trader.uid).length;
  let turns = 0;
  const step = (): void => rig.emit('taker', target(turns++ % 2 === 0 ? 0.1 : 0));
  await compact({ ...given(), step });
  await until('orders', () => exchange.allOrders(trader.uid).length > filled);
  const [left, all] = notices();
  // The newest notice of the journal stays.
  expect([left <= 1, all]).toEqual([true, count]);
  expect((await rig.run('status')).stdout).toMatch(/^fills +[1-9]/m);
  rig.emit('taker', target(0));
  expect(await differencesAtRest(rig, exchange)).toEqual([]);
  expect((await daemon.end('SIGINT')).code).toBe(130);
  expect((await rig.run('journal', 'check')).code).toBe(0);
});

test('a command that is killed half-way, and then the daemon, lose nothing and double nothing', async () => {
  daemon = await trading();
  const child = join(import.meta.dirname, '../kit/compact-child.ts');
  for (const broken of ['write notices', 'commit', 'delete notices', 'deleted of notices']) {
    const home = rig.env['XDG_STATE_HOME'] ?? '';
    const { signal } = spawnSync(process.execPath, [child, rig.state, home, broken], {
      env: { ...process.env, ...rig.env },
    });
    expect([broken, signal]).toEqual([broken, 'SIGKILL']);
    expect(notices()[1], broken).toBe(count);
  }
  const killed = daemon;
  let removed = 0;
  const failing = compact({
    ...given(),
    step(name) {
      if (name === 'deleted of notices' && removed++ === 2) process.kill(killed.pid ?? 0, 'SIGKILL');
    },
  });
  await expect(failing).rejects.toThrow(/did not carry out archived/);
  const [left, all] = notices();
  expect([left > 0 && left < count, all]).toEqual([true, count]);
  expect((await rig.run('journal', 'check')).stdout).not.toContain('finding');
  daemon = await rig.start();
  await compact(given());
  expect(notices()).toEqual([0, count]);
  expect(await differencesAtRest(rig, exchange)).toEqual([]);
  expect((await daemon.end('SIGINT')).code).toBe(130);
  expect((await rig.run('journal', 'check')).code).toBe(0);
});

test('beside a daemon a day stays, and the daemon names no file twice', async () => {
  daemon = await trading();
  expect((await rig.run('journal', 'compact', '--keep-days', '0')).stderr).toContain('at least a day stays');
  const done = await rig.run('journal', 'compact', '--keep-days', '1');
  expect([done.code, done.stderr]).toEqual([
    0,
    expect.stringMatching(/rows of notices in archive\/000001-notices\.parquet/),
  ]);
  const running = runningDaemon(rig.state);
  if (running === undefined) throw new Error('no daemon runs');
  const fills = callDaemon(running, 'archived', { by: 'operator', table: 'fills', keys: [[1]] });
  await expect(fills).rejects.toThrow(/did not carry out archived: table/);
  const signals = callDaemon(running, 'archived', { by: 'operator', table: 'venue_orders', keys: [['1']] });
  await expect(signals).rejects.toThrow('no file of the archive has rows of venue_orders');
  const db = new Database(join(rig.state, journalFile), { readonly: true });
  const [archive] = archivesIn(db);
  db.close();
  await expect(callDaemon(running, 'archive', { by: 'operator', ...archive })).rejects.toThrow(
    'in the archive already',
  );
});
