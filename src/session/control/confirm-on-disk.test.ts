import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kill } from '../../../test/kit/builders.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { KillEntry } from '../../journal/entries.ts';
import type { Kill } from '../../risk/kill.ts';
import { confirmed, storeKill } from './confirm-on-disk.ts';
import { controlFiles, requestKill } from './control-files.ts';

let dir: string;
const by = 'operator';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-confirmed-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const files = (): readonly string[] => readdirSync(dir);
const full = { durable: () => Promise.resolve(false) };
const written = { durable: () => Promise.resolve(true) };

/** A daemon that answers as it is told. */
const daemon = (
  journal: typeof full,
  answers: Partial<Parameters<typeof confirmed>[0]>,
  inForce: readonly Kill[] = [],
) => {
  const none = (): never => {
    throw new Error('nobody asks');
  };
  return confirmed(
    {
      ...{
        kill: none,
        pause: none,
        resume: none,
        cancel: none,
        flatten: none,
        resolve: none,
        adopt: none,
        resolveTrade: none,
        adjust: none,
        reload: none,
        reloadConfig: none,
        limits: none,
        acknowledge: none,
      },
      ...answers,
    },
    journal,
    dir,
    () => inForce,
  );
};

test('a kill on a full disk is kept before its cancels are through, and none of somebody who is not there', async () => {
  const cancels = Promise.withResolvers<string>();
  const answer = daemon(full, { kill: () => cancels.promise }).kill({ by, reason: 'odd', strategy: 'trend' });
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect(files()).toEqual(['kill-trend']);
  cancels.resolve('trend is killed.');
  expect(await answer).toMatch(/^trend is killed\. The disk of .* the kill is stored as the file .*kill-trend, /);
  rmSync(join(dir, 'kill-trend'));
  const nobody = daemon(full, { kill: () => Promise.reject(new Refusal('no strategy nope runs here')) });
  await expect(nobody.kill({ by, reason: 'odd', strategy: 'nope' })).rejects.toThrow('no strategy nope');
  expect(files()).toEqual([]);
});

test('a resume takes the files away that were there when it was asked for, and no later one', async () => {
  requestKill(dir, { reason: 'before' });
  requestKill(dir, { reason: 'of one', strategy: 'trend', everything: true });
  const resumed = daemon(written, {
    resume() {
      // Another one under the name of one that was there, and one of a new name.
      rmSync(join(dir, 'kill'));
      requestKill(dir, { reason: 'once more' });
      requestKill(dir, { reason: 'fire', strategy: 'grid', everything: true });
      return Promise.resolve('All strategies may create orders again.');
    },
  });
  expect(await resumed.resume({ by, reason: 'on' })).toMatch(/^All strategies may .* But the file .*kill still stops/);
  expect(controlFiles(dir)).toMatchObject([
    { strategy: undefined, everything: false, reason: 'once more' },
    { strategy: 'grid', everything: true, reason: 'fire' },
  ]);
});

test('an answer to a question leaves a file alone that was not in force when it was asked', async () => {
  requestKill(dir, { reason: 'before' });
  requestKill(dir, { reason: 'fire', strategy: 'grid' });
  const before = kill({ by: 'file', reason: 'before', strategy: undefined });
  const resumed = daemon(written, { resume: async () => 'Resumed.' }, [before]);
  await resumed.resume({ by, reason: 'on', seen: 'x' });
  expect(controlFiles(dir)).toMatchObject([{ strategy: 'grid', reason: 'fire' }]);
});

const byLoss: KillEntry = {
  kind: 'kill',
  everything: false,
  at: 1,
  strategy: null,
  by: 'dailyLoss',
  reason: 'lost 722',
};

test('what a limit killed on a full disk is kept as a file of that limit, and a person’s kill is not by this way', async () => {
  await storeKill(byLoss, written, dir);
  await storeKill({ ...byLoss, by: 'operator' }, full, dir);
  expect(files()).toEqual([]);
  await storeKill(byLoss, full, dir);
  await storeKill({ ...byLoss, strategy: 'trend', by: 'losses', reason: 'lost often' }, full, dir);
  expect(controlFiles(dir)).toMatchObject([
    { strategy: 'trend', by: 'losses', reason: 'lost often' },
    { strategy: undefined, by: 'dailyLoss', reason: 'lost 722' },
  ]);
  // All that a full disk has room for.
  writeFileSync(join(dir, 'kill.dailyLoss'), '');
  expect(controlFiles(dir)[1]).toMatchObject({
    by: 'dailyLoss',
    reason: expect.stringContaining('exceeded its limit'),
  });
  expect(existsSync(join(dir, 'kill'))).toBe(false);
});

test('a link that leads to itself asks as any file does', () => {
  symlinkSync('kill-trend', join(dir, 'kill-trend'));
  expect(controlFiles(dir)).toMatchObject([{ strategy: 'trend', by: 'file', made: undefined }]);
});
