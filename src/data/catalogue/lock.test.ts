/** The lock of a catalogue: of who holds it, and of who is gone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isHeld, takeLock } from './lock.ts';

const place = (): string => join(mkdtempSync(join(tmpdir(), 'sluice-lock-')), 'lock');

test('is one process at a time, which the message to a second one names', () => {
  const path = place();
  expect(isHeld(path)).toBe(false);
  const unlock = takeLock(path, 'it');
  expect(isHeld(path)).toBe(true);
  expect(() => takeLock(path, 'it')).toThrow(`it is in use by process ${process.pid}: wait until it ends`);
  unlock();
  expect(isHeld(path)).toBe(false);
  takeLock(path, 'it')();
});

test.for<[string, string]>([
  ['whose number this one has, as in a container', String(process.pid)],
  ['whose number another one has, as after a reboot', String(process.ppid)],
])('of a process that is gone, %s, is free', ([, left]) => {
  const path = place();
  writeFileSync(path, left);
  const unlock = takeLock(path, 'it');
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  unlock();
});

test('of a process that is killed is freed by the system', async () => {
  const path = place();
  const module = join(import.meta.dirname, 'lock.ts');
  const script = `import(${JSON.stringify(module)}).then(({ takeLock }) => { takeLock(${JSON.stringify(path)}, 'it'); console.log('taken'); setInterval(() => {}, 1_000); })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  expect(() => takeLock(path, 'it')).toThrow(`process ${child.pid}`);
  expect(isHeld(path)).toBe(true);
  child.kill('SIGKILL');
  await closed;
  expect(isHeld(path)).toBe(false);
  takeLock(path, 'it')();
});
