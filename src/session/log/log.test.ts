import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { log as schema } from '../../config/log.ts';
import { fileLog } from './log.ts';

const standard = schema.parse(undefined);

const dir = mkdtempSync(join(tmpdir(), 'sluice-log-'));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('lines go to a file of the state directory that nobody else can read', async () => {
  const { log } = await fileLog(dir, standard);
  log.info('said');
  log.debug('not said');
  const file = join(dir, 'sluice.log');
  expect(readFileSync(file, 'utf8').trim().split('\n')).toEqual([expect.stringContaining('"msg":"said"')]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what a text of others would do to a terminal is written out, and the line stays JSON', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  const hostile = '\u001b[2J\u009b31m\u202egnp.';
  (await fileLog(place, standard)).log.info(hostile);
  const text = readFileSync(join(place, 'sluice.log'), 'utf8');
  rmSync(place, { recursive: true });
  expect(text).toContain(String.raw`\u001b[2J\u009b31m\u202egnp.`);
  expect(JSON.parse(text)).toMatchObject({ msg: hostile });
});

test('a pretty line has its time, level, text and facts, and nothing of a terminal', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  const { log } = await fileLog(place, { ...standard, format: 'pretty' });
  log.warn({ rule: 'orderShare' }, 'denied\u009b31m\nforged');
  log.error('stopped');
  const text = readFileSync(join(place, 'sluice.log'), 'utf8');
  rmSync(place, { recursive: true });
  expect(text).toMatch(
    /^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] WARN: denied31m\\u000aforged \{"rule":"orderShare"\}\n\[.*\] ERROR: stopped\n$/,
  );
});

test('the level and the rotation change while it is written, and a level that was given goes before', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  const [first, given] = [await fileLog(place, standard), await fileLog(place, standard, 'error')];
  for (const { change } of [first, given]) change({ ...standard, level: 'debug', maxFiles: 3 });
  expect(first.log.level).toBe('debug');
  expect(given.log.level).toBe('error');
  first.log.debug('said');
  expect(readFileSync(join(place, 'sluice.log'), 'utf8')).toContain('"msg":"said"');
  rmSync(place, { recursive: true });
});

test.skipIf(!existsSync('/dev/full'))('a full disk ends neither the process nor its end', () => {
  const log = fileURLToPath(new URL('./log.ts', import.meta.url));
  const program = `
    const { logTo } = await import(${JSON.stringify(log)});
    const { log, file } = await logTo('/dev/full', ${JSON.stringify(standard)});
    log.warn('one');
    log.flush();
    setTimeout(() => { log.warn('two'); log.flush(); console.log('alive', file.lost); }, 50);`;
  const args = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 })).toBe('alive 2\n');
});
