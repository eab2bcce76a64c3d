import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openState } from '../journal/open.ts';
import { failureText } from './daemon.ts';
import { chooseState, makeStateDir, noDaemonText, stateAt, writeDaemonInfo } from './state.ts';

const home = process.cwd();
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-state-'));
  process.chdir(dir);
});
afterEach(() => {
  process.chdir(home);
  rmSync(dir, { recursive: true, force: true });
});

/** A state directory whose daemon, this process, began at a time; gives what ends it. */
function running(name: string, startedAt: number): () => void {
  const at = join('var', name);
  mkdirSync(at, { recursive: true });
  const { lock } = openState(at, { mode: name, account: 'spot', venue: 'v' }, []);
  writeDaemonInfo(at, { pid: 1, mode: name, startedAt, exchange: '', control: 'http://127.0.0.1:1', token: 'z' });
  return () => lock.release();
}

test('a starting daemon whose text cannot be read is just starting', () => {
  const at = join('var', 'live');
  const { lock } = openState(at, { mode: 'live', account: 'spot', venue: 'v' }, []);
  // Removing the file between two steps of a command would need luck: a folder cannot be read, either.
  mkdirSync(join(at, 'starting.json'));
  const chosen = stateAt(at);
  expect(chosen.starting).toBeUndefined();
  expect(noDaemonText(chosen)).toBe('a daemon is just starting or stopping on var/live');
  lock.release();
});

test('a start that is refused leaves nothing of a directory that it made, and all of one that was there', () => {
  const start = (at: string): (() => void) => {
    const takeAway = makeStateDir(at);
    for (const name of ['lock.db', 'sluice.log']) writeFileSync(join(at, name), '');
    return takeAway;
  };
  start(join('a', 'b'))();
  expect(existsSync('a')).toBe(false);
  const takeAway = start('c');
  // Alerts that could not be sent yet.
  writeFileSync(join('c', 'alerts.db'), '');
  takeAway();
  start('c')();
  expect(readdirSync('c')).toEqual(['alerts.db', 'lock.db', 'sluice.log']);
  expect(() => makeStateDir(join('c', 'lock.db'))).toThrow(/^state directory c.lock\.db is a file: name a directory/);
});

test.runIf(process.platform !== 'win32')('a directory that cannot be looked into is not taken for an empty one', () => {
  // As that of another user, which root, who may run this, can read.
  symlinkSync('loop', 'loop');
  expect(() => chooseState('loop', () => {})).toThrow(
    /^state directory loop cannot be read \(ELOOP\): do this as the user whose daemon trades there/,
  );
  expect(() => chooseState('nothing', () => {})).toThrow('nothing is not a state directory');
});

test('the last words of a daemon whose directory was moved away are one line', () => {
  const error = new Error("ENOENT: no such file or directory, scandir 'gone'");
  expect(failureText(error, 'gone')).toMatch(
    /^state directory gone was removed: .*; restore it, then start again to recover$/,
  );
  expect(failureText(error, '.')).toContain(error.stack);
});

test('of several running daemons a reading command takes the one that began last, an acting one none', () => {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const ends = [running('live', 2), running('paper', 1)];
  expect(chooseState(undefined, say).dir).toBe(join('var', 'live'));
  expect(said).toEqual([`reading ${join('var', 'live')} (live, running as process 1)`]);
  expect(() => chooseState(undefined, say, true)).toThrow(
    /several state directories: choose one with --state var.live \(live, running as process 1\) or --state var.paper \(paper, /,
  );
  expect(chooseState(join('var', 'paper'), say, true).running?.mode).toBe('paper');
  ends[0]?.();
  expect(chooseState(undefined, say).dir).toBe(join('var', 'paper'));
  ends[1]?.();
  // Neither does it take the only one that runs: the other may be meant.
  expect(() => chooseState(undefined, say, true)).toThrow('several state directories');
});

test.runIf(process.platform !== 'win32')(
  'a directory with files of others keeps its permissions and is refused',
  () => {
    mkdirSync('shared');
    chmodSync('shared', 0o755);
    writeFileSync(join('shared', 'notes.txt'), '');
    expect(() => makeStateDir('shared')).toThrow(
      /^shared is not a state directory: it holds other files, such as notes\.txt/,
    );
    expect(statSync('shared').mode & 0o777).toBe(0o755);
  },
);
