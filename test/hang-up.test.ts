/** A terminal that is closed stops a program in good order, unless `nohup` started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pass } from './kit/until.ts';

/** Whether a program with such a standard input goes on after a hang-up of it and its children, and how it ends. */
async function hungUp(file: string, input: 'r' | 'w'): Promise<readonly [boolean, number | null]> {
  const stdin = openSync('/dev/null', input);
  const program = fileURLToPath(new URL(`../${file}`, import.meta.url));
  const child = spawn(process.execPath, [program, 'simulator', '--port', '0', '--scenario', 'empty'], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: [stdin, 'pipe', 'ignore'],
    detached: true,
  });
  closeSync(stdin);
  try {
    await once(child.stdout as NodeJS.ReadableStream, 'data');
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
