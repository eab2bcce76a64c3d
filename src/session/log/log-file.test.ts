import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { machineWall } from '../../clock/clock.ts';
import { LogFile, type Rotation } from './log-file.ts';

const dayMs = 86_400_000;
let dir: string;
let path: string;
/** As far as the files' own times go, which the tests do not set, from now on. */
let now: number;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-log-file-'));
  path = join(dir, 'sluice.log');
  now = Math.floor(machineWall() / dayMs) * dayMs + dayMs / 2;
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true, force: true });
});

const opened = (rotation: Partial<Rotation> = {}): LogFile =>
  new LogFile(path, { maxBytes: 100, maxFiles: 3, maxDays: 30, ...rotation }, () => now);
const files = (): readonly string[] => readdirSync(dir).sort();
const linesIn = (name: string): readonly string[] => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1);
/** Oldest first. */
const allLines = (): readonly string[] =>
  files()
    .map((name) => [Number(name.split('.')[2] ?? 0), name] as const)
    .sort(([a], [b]) => b - a)
    .flatMap(([, name]) => linesIn(name));

describe('a log file', () => {
  test('is rotated by size without a lost line, each file for its owner alone', () => {
    const log = opened({ maxFiles: 1_000 });
    const said = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    for (const line of said) expect(log.write(`${line}\n`)).toBe(true);
    expect(allLines()).toEqual(said);
    expect(files().length).toBeGreaterThan(40);
    for (const name of files()) {
      expect(statSync(join(dir, name)).size).toBeLessThan(120);
      expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    }
  });

  test('keeps only so many rotated files, and other files of the folder', () => {
    const log = opened({ maxFiles: 2 });
    for (const other of ['sluice.log.gz', 'sluice.log.old', 'sluice.logs.1'])
      new LogFile(join(dir, other), { maxBytes: 1, maxFiles: 1, maxDays: 1 });
    for (let index = 0; index < 500; index++) log.write(`line ${index}\n`);
    expect(files()).toEqual([
      'sluice.log',
      'sluice.log.1',
      'sluice.log.2',
      'sluice.log.gz',
      'sluice.log.old',
      'sluice.logs.1',
    ]);
  });

  test('is rotated at the first line of a day, and deletes those that are too old', () => {
    const log = opened({ maxFiles: 100, maxDays: 3 });
    for (let day = 0; day < 3; day++) {
      log.write(`day ${day}\n`);
      now += dayMs;
    }
    expect(files()).toEqual(['sluice.log', 'sluice.log.1', 'sluice.log.2']);
    expect(linesIn('sluice.log')).toEqual(['day 2']);
    now += 30 * dayMs;
    log.write('much later\n');
    expect(files()).toEqual(['sluice.log', 'sluice.log.1']);
    expect(linesIn('sluice.log.1')).toEqual(['day 2']);
  });

  test('goes on where an earlier run ended, and begins a file where that was on another day', () => {
    opened().write('before\n');
    opened().write('the same day\n');
    expect(files()).toEqual(['sluice.log']);
    now += dayMs;
    opened().write('another day\n');
    expect(linesIn('sluice.log.1')).toEqual(['before', 'the same day']);
    expect(linesIn('sluice.log')).toEqual(['another day']);
  });

  test('that another program moved is written on, and begun anew once it is reopened', () => {
    const log = opened();
    log.write('one\n');
    renameSync(path, join(dir, 'moved'));
    log.write('two\n');
    expect(log.reopen()).toBeUndefined();
    log.write('three\n');
    expect(linesIn('moved')).toEqual(['one', 'two']);
    expect(linesIn('sluice.log')).toEqual(['three']);
  });

  test('that two programs write is rotated by the first one alone, and none of the lines is lost', () => {
    const [one, other] = [opened({ maxFiles: 1_000 }), opened({ maxFiles: 1_000 })];
    for (let index = 0; index < 100; index++) {
      one.write(`one ${index}\n`);
      other.write(`other ${index}\n`);
    }
    expect(allLines()).toHaveLength(200);
  });

  test('whose folder takes no new file grows on', ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may write everywhere');
    const log = opened();
    chmodSync(dir, 0o500);
    for (let index = 0; index < 100; index++) expect(log.write(`line ${index}\n`)).toBe(true);
    expect(linesIn('sluice.log')).toHaveLength(100);
    expect(log.reopen()).toBeUndefined();
  });

  test('on a full disk loses lines and counts them, and goes on when there is space', ({ skip }) => {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { stdio: 'ignore' });
    } catch {
      skip('mounting a tmpfs is not allowed here');
    }
    try {
      const log = opened({ maxBytes: 8_000, maxFiles: 1_000 });
      const line = `${'x'.repeat(999)}\n`;
      let count = 0;
      while (log.write(line)) count++;
      expect(count).toBeGreaterThan(20);
      expect(log.write(line)).toBe(false);
      expect(log.lost).toBe(2);
      for (const name of files().slice(1, 4)) rmSync(join(dir, name));
      expect(log.write('again\n')).toBe(true);
      expect(allLines()).toContain('again');
      expect(existsSync(path)).toBe(true);
    } finally {
      execFileSync('umount', ['-l', dir]);
    }
  });
});
