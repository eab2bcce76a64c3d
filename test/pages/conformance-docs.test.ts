/** The commands of conformance.md run as they are printed, but for the port: everything passes, and nothing is left open. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { desk, launcher } from '../kit/command.ts';
import { restingOn, suite } from '../kit/conformance.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(new URL('../../docs/reference/conformance.md', import.meta.url), 'utf8');
/** What a printed command has after its beginning, word by word. */
const printed = (beginning: string): readonly string[] => {
  const line = page.split('\n').find((one) => one.startsWith(beginning));
  if (line === undefined) throw new Error(`conformance.md has no ${beginning}`);
  return line.slice(beginning.length).trim().split(' ');
};

interface Address {
  readonly restUrl: string;
  readonly controlUrl: string;
}

test('the printed exchange passes every check of the printed command', async () => {
  const place = desk();
  const ports = ['--port', '0', '--control', '0', '--persist', place.dir, '--json'];
  const child = spawn(process.execPath, [launcher, 'simulator', ...printed('npx sluice simulator'), ...ports], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  try {
    const line = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data))));
    const { restUrl, controlUrl } = JSON.parse(line) as Address;
    const { port } = new URL(restUrl);
    const args = printed('npm run conformance -- --url http://127.0.0.1').map((word) => word.replace('8790', port));
    const { code, out, err } = await suite(['--url', `http://127.0.0.1${args[0]}`, ...args.slice(1)]);
    const others = out.split('\n').filter((one) => /^(FAIL|note|skip)/.test(one) && !one.includes('(--addresses)'));
    expect(others).toEqual([]);
    expect(out).toContain(', 0 failed, 0 differ where the specification is silent, 8 skipped; 37 of 37');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(await restingOn({ controlUrl })).toEqual([]);
  } finally {
    child.kill();
    await closed;
    place.remove();
  }
}, 120_000);
