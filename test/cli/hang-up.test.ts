/** Signals that come more than once, or are none for us: a terminal that is closed under `nohup`, Ctrl-C that is passed on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pass } from '../kit/until.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-hang-up-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));

/** A program that runs until it is stopped, with such a standard input, in a group of its own. */
async function started(file: string, input: 'r' | 'w'): Promise<ChildProcess> {
  const stdin = openSync('/dev/null', input);
  const program = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const child = spawn(process.execPath, [program, 'simulator', '--port', '0', '--scenario', 'empty', '--state', dir], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: [stdin, 'pipe', 'pipe'],
    detached: true,
  });
  closeSync(stdin);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

/** Whether it goes on after a hang-up of it and its children, and how it ends. */
async function hungUp(file: string, input: 'r' | 'w'): Promise<readonly [boolean, number | null]> {
  const child = await started(file, input);
  try {
    const ended = once(child, 'exit') as Promise<[number | null]>;
    process.kill(-(child.pid ?? 0), 'SIGHUP');
    const goesOn = await Promise.race([ended.then(() => false), pass(2_000).then(() => true)]);
    if (goesOn) child.kill('SIGTERM');
    return [goesOn, (await ended)[0]];
  } finally {
    child.kill('SIGKILL');
  }
}

test.runIf(process.platform === 'linux').each(['bin/sluice.js', 'src/main.ts'])(
  'a hang-up stops %s, but not under nohup, whose mark is an input that can only be written to',
  async (file) => {
    expect(await hungUp(file, 'r')).toEqual([false, 0]);
    expect(await hungUp(file, 'w')).toEqual([true, 0]);
  },
);

/** Takes a moment to stop in good order, as a daemon does. */
const slow = `
  import { stopsOnSignals } from '${new URL('../../src/process/signals.ts', import.meta.url).href}';
  const stopping = stopsOnSignals('live');
  stopping.signal.addEventListener('abort', () => setTimeout(() => process.exit(7), 1_000));
  setInterval(() => undefined, 1_000);
  console.log('ready');
`;

test.runIf(process.platform !== 'win32').each([
  ['within moments, as from a terminal and from the launcher, is one', 20, 7],
  ['by a finger ends it at once', 500, 130],
])('Ctrl-C that comes twice %s', async (_, betweenMs, code) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', slow], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGINT');
  await pass(betweenMs);
  child.kill('SIGINT');
  expect((await ended)[0]).toBe(code);
});
