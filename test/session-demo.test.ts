/** `sluice demo`: two processes, of which neither outlives the other for long. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realMs } from '../src/clock/clock.ts';
import { killLeftovers, type Program, type Surroundings, sluice, startProgram } from './kit/program.ts';
import { pass, until } from './kit/until.ts';

const speed = 60;

let dir: string;
let state: string;
let around: Surroundings;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-demo-'));
  state = join(dir, 'demo');
  const NODE_COMPILE_CACHE = join(tmpdir(), 'sluice-compile-cache');
  around = { cwd: dir, env: { PATH: process.env['PATH'] ?? '', HOME: dir, XDG_STATE_HOME: dir, NODE_COMPILE_CACHE } };
});
afterEach(() => {
  killLeftovers();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

async function startDemo(): Promise<{ readonly demo: Program; readonly exchangePid: number }> {
  const demo = startProgram(['demo', '--state', state], around);
  const said = await demo.line(/the exchange runs as process \d+/);
  await demo.line(/^ready: /);
  return { demo, exchangePid: Number(/\d+/.exec(said)?.[0]) };
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The modes of a directory and all that lies in it. */
const modes = (top: string): ReadonlySet<string> =>
  new Set(
    ['.', ...readdirSync(top, { recursive: true, encoding: 'utf8' })].map((name) => {
      const found = statSync(join(top, name));
      return `0${(found.mode & 0o777).toString(8)}${found.isDirectory() ? ' (directory)' : ''}`;
    }),
  );

const show = async (command: string): Promise<string> =>
  (await sluice([command, '--json', '--state', state], around)).stdout;

async function marketTime(): Promise<number> {
  const { control, token } = JSON.parse(readFileSync(join(state, 'daemon.json'), 'utf8')) as Record<string, string>;
  const answer = await fetch(`${control}/api/view`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { readonly marketTime: number }).marketTime;
}

test('the demo fills an order soon; killed with -9 it takes its exchange along, and goes on where the market stood', async () => {
  const first = await startDemo();
  await first.demo.line(/^fill /, 60_000);
  const timeBefore = await marketTime();
  const seenAt = realMs();
  await first.demo.end('SIGKILL');
  await until('the end of the exchange', () => !runs(first.exchangePid), 5_000);
  const aliveBeforeMs = realMs() - seenAt;
  const fillsBefore = await show('fills');
  expect(modes(state)).toEqual(new Set(['0600', '0700 (directory)']));
  await pass(2_000);

  const againAt = realMs();
  const second = await startDemo();
  const passed = (await marketTime()) - timeBefore;
  // The market moved while an exchange was there to move it, and not in between.
  expect(passed).toBeGreaterThan(0);
  expect(passed).toBeLessThan((aliveBeforeMs + realMs() - againAt) * speed);
  expect((await show('fills')).startsWith(fillsBefore)).toBe(true);
  const { code } = await second.demo.end('SIGINT');
  expect(code).toBe(130);
  expect(runs(second.exchangePid)).toBe(false);
});

test('the daemon ends when its exchange is gone, and says how to go on', async () => {
  const { demo, exchangePid } = await startDemo();
  process.kill(exchangePid, 'SIGKILL');
  expect((await demo.exited).code).toBe(1);
  expect(demo.lines.join('\n')).toMatch(/the built-in exchange ended; start again to go on/);
});
