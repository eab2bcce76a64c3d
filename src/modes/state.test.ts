import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openState } from '../journal/open.ts';
import { chooseState, writeDaemonInfo } from './state.ts';

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
  writeDaemonInfo(at, { pid: 1, mode: name, startedAt, exchange: '', control: '', token: '' });
  return () => lock.release();
}

test('of several running daemons a reading command takes the one that began last, an acting one none', () => {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const ends = [running('live', 2), running('paper', 1)];
  expect(chooseState(undefined, say).dir).toBe(join('var', 'live'));
  expect(said).toEqual([`reading ${join('var', 'live')} (live, running as process 1)`]);
  expect(() => chooseState(undefined, say, true)).toThrow(/several daemons run: .*live.*paper/);
  expect(chooseState(join('var', 'paper'), say, true).running?.mode).toBe('paper');
  ends[0]?.();
  expect(chooseState(undefined, say, true).dir).toBe(join('var', 'paper'));
  ends[1]?.();
});
