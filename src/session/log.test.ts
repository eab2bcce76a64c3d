import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { fileLog } from './log.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-log-'));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('lines go to a file of the state directory that nobody else can read', () => {
  const log = fileLog(dir, 'info');
  log.info('said');
  log.debug('not said');
  const file = join(dir, 'sluice.log');
  expect(readFileSync(file, 'utf8').trim().split('\n')).toEqual([expect.stringContaining('"msg":"said"')]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what a text of others would do to a terminal is written out, and the line stays JSON', () => {
  const place = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  const hostile = '\u001b[2J\u009b31m\u202egnp.';
  fileLog(place, 'info').info(hostile);
  const text = readFileSync(join(place, 'sluice.log'), 'utf8');
  rmSync(place, { recursive: true });
  expect(text).toContain(String.raw`\u001b[2J\u009b31m\u202egnp.`);
  expect(JSON.parse(text)).toMatchObject({ msg: hostile });
});

test.skipIf(!existsSync('/dev/full'))('a full disk ends neither the process nor its end', () => {
  const log = fileURLToPath(new URL('./log.ts', import.meta.url));
  const program = `
    const { logTo } = await import(${JSON.stringify(log)});
    const log = logTo('/dev/full', 'info');
    log.warn('one');
    log.flush();
    setTimeout(() => { log.warn('two'); log.flush(); console.log('alive'); }, 50);`;
  const args = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 })).toBe('alive\n');
});
