/** The pages of the shipped strategies: each has its parameters, and a backtest that prints the figures that the page shows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { registry } from '../../strategies/registry.ts';
import { desk } from '../kit/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const names = Object.keys(registry) as (keyof typeof registry)[];
const pageOf = (name: string): string => readFileSync(join(root, 'strategies', name, 'README.md'), 'utf8');

test('each folder of strategies is shipped, and the main page links each', () => {
  const folders = readdirSync(join(root, 'strategies'), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(folders.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  const main = readFileSync(join(root, 'README.md'), 'utf8');
  expect(names.filter((name) => !main.includes(`[${name}](strategies/${name}/README.md)`))).toEqual([]);
});

describe.for(names)('%s', (name) => {
  test('lists its parameters with their defaults', async () => {
    const { default: strategy } = await registry[name]();
    const rows = [...pageOf(name).matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \|/gm)].flatMap(
      ([, params = '', defaults = '']) => {
        const values = defaults.split(', ');
        return params.split(', ').map((param, index) => [param.replaceAll('`', ''), values[index]?.trim()]);
      },
    );
    const declared = Object.entries(strategy.params).map(([param, { default: value }]) => [param, String(value)]);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(declared));
  });

  test('shows figures that its backtest prints', async () => {
    const [, args = '', shown = ''] =
      /^npx sluice (backtest --config \S+)\n```\n\n```text\n(.*?)^```$/ms.exec(pageOf(name)) ?? [];
    const at = desk();
    try {
      const { out, err, code } = await at.sluice(args.replace('backtests/', `${root}/backtests/`).split(' '));
      expect(code, err).toBe(0);
      const printed = new Set(out.split('\n'));
      const lines = shown.split('\n').filter((line) => line !== '');
      expect(lines.length).toBeGreaterThan(2);
      expect(lines.filter((line) => !printed.has(line))).toEqual([]);
    } finally {
      at.remove();
    }
  });
});
