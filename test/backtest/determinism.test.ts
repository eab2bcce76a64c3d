/** Strategies that keep something from run to run: what several runs of them come to hangs on their order, and is not printed. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());

/** Counts its decisions; above so many it wants nothing any more. */
const strategy = (most: number): string => `import { defineStrategy, flat, hold, integer, sma } from 'sluice';
let decided = 0;
export default defineStrategy({
  name: 'mine', about: 'Counts', params: { n: integer(9, { min: 2, max: 90 }, 'klines of the mean') },
  indicators: ({ n }) => ({ mean: sma('close', n) }),
  decide({ mean }, { kline }) {
    decided++;
    return decided < ${most} && kline.close > mean ? hold({ quantity: 1 }, 'above') : flat('below');
  },
});
`;
const [header = '', ...rows] = klineLines(400);
// Up and down by a little every few minutes, so that the mean is crossed.
const wavy = rows.map((line, row) =>
  line
    .replace(',100.5,', row % 7 < 3 ? ',100.9,' : ',99.4,')
    .replace(',100,', row % 7 > 0 && row % 7 < 4 ? ',100.9,' : ',99.4,'),
);
at.write('klines.csv', `${[header, ...wavy].join('\n')}\n`);
at.write('run.yaml', backtestYaml.replace('use: sma-cross', 'use: ./mine.ts').replace(/ {4}params:.*\n/, ''));
const backtest = ['backtest', '--config', 'run.yaml', '--runs', 'runs'];
const advice =
  /^sluice: \.\/mine\.ts is not deterministic: two runs of the .* gave [\d,.]+ with \d+ fills and [\d,.]+ with \d+ fills\. It keeps state between runs .*\. Nothing was saved\. sluice check \.\/mine\.ts names the first kline\n$/;

test('are refused by a grid, which saves none of its parameter sets', async () => {
  at.write('mine.ts', strategy(700));
  for (const workers of ['1', '2']) {
    const { code, out, err } = await at.sluice([...backtest, '--grid', 'n=3..8', '--workers', workers]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(advice);
    // The first where a thread had run others in between, the last where one thread had run them all.
    expect(err).toMatch(/two runs of the parameter set n [38] gave/);
  }
  expect(readdirSync(join(at.dir, 'runs', 'grids'))).toEqual([]);
});

test('are refused by a grid, too, where the first run keeps what those after it take', async () => {
  at.write(
    'mine.ts',
    strategy(1e9)
      .replace('let decided = 0;', 'const known = new Map<number, number>();')
      .replace('decided++;', 'if (!known.has(kline.openTime)) known.set(kline.openTime, mean);')
      .replace('decided < 1000000000 && kline.close > mean', 'kline.close > (known.get(kline.openTime) ?? 0)'),
  );
  const { code, out, err } = await at.sluice([...backtest, '--grid', 'n=3..8', '--workers', '1']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('two runs of the parameter set n 8 gave');
});

test('are refused by a grid that was killed before any of its parameter sets ran once more', async () => {
  at.write('mine.ts', strategy(1e9));
  const grid = [...backtest, '--grid', 'n=3..4'];
  expect((await at.sluice(grid)).code).toBe(0);
  const folder = join(at.dir, 'runs', 'grids');
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
  const lines = readFileSync(file, 'utf8').split('\n');
  // A result that the set does not give again.
  const other = lines.map((line) =>
    line.replace(/^(\{"cell":\[3\].*"finalEquity":")[\d.]+/, (_, before: string) => `${before}12345`),
  );
  writeFileSync(file, other.join('\n'));
  expect((await at.sluice(grid)).code).toBe(0);
  writeFileSync(file, other.filter((line) => line.startsWith('{"cell"')).join('\n'));
  const { code, out, err } = await at.sluice(grid);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(
    '2 of 2 parameter sets are complete already\nsluice: ./mine.ts is not deterministic: two runs of the parameter set n 3 gave 12,345',
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('are refused by --stress, and named by a check from the first run on', async () => {
  at.write('mine.ts', strategy(700));
  const { code, out, err } = await at.sluice([...backtest, '--stress', '--no-save']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(advice);
  const check = await at.sluice(['check', './mine.ts']);
  expect(check.code).toBe(1);
  expect(check.out).toContain('not repeatable');
});

test('that count and decide alike all the same are run', async () => {
  at.write('mine.ts', strategy(1e9));
  const grid = await at.sluice([...backtest, '--grid', 'n=3..8', '--no-save']);
  expect({ code: grid.code, err: grid.err }).toEqual({ code: 0, err: '' });
  expect(grid.out).toContain('6 parameter sets over 400 klines');
  expect((await at.sluice([...backtest, '--stress', '--no-save'])).code).toBe(0);
});

test('whose indicators throw are told without a line of a file that nobody wrote', async () => {
  at.write('mine.ts', strategy(1e9).replace("sma('close', n)", 'sma(n)'));
  const { code, err } = await at.sluice(['check', './mine.ts']);
  expect(code).toBe(2);
  expect(err).toMatch(/^sluice: \.\/mine\.ts: strategy mine: check\(\), warmup\(\) or indicators\(\) threw/);
});
