import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestRig } from '../../../test/kit/test-rig.ts';
import { SimClock } from '../../clock/sim-clock.ts';
import type { Notice } from '../../journal/entries.ts';
import type { Kill } from '../../risk/kill.ts';
import { killPollMs } from '../control/control-files.ts';
import { watchKills } from './kill-watcher.ts';

let stateDir: string;
let notices: Notice[];
/** Of what each kill was, undefined for everything. */
let killed: (string | undefined)[];
let kinds: Kill['kind'][];
/** Whether the disk is full, as the journal knows it. */
let journal: { full: boolean; durable(): Promise<boolean> };
let stop: AbortController;
let inForce: readonly Kill[];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'sluice-guardian-'));
  [notices, killed, kinds, stop, inForce] = [[], [], [], new AbortController(), []];
  journal = {
    full: false,
    async durable() {
      return !this.full;
    },
  };
});
afterEach(() => {
  stop.abort();
  rmSync(stateDir, { recursive: true });
});
const inState = (name: string): string => join(stateDir, name);
const touch = (name: string): void => writeFileSync(inState(name), '');

/** Begins, and gives what lets it look once more. */
function guarded(): () => Promise<void> {
  const { assembled } = new TestRig();
  for (const kill of inForce) assembled.risk.switch.kill(kill);
  const clock = new SimClock(0);
  void watchKills(
    {
      ...{ stateDir, clock, hosted: [{ id: 'trend' }] },
      journal: journal as Parameters<typeof watchKills>[0]['journal'],
      assembled: {
        ...assembled,
        kill: async ({ kind, strategy }) => {
          killed.push(strategy);
          kinds.push(kind);
          return [];
        },
      },
      notice: (said) => void notices.push(said),
    },
    stop.signal,
  );
  return () => clock.advanceTo(clock.now() + killPollMs);
}
const errors = (): readonly string[] => notices.filter(({ level }) => level === 'error').map(({ text }) => text);

test('a file that kills nobody is told of once and stays, and one that kills is carried out', async () => {
  for (const name of ['kill-tredn', 'kill-Trend', 'kill-trend']) touch(name);
  mkdirSync(inState('kill'));
  const look = guarded();
  for (let again = 0; again < 3; again++) await look();
  expect(killed).toEqual([undefined, 'trend']);
  expect(errors()).toHaveLength(3);
  expect(errors().join('\n')).toMatch(
    /kill-tredn has no effect: no strategy tredn runs here \(did you mean "trend"\?\)/,
  );
  expect(errors().join('\n')).toMatch(/kill cannot be removed \(ERR_FS_EISDIR\): remove it/);
  expect(['kill-tredn', 'kill-Trend', 'kill-trend'].map((name) => existsSync(inState(name)))).toEqual([
    true,
    true,
    false,
  ]);
});

test('a file that pauses is carried out as a pause', async () => {
  touch('pause-trend');
  touch('pause.everything');
  await guarded()();
  expect([killed, kinds]).toEqual([['trend'], ['pause']]);
  expect(existsSync(inState('pause-trend'))).toBe(false);
});

test('a file that comes after one that could not be taken away is a kill of its own', async () => {
  mkdirSync(inState('kill'));
  const look = guarded();
  await look();
  rmdirSync(inState('kill'));
  await look();
  expect(killed).toEqual([undefined]);
  touch('kill');
  await look();
  expect(killed).toEqual([undefined, undefined]);
  expect(existsSync(inState('kill'))).toBe(false);
});

test('while the disk is full a file is carried out once and stays, and goes when its kill is written', async () => {
  journal.full = true;
  touch('kill');
  const look = guarded();
  for (let again = 0; again < 5; again++) await look();
  expect(killed).toEqual([undefined]);
  expect(notices).toEqual([]);
  expect(existsSync(inState('kill'))).toBe(true);
  journal.full = false;
  await look();
  expect(existsSync(inState('kill'))).toBe(false);
  expect(killed).toEqual([undefined]);
});

test.each([
  ['with its reason', 'looks wrong\n'],
  ['empty, since it found no room', ''],
])('the file that a kill left on a full disk is not another kill: %s', async (_, text) => {
  const kill = { kind: 'kill', everything: false, at: 0, strategy: undefined, by: 'operator' } as const;
  inForce = [{ ...kill, reason: 'looks wrong' }];
  journal.full = true;
  writeFileSync(inState('kill'), text);
  const look = guarded();
  await look();
  expect([killed, notices, existsSync(inState('kill'))]).toEqual([[], [], true]);
  journal.full = false;
  await look();
  expect([killed, notices, existsSync(inState('kill'))]).toEqual([[], [], false]);
});

test('a file that kills more than what is in force is a kill', async () => {
  inForce = [{ kind: 'kill', everything: false, at: 0, strategy: undefined, by: 'operator', reason: 'looks wrong' }];
  journal.full = true;
  touch('kill.everything');
  await guarded()();
  expect(killed).toEqual([undefined]);
});
