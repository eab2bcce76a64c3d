import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { SimClock } from '../clock/sim-clock.ts';
import type { Lane } from '../venue/venue.ts';
import { type Budget, type BudgetOptions, budget } from './budget.ts';
import { accountName, sharedFile, sharedFilePath, userOf } from './shared-file.ts';

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const hour = 60 * minute;
const fresh = (): string => join(mkdtempSync(join(tmpdir(), 'sluice-limits-')), 'deep', 'limits.db');

/** A process with its budget; all of a test live on one clock. */
function processOn(
  path: string,
  clock: SimClock,
  options: Partial<BudgetOptions> & { address?: string; isOneOff?: boolean } = {},
) {
  const { address = 'x:1', isOneOff = false, ...limits } = options;
  const warnings: string[] = [];
  const warn = (_: object, text: string): void => void warnings.push(text);
  const shared = sharedFile({ path, address, clock, warn, isOneOff, steady: () => clock.now() });
  const purse = budget({ clock, shared, ipWeightPerMinute: 100, uidWeightPerMinute: 100, ...limits });
  return { warnings, purse };
}

/** Whether a request goes at once. */
async function goes(purse: Budget, lane: Lane, weight: number, endpoint?: { endpoint: string; max: number }) {
  let gone = false;
  const cost = endpoint === undefined ? { weight } : { weight, frequency: endpoint };
  void purse.spend(lane, cost).then((taken) => {
    gone = taken;
  });
  await Promise.resolve();
  return gone;
}

describe('processes at one address', () => {
  it('count what the others spent, and leave each other’s cancels their share', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const [greedy, daemon] = [processOn(path, clock).purse, processOn(path, clock).purse];
    expect(await goes(daemon, 'create', 10)).toBe(true);
    expect(await goes(greedy, 'market', 60)).toBe(true);
    expect(await goes(greedy, 'market', 1)).toBe(false);
    expect(await goes(greedy, 'create', 10)).toBe(true);
    expect(await goes(daemon, 'cancel', 20)).toBe(true);
    expect(daemon.meter()).toMatchObject({ ip: { used: 100 }, others: 70 });
  });

  it('foresee room only while no other one did anything that they have not seen', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const [one, other] = [processOn(path, clock).purse, processOn(path, clock).purse];
    const foresees = (weight: number): boolean | undefined => one.spend.isRoom?.('create', { weight });
    await goes(one, 'create', 10);
    expect([foresees(70), foresees(71), one.meter().ip.used]).toEqual([true, false, 10]);
    await goes(other, 'create', 5);
    expect(foresees(1)).toBe(false);
    await goes(one, 'create', 5);
    expect([foresees(60), foresees(61)]).toEqual([true, false]);
    other.notice({ status: 429, retryAfterMs: 1_000 });
    expect(foresees(1)).toBe(false);
    await goes(one, 'cancel', 1);
    expect(foresees(1)).toBe(false);
  });

  it('go on as soon as what another one spent no longer counts', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const [one, other] = [processOn(path, clock).purse, processOn(path, clock).purse];
    expect(await goes(one, 'kill', 100)).toBe(true);
    await clock.advanceTo(start + 1_000);
    let wentAt = 0;
    void clock.track(other.spend('kill', { weight: 100 })).then(() => {
      wentAt = clock.now();
    });
    await clock.advanceTo(start + 2 * minute);
    expect(wentAt).toBe(start + minute + 500);
  });

  it('know after a crash what was spent before it', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    await goes(processOn(path, clock).purse, 'cancel', 95);
    await clock.advanceTo(start + 30_000);
    const { purse } = processOn(path, clock);
    expect(await goes(purse, 'cancel', 6)).toBe(false);
    await clock.advanceTo(start + minute + 500);
    expect(purse.meter()).toMatchObject({ waiting: 0 });
  });

  it('share what counts by user with those of the same key only', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const wide = { ipWeightPerMinute: 1_000 };
    const [mine, same, other] = ['a', 'a', 'b'].map((user) => processOn(path, clock, { ...wide, user }).purse);
    if (mine === undefined || same === undefined || other === undefined) return;
    const twice = { endpoint: 'margin query', max: 2 };
    await goes(mine, 'cancel', 50, twice);
    await goes(same, 'cancel', 1, twice);
    expect(await goes(mine, 'cancel', 1, twice)).toBe(false);
    expect(await goes(other, 'cancel', 1, twice)).toBe(true);
    expect(await goes(same, 'cancel', 50)).toBe(false);
    expect(await goes(other, 'cancel', 99)).toBe(true);
    expect(userOf('key')).toMatch(/^[0-9a-f]{12}$/);
  });

  it('share it with those of another key once the exchange said that both belong to one account, for good', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const wide = { ipWeightPerMinute: 1_000 };
    const begun = (user: string) => processOn(path, clock, { ...wide, user }).purse;
    const [mine, other, stranger] = [begun('a'), begun('b'), begun('c')];
    mine.identify(accountName('10001'));
    stranger.identify(accountName('10002'));
    expect(await goes(other, 'cancel', 60)).toBe(true);
    // Nobody knows yet whose the other key is.
    expect(await goes(mine, 'cancel', 30)).toBe(true);
    other.identify(accountName('10001'));
    expect(await goes(other, 'cancel', 10)).toBe(true);
    expect(await goes(other, 'cancel', 1)).toBe(false);
    expect(await goes(mine, 'cancel', 60)).toBe(true);
    expect(await goes(mine, 'cancel', 1)).toBe(false);
    expect(await goes(stranger, 'cancel', 99)).toBe(true);
    await clock.advanceTo(start + 2 * minute);
    // Later processes know it from the start, and so do those that never asked.
    const [again, third] = [begun('a'), begun('b')];
    expect(await goes(again, 'cancel', 80)).toBe(true);
    expect(await goes(third, 'cancel', 21)).toBe(false);
    expect(accountName('10001')).toMatch(/^[0-9a-f]{12}$/);
  });

  it('at another address are none of ours', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    await goes(processOn(path, clock, { address: 'y:1' }).purse, 'kill', 100);
    expect(await goes(processOn(path, clock).purse, 'kill', 100)).toBe(true);
  });

  it('count a machine that was started anew as a moment ago: its steady clock begins at zero', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    await goes(processOn(path, clock).purse, 'kill', 100);
    const { purse } = processOn(path, new SimClock(5_000));
    expect(await goes(purse, 'kill', 1)).toBe(false);
  });

  it('forget what no longer counts, so that the file stays small', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const { purse } = processOn(path, clock, { ipWeightPerMinute: 1_000, uidWeightPerMinute: 1_000 });
    for (let index = 0; index < 3_000; index++) {
      await goes(purse, 'cancel', 1);
      await clock.advanceTo(clock.now() + 1_000);
    }
    const rows = new Database(path, { readonly: true }).prepare('SELECT count(*) AS n FROM spent').get();
    expect(rows).toMatchObject({ n: expect.toSatisfy((n: number) => n < 800) });
  });
});

describe('bans', () => {
  const told = { status: 418, retryAfterMs: undefined } as const;

  it('outlive the process, in a file that only its owner can read, for that address alone', () => {
    const path = fresh();
    const clock = new SimClock(start);
    processOn(path, clock).purse.notice(told);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(processOn(path, clock).purse.meter().stoppedUntil).toBe(start + 2 * minute);
    expect(processOn(path, clock, { address: 'y:1' }).purse.meter().stoppedUntil).toBeUndefined();
  });

  it('are known to every running process at once, and grow for all of them', () => {
    const path = fresh();
    const clock = new SimClock(start);
    const [one, other, elsewhere] = [
      processOn(path, clock).purse,
      processOn(path, clock).purse,
      processOn(path, clock, { address: 'y:1' }).purse,
    ];
    one.notice({ status: 429, retryAfterMs: undefined });
    elsewhere.notice({ status: 410, retryAfterMs: undefined });
    expect(other.meter()).toMatchObject({ stoppedUntil: start + minute, slowedUntil: undefined });
    one.notice(told);
    expect(other.meter().stoppedUntil).toBe(start + 2 * minute);
    clock.skipTo(start + 3 * minute);
    other.notice(told);
    expect(one.meter().stoppedUntil).toBe(start + 3 * minute + 4 * minute);
  });

  it('are not believed beyond three days', () => {
    const path = fresh();
    const clock = new SimClock(start);
    processOn(path, clock).purse.notice(told);
    const db = new Database(path);
    db.exec('UPDATE bans SET banUntil = 9e15');
    db.close();
    expect(processOn(path, clock).purse.meter().stoppedUntil).toBe(start + 72 * hour);
  });
});

describe('a file', () => {
  it.each([
    [
      'that is no database',
      (path: string) => {
        for (const end of ['-wal', '-shm']) rmSync(path + end);
        writeFileSync(path, 'nonsense '.repeat(1_000));
      },
    ],
    ['with bans that are no times', (path: string) => new Database(path).exec("UPDATE bans SET banUntil = 'soon'")],
    ['with other tables', (path: string) => new Database(path).exec('DROP TABLE spent; CREATE TABLE spent (x)')],
  ])('%s is said, counts as a minute’s ban and is begun anew', async (_, spoil) => {
    const path = fresh();
    const clock = new SimClock(start);
    processOn(path, clock).purse.notice({ status: 410, retryAfterMs: undefined });
    spoil(path);
    const { purse, warnings } = processOn(path, clock);
    expect(await goes(purse, 'kill', 1)).toBe(false);
    expect(purse.meter().stoppedUntil).toBe(start + minute);
    expect(warnings).toEqual([expect.stringContaining('cannot be understood')]);
    expect(processOn(path, clock).purse.meter().stoppedUntil).toBe(start + minute);
  });

  it('that cannot be opened when a daemon starts counts as full for a minute, but for kills; a command goes on', async () => {
    const clock = new SimClock(start);
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-limits-')), 'a-file');
    writeFileSync(file, '');
    const { purse, warnings } = processOn(join(file, 'limits.db'), clock);
    expect([await goes(purse, 'cancel', 1), await goes(purse, 'kill', 1)]).toEqual([false, true]);
    expect(warnings).toContainEqual(expect.stringContaining('For one minute'));
    await clock.advanceTo(start + minute);
    expect(await goes(purse, 'cancel', 1)).toBe(true);
    const command = processOn(join(file, 'limits.db'), clock, { isOneOff: true });
    expect(await goes(command.purse, 'market', 1)).toBe(true);
  });

  it('that cannot be opened is said once, and limits and bans are heeded here', async () => {
    const clock = new SimClock(start);
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-limits-')), 'a-file');
    writeFileSync(file, '');
    const { purse, warnings } = processOn(join(file, 'limits.db'), clock);
    expect(await goes(purse, 'kill', 100)).toBe(true);
    expect(await goes(purse, 'kill', 1)).toBe(false);
    purse.notice({ status: 429, retryAfterMs: undefined });
    expect(purse.meter().stoppedUntil).toBe(start + minute);
    expect(warnings).toEqual([expect.stringContaining('cannot be written'), expect.stringContaining('For one minute')]);
  });

  it('that another process holds keeps nobody waiting for long', async () => {
    const path = fresh();
    const clock = new SimClock(start);
    const { purse, warnings } = processOn(path, clock);
    const holder = new Database(path);
    holder.exec('BEGIN IMMEDIATE');
    expect(await goes(purse, 'kill', 1)).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('another process holds')]);
    holder.exec('COMMIT');
    expect(await goes(purse, 'kill', 1)).toBe(true);
  });

  it('lies in the state directory of the user', () => {
    expect(sharedFilePath({ XDG_STATE_HOME: '/s' })).toBe('/s/sluice/limits.db');
    expect(sharedFilePath({})).toMatch(/\.local\/state\/sluice\/limits\.db$/);
  });
});
