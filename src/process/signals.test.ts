/** SIGUSR1, a slip for SIGUSR2, opens no debugger. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What a program says until it listens and had the signal, and whether it goes on. */
async function signalled(file: string): Promise<readonly [string, boolean]> {
  const child: ChildProcess = spawn(
    process.execPath,
    [file, 'simulator', '--port', '0', '--scenario', 'empty', '--json'],
    { env: { ...process.env, NODE_OPTIONS: '' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  try {
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const answered = once(child.stderr as NodeJS.ReadableStream, 'data');
    child.kill('SIGUSR1');
    return [String((await answered)[0]), child.exitCode === null];
  } finally {
    child.kill('SIGKILL');
  }
}

test.runIf(process.platform !== 'win32').each(['bin/sluice.js', 'src/main.ts'])(
  'SIGUSR1 opens no debugger in %s, and is told which signal kills',
  async (file) => {
    expect(await signalled(at(file))).toEqual([
      expect.stringMatching(/^sluice: SIGUSR1 does nothing here: .* is SIGUSR2\n$/),
      true,
    ]);
  },
);
