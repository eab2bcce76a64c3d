/** The table of a backtest: rounded for the eye, and a reason in the place of a number that means nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backtestHere, backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
const perDay = 1_440;
/** A price that goes up and down by a fifth over an hour and a half, so that averages cross again and again. */
const moving = (rows: number): readonly string[] =>
  klineLines(rows).map((line, row) => {
    if (row === 0) return line;
    const [time] = line.split(',');
    const price = (row: number): string => (100 + 10 * Math.sin(row / 15)).toFixed(2);
    const [open, close] = [price(row - 1), price(row)];
    return `${time},${open},${Math.max(Number(open), Number(close))},${Math.min(Number(open), Number(close))},${close},7`;
  });

beforeAll(() => {
  at.write('quiet.csv', `${klineLines(perDay).join('\n')}\n`);
  at.write('quiet-month.csv', `${klineLines(31 * perDay).join('\n')}\n`);
  at.write('moving.csv', `${moving(31 * perDay).join('\n')}\n`);
});
afterAll(() => at.remove());

async function table(data: string, ...set: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const config = at.write('b.yaml', backtestYaml.replace('klines.csv', data));
  const { out, refusal } = await backtestHere(config, { set });
  expect(refusal).toBeUndefined();
  return new Map(out.split('\n').map((line) => [line.slice(0, 20).trim(), line.slice(21)]));
}

test('rounds what it shows and gives the equity exactly beside it', async () => {
  const rows = await table('moving.csv', 'fees.taker=0.00033333');
  const [, shown, exact] =
    /^([\d,]+\.\d\d) USD {2}\(exactly (\d+\.\d{3,})\)$/.exec(rows.get('Final equity') ?? '') ?? [];
  expect(Math.abs(Number(shown?.replaceAll(',', '')) - Number(exact))).toBeLessThanOrEqual(0.005 + 1e-9);
  expect(rows.get('Sharpe ratio')).toMatch(
    /^-?\d+\.\d\d \[-?\d+\.\d\d, -?\d+\.\d\d\] {2}\(daily, 365 days, no risk-free rate; 95 % by bootstrap\)$/,
  );
});

test('says of how few days a Sharpe ratio would be made', async () => {
  expect((await table('moving.csv', 'to=2020-03-01')).get('Sharpe ratio')).toBe(
    'n/a  (29 daily returns; at least 30 are needed)',
  );
  expect((await table('quiet.csv')).get('Sharpe ratio')).toMatch(/^n\/a {2}\(1 daily return; at least 30/);
});

test('says that equity did not change, and shows no shares of trips that were not made', async () => {
  const rows = await table('quiet-month.csv');
  expect(rows.get('Sharpe ratio')).toBe('n/a  (equity did not change from one day to another)');
  expect(rows.get('Round trips')).toBe('0');
});

test('says what large orders cost by their size, and which had no impact since too few days are known', async () => {
  // 7 trade in a minute, so 10,080 in a day, of which ten are large.
  const rows = await table('moving.csv', 'rules=sluice', 'strategies.0.params.quantity=12');
  expect(rows.get('Impact')).toMatch(
    /^[\d,]+\.\d\d USD, [\d.]+ % of the turnover, in the prices: [\d,]+ large orders moved their own price, the largest of [\d.]+ % of a usual day's volume$/,
  );
  expect(rows.get('Impact not known')).toMatch(
    /^\d+ orders of more than 0\.1 % of a day's volume \(the largest 0\.12 %\) filled without impact: fewer than 5 earlier days are known$/,
  );
  const small = await table('moving.csv', 'rules=sluice', 'strategies.0.params.quantity=1');
  expect([...small.keys()].filter((key) => key.startsWith('Impact'))).toEqual([]);
});
