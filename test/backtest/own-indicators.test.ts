/** Indicators of the user's own: what a grid shares between sets is not theirs, and the klines are not theirs to change. */
import { afterAll, expect, test } from 'vitest';
import { backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
afterAll(() => at.remove());
const [header = '', ...rows] = klineLines(400);
const close = (row: number): string => (100 + Math.sin(row / 9) * 0.9).toFixed(2);
at.write(
  'klines.csv',
  `${[header, ...rows.map((line, row) => line.replace(',100.5,', `,${close(row)},`))].join('\n')}\n`,
);
at.write('run.yaml', backtestYaml.replace('use: sma-cross', 'use: ./mine.ts').replace(/ {4}params:.*\n/, ''));
const backtest = ['backtest', '--config', 'run.yaml', '--no-save', '--json'];

function write(own: string): void {
  at.write(
    'mine.ts',
    `import { defineStrategy, flat, hold, integer, sma } from 'sluice';
export default defineStrategy({
  name: 'mine', about: 'Its own', params: { n: integer(9, { min: 2, max: 90 }, 'klines of the mean') },
  indicators: ({ n }) => {
    const mean = sma('close', n);
    return { mean, own: ${own} };
  },
  decide: ({ mean, own }) => (own > mean ? hold({ quantity: 1 }, 'above') : flat('below')),
});
`,
  );
}

test('a shipped indicator with another column is another one, to the sets of a grid, too', async () => {
  // Above the mean where that is below a hundred.
  write(`{
      ...mean,
      column: (klines, interval) => mean.column(klines, interval).map((value) => 2 * value - 100),
      stream: (interval) => { const next = mean.stream(interval); return (kline) => 2 * next(kline) - 100; },
    }`);
  const grid = JSON.parse((await at.sluice([...backtest, '--grid', 'n=3..6', '--workers', '1'])).out) as {
    readonly parameterSets: readonly { readonly finalEquity: string; readonly fills: number }[];
  };
  const singly: (typeof grid.parameterSets)[number][] = [];
  for (const n of [3, 4, 5, 6]) {
    const { out } = await at.sluice([...backtest, '--set', `strategies.0.params.n=${n}`]);
    const { finalEquity, fillCount } = JSON.parse(out) as { finalEquity: string; fillCount: number };
    expect(fillCount).toBeGreaterThan(5);
    singly.push({ finalEquity, fills: fillCount });
  }
  expect(grid.parameterSets.map(({ finalEquity, fills }) => ({ finalEquity, fills }))).toEqual(singly);
});

test('one that writes into the klines is told so: orders would fill by what it wrote', async () => {
  write('{ warmup: 1, column: (k) => k.close.sort(), stream: () => ({ close }) => close }');
  const fault = /column\(\) of an indicator writes into the close of the klines that it is given/;
  const single = await at.sluice(backtest);
  expect({ code: single.code, out: single.out }).toEqual({ code: 1, out: '' });
  expect(single.err).toMatch(fault);
  expect((await at.sluice([...backtest, '--grid', 'n=3..6'])).err).toMatch(fault);
  expect((await at.sluice(['check', './mine.ts'])).err).toMatch(fault);
});
