/** Grids whose parameter sets take long, or never end: what is done is saved, at whatever moment it stops, and nothing is blamed that is sound. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { backtestYaml, desk, klineLines } from '../kit/command.ts';
import { killLeftovers, startProgram } from '../kit/program.ts';
import { until } from '../kit/until.ts';

const at = desk();
afterEach(killLeftovers);
afterAll(() => at.remove());

/** A grid over the `n` of a strategy that does this at each of 50 klines. */
function startGrid(runs: string, decide: string, values: string) {
  at.write(
    'mine.ts',
    `import { writeSync } from 'node:fs';
import { defineStrategy, flat, integer } from 'sluice';
const begun = new Set();
const rest = new Int32Array(new SharedArrayBuffer(4));
export default defineStrategy({
  name: 'mine', about: 'Takes its time', params: { n: integer(1, { min: 1, max: 99 }, 'which') }, indicators: () => ({}),
  decide(_, { params }) {
    if (!begun.has(params.n)) writeSync(2, 'at ' + params.n + '\\n');
    begun.add(params.n);
    ${decide}
    return flat('nothing');
  },
});
`,
  );
  at.write('run.yaml', backtestYaml.replace('use: sma-cross', 'use: ./mine.ts').replace(/ {4}params:.*\n/, ''));
  at.write('klines.csv', `${klineLines(50).join('\n')}\n`);
  return startProgram(['backtest', '--config', 'run.yaml', '--runs', runs, '--grid', `n=${values}`, '--workers', '2'], {
    cwd: at.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: at.dir },
  });
}

/** The `n` of each set that is written. */
function keptIn(runs: string): readonly number[] {
  const folder = join(at.dir, runs, 'grids');
  const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const lines = text
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{"cell"'));
  return lines.map((line) => Number((JSON.parse(line) as { cell: number[] }).cell[0])).toSorted((a, b) => a - b);
}

/** 0.4 s a set. */
const slow = 'Atomics.wait(rest, 0, 0, 8);';

test('a grid of slow parameter sets that is stopped keeps what is done, and blames no strategy', async () => {
  const program = startGrid('stopped', slow, '1..60');
  await program.line(/^at 6$/);
  expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });
  const said = program.lines.join('\n');
  expect(said).not.toMatch(/given up/);
  const kept = keptIn('stopped');
  expect(kept.slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(said).toContain(
    `stopped with ${60 - kept.length} of 60 parameter sets not run; the others are saved. Run the same command to continue`,
  );
});
test('a grid of slow parameter sets that is killed keeps what was done', async () => {
  const program = startGrid('killed', slow, '1..60');
  await program.line(/^at 6$/);
  await until('the sets before it', () => keptIn('killed').length >= 4);
  expect(await program.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  expect(keptIn('killed').slice(0, 4)).toEqual([1, 2, 3, 4]);
});
test('a parameter set that never ends is given up alone and by name when its grid is stopped', async () => {
  const program = startGrid('endless', 'if (params.n === 2) for (;;);', '1..8');
  await Promise.all([program.line(/^at 2$/), program.line(/^at 8$/)]);
  expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });
  expect(program.lines.join('\n')).toContain('note: abandoned because still running 5 s after the stop: n 2 (');
  expect(program.lines.join('\n')).toContain('stopped with 1 of 8 parameter sets not run; the others are saved');
  expect(keptIn('endless')).toEqual([1, 3, 4, 5, 6, 7, 8]);
});
