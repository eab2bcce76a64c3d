/** Results and data on a disk that is full, or in folders that are not ours to read: one line says so, and nothing half-written is left. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
const full = join(at.dir, 'full');
let isMounted = false;
beforeAll(() => {
  at.write('klines.csv', `${klineLines(120).join('\n')}\n`);
  at.write('b.yaml', backtestYaml);
  mkdirSync(full);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full], { stdio: 'ignore' });
    isMounted = true;
    // Half of it is for folders and for what fits; the rest is taken.
    writeFileSync(join(full, 'ballast'), new Uint8Array(64 * 1_024));
  } catch {
    // Mounting needs root.
  }
});
afterAll(() => {
  if (isMounted) execFileSync('umount', ['-l', full], { stdio: 'ignore' });
  at.remove();
});

const backtest = (...more: readonly string[]) => at.sluice(['backtest', '--config', 'b.yaml', ...more]);

describe('on a full disk', () => {
  test('CSV and report are named, with what helps; the table is out, the run is kept, nothing is left half-written', async ({
    skip,
  }) => {
    if (!isMounted) skip('mounting a tmpfs is not allowed here');
    const { code, out, err } = await backtest('--csv', 'full/csv', '--report', 'full/r.html');
    expect(err.replaceAll(at.dir, '.')).toMatch(
      /^saved as [^\n]*\nsluice: full\/csv\/fills\.csv cannot be written: the disk is full \(ENOSPC\): make room there, or name another folder\n\S*\/full\/r\.html cannot be written: the disk is full \(ENOSPC\): [^\n]*\n$/,
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^Final equity/m);
    expect(readdirSync(full, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(['ballast', 'csv']);
  });

  test('runs that cannot be kept are told of', async ({ skip }) => {
    if (!isMounted) skip('mounting a tmpfs is not allowed here');
    const { code, err } = await backtest('--runs', 'full/runs');
    expect(err).toMatch(/^warning: the run is not saved: the disk is full \(ENOSPC\) \(--no-save skips this\)\n$/);
    expect(code).toBe(0);
    expect(readdirSync(join(full, 'runs')).filter((name) => name !== 'tries.jsonl')).toEqual([]);
  });

  test('an import says that it is full, not that another one runs', async ({ skip }) => {
    if (!isMounted) skip('mounting a tmpfs is not allowed here');
    const import_ = ['data', 'import', 'klines.csv', '--symbol', 'XBTUSD', '--data', 'full/data'];
    const { code, err } = await at.sluice(import_);
    expect(err).toMatch(
      /sluice: \S*\/full\/data\/lock cannot be written: the disk is full \(ENOSPC\): make room there[^\n]*\n$/,
    );
    expect(code).toBe(1);
    expect(readdirSync(join(full, 'data'), { recursive: true })).toEqual(['cache', 'lock.db']);
  });

  test('an import that fills it stores nothing, and says what happened', async ({ skip }) => {
    if (!isMounted) skip('mounting a tmpfs is not allowed here');
    writeFileSync(join(full, 'ballast'), new Uint8Array(40 * 1_024));
    const rows = Array.from({ length: 5_000 }, (_, row) => {
      const close = 100 + ((row * 7_919) % 10_007) / 1e4;
      return `${Date.UTC(2020, 1, 1) + row * 60_000},${close},${close},${close},${close},${close}`;
    });
    at.write('many.csv', `${[...klineLines(0), ...rows].join('\n')}\n`);
    const { code, err } = await at.sluice(['data', 'import', 'many.csv', '--symbol', 'XBTUSD', '--data', 'full/data']);
    expect(err).toMatch(
      /^sluice: a disk is full: [^\n]*full\/data\/[^\n]*: make room there, or name another folder\n$/,
    );
    expect(code).toBe(1);
    expect(at.files().filter((name) => /full.*(series|unfinished|lock$)/.test(name))).toEqual([]);
  });
});

test('an export that fills a disk leaves nothing, and no file that looks whole', async ({ skip }) => {
  if (!isMounted) skip('mounting a tmpfs is not allowed here');
  await at.sluice(['data', 'import', 'many.csv', '--symbol', 'XBTUSD']);
  const { code, err } = await at.sluice(['data', 'export', 'XBTUSD', '-o', 'full/x.csv']);
  expect([code, err]).toEqual([1, expect.stringContaining('full/x.csv cannot be written: ')]);
  expect(at.files().filter((name) => name.includes('x.csv'))).toEqual([]);
});

test('a catalogue that cannot be read is no empty one', async () => {
  // Root may read everything; a link to itself is what nobody can read.
  const loop = join(at.dir, 'looped');
  mkdirSync(loop);
  symlinkSync('klines', join(loop, 'klines'));
  for (const command of ['list', 'check']) {
    const { code, err } = await at.sluice(['data', command, '--data', 'looped']);
    expect(err).toMatch(
      /^sluice: \S*looped\/klines cannot be read \(ELOOP\): give this user permission, or name another catalogue \(--data\)\n$/,
    );
    expect(code).toBe(2);
  }
  rmSync(loop, { recursive: true });
});
