import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ScaledClock } from '../../clock/clock.ts';
import type { Notice } from '../../execution/desk.ts';
import { TestDesk } from '../../testing/desk.ts';
import { guardian } from './guardian.ts';

test('a file that kills nobody is told of once and stays, and one that kills is carried out', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'sluice-guardian-'));
  for (const name of ['kill-tredn', 'kill-Trend', 'kill-trend']) writeFileSync(join(stateDir, name), '');
  mkdirSync(join(stateDir, 'kill'));
  const { assembled } = new TestDesk();
  const [notices, killed]: [Notice[], (string | undefined)[]] = [[], []];
  const journal = { durable: () => Promise.resolve(true) };
  const stop = new AbortController();
  const guarding = guardian(
    {
      ...{ stateDir, clock: new ScaledClock(1), hosted: [{ id: 'trend' }] },
      journal: journal as Parameters<typeof guardian>[0]['journal'],
      assembled: { ...assembled, kill: async ({ strategy }) => void killed.push(strategy) },
      notice: (said) => void notices.push(said),
    },
    stop.signal,
  );
  // What is on disk is known a promise later, and the file goes with it.
  for (let turn = 0; turn < 3; turn++) await journal.durable();
  stop.abort();
  await guarding;
  expect(killed).toEqual([undefined, 'trend']);
  const errors = notices.filter(({ level }) => level === 'error').map(({ text }) => text);
  expect(errors).toHaveLength(3);
  expect(errors.join('\n')).toMatch(/kill-tredn kills nobody: no strategy tredn runs here \(did you mean "trend"\?\)/);
  expect(errors.join('\n')).toMatch(/kill cannot be taken away \(ERR_FS_EISDIR\): remove it/);
  expect(['kill-tredn', 'kill-Trend', 'kill-trend'].map((name) => existsSync(join(stateDir, name)))).toEqual([
    true,
    true,
    false,
  ]);
  rmSync(stateDir, { recursive: true });
});
