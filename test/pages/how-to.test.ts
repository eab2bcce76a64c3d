/** The pages of `docs/how-to`: their code has the types that it needs, and runs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = desk();
afterAll(() => at.remove());
const node = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: at.dir, encoding: 'utf8' });

/** Writes the files of a page. */
function writeFiles(name: string): void {
  const page = readFileSync(join(root, 'docs', 'how-to', name), 'utf8');
  for (const [, file = '', text = ''] of page.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms))
    at.write(file, text.replace('klines.csv', join(root, 'backtests', 'data', 'XBTUSD-1m-2020-02_2020-04.csv.gz')));
}

beforeAll(() => {
  // As `npm install ../sluice` makes it.
  mkdirSync(join(at.dir, 'node_modules'));
  symlinkSync(root, join(at.dir, 'node_modules', 'sluice'));
  symlinkSync(join(root, 'node_modules', '@types'), join(at.dir, 'node_modules', '@types'));
  at.write('package.json', '{ "type": "module" }');
  at.write('tsconfig.json', JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }));
});

test('backtest-from-code.md', () => {
  writeFiles('backtest-from-code.md');
  expect(node('--conditions=sluice-source', 'from-code.ts')).toMatch(
    /^\d+ fills, return -?0\.\d{3}, max drawdown 0\.\d{3}\n1\d{3} points, the last \d+\.\d\d\n$/,
  );
});

test('backtest-from-code.md, of several markets', () => {
  writeFiles('backtest-from-code.md');
  expect(node('--conditions=sluice-source', 'several.ts')).toBe('BUY BTCUSDT, SELL BTCUSDT\n');
});

test('test-a-strategy.md', () => {
  writeFiles('test-a-strategy.md');
  expect(node('--conditions=sluice-source', '--test-reporter=tap', 'above-average.test.ts')).toMatch(
    /^# pass 4\n# fail 0$/m,
  );
});

test('their code has the types that it needs', () => {
  expect(node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', at.dir)).toBe('');
});
