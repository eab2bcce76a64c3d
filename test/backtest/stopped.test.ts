/** What Ctrl-C leaves of a backtest: the stress runs that did not run are named, and a part of a run is no trial. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type KeptRun, readLedger, runIds } from '../../src/backtest/runs/store.ts';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
at.write('klines.csv', `${klineLines(3 * 1_440).join('\n')}\n`);
at.write('b.yaml', backtestYaml.replace('use: sma-cross', 'use: ./own.ts').replace(/ {4}params:.*\n/, ''));
at.write(
  'own.ts',
  `const decide = (_values, { kline }) => void globalThis.decides?.(kline.openTime);
   export default { name: 'own', about: '', params: {}, indicators: () => ({}), decide };`,
);
afterAll(() => at.remove());
const known = process.exitCode;
afterEach(() => {
  process.exitCode = known;
  Reflect.deleteProperty(globalThis, 'decides');
});

/** Stops at kline `row`, counted over all runs of the strategy. */
async function stopped(
  row: number,
  more: { readonly stress?: boolean; readonly runs: string; readonly report?: string },
) {
  const stopping = new AbortController();
  let rows = 0;
  Object.assign(globalThis, { decides: () => rows++ === row && stopping.abort() });
  const [out, said]: [string[], string[]] = [[], []];
  await backtest({
    ...{ config: join(at.dir, 'b.yaml'), set: [], json: true, signal: stopping.signal, ...more },
    ...{ out: (line) => out.push(line), say: (line) => said.push(line) },
  });
  return { summary: JSON.parse(out.join('')) as KeptRun['summary'], said: said.join('\n'), code: process.exitCode };
}

test('stress runs that did not run are named on the console and in the report', async () => {
  const [runs, report] = [join(at.dir, 'stress'), join(at.dir, 'stress.html')];
  const { summary, said, code } = await stopped(10_000, { stress: true, runs, report });
  const note = '--stress was stopped; not run: Latency × 3, One kline later, the repeat that checks determinism';
  expect(summary.stress.map(({ name }) => name)).toEqual(['Fees × 2']);
  expect(said).toContain(`note: ${note}`);
  expect(readFileSync(report, 'utf8')).toContain(note);
  expect([summary.endedAt, code]).toEqual([undefined, known]);
  expect(readLedger(runs)).toHaveLength(1);
});

test('a part of a run is saved, is no trial, and its report is said to be of a part', async () => {
  const [runs, report] = [join(at.dir, 'part'), join(at.dir, 'part.html')];
  const { summary, said, code } = await stopped(10, { runs, report });
  expect(summary.endedAt).toBeDefined();
  expect(code).toBe(known);
  expect(said).toContain(`report: ${report} (of a part: the run was stopped)`);
  expect([runIds(runs).length, readLedger(runs).length]).toEqual([1, 0]);
});

test('nothing was stopped after the last kline: the exit code is 0', async () => {
  const runs = join(at.dir, 'whole');
  const { summary, said, code } = await stopped(3 * 1_440 - 1, { runs });
  expect([summary.endedAt, code]).toEqual([undefined, 0]);
  expect(said).not.toContain('stopped');
  expect(readLedger(runs)).toHaveLength(1);
});
