/** Processes that share one file of request limits, and die in the middle of it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { pass, until } from '../kit/until.ts';

const budgetDir = fileURLToPath(new URL('../../src/budget', import.meta.url));

/** A process of its own that asks for weight as fast as it can until it is killed, and writes a letter for each request that goes. */
const spender = (path: string, log: string): string => `
  import { appendFileSync } from 'node:fs';
  import { budget } from '${budgetDir}/budget.ts';
  import { sharedFile } from '${budgetDir}/shared-file.ts';
  import { ScaledClock } from '${budgetDir}/../clock/clock.ts';
  const clock = new ScaledClock();
  const shared = sharedFile({ path: ${JSON.stringify(path)}, address: 'x:1', clock, warn: (facts) => console.error(facts) });
  const purse = budget({ clock, shared, ipWeightPerMinute: 4_000 });
  for (;;) {
    if (!(await purse.spend('create', { weight: 5 }))) continue;
    appendFileSync(${JSON.stringify(log)}, 'x');
  }`;

test('two processes that are killed in the middle of it spend exactly what there is between them', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-limits-'));
  const path = join(dir, 'limits.db');
  const log = join(dir, 'log');
  writeFileSync(log, '');
  const lines: string[] = [];
  const children = [1, 2].map(() => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', spender(path, log)], { stdio: 'pipe' });
    child.stderr.on('data', (text: Buffer) => lines.push(text.toString()));
    return child;
  });
  const ended = children.map((child) => new Promise((resolve) => child.once('close', resolve)));
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  const count = (): number => readFileSync(log, 'utf8').length;
  const spent = (): number => {
    const db = new Database(path, { readonly: true });
    const { sum } = db.prepare<[], { sum: number }>('SELECT total(weight) AS sum FROM spent').get() ?? { sum: 0 };
    db.close();
    return sum;
  };
  const exceeds = (look: () => number, least: number) =>
    until(`${least} requests`, () => look() >= least || lines.length > 0);
  const [first, second] = children;
  await exceeds(count, 200);
  first?.kill('SIGKILL');
  await exceeds(spent, 3_200);
  await pass(50);
  second?.kill('SIGKILL');
  await Promise.all(ended);
  expect(lines).toEqual([]);
  expect(spent()).toBe(3_200);
  // The one that was killed may have been about to write its letter.
  expect([639, 640]).toContain(count());
});
