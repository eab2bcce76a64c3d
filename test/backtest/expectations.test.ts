/** `sluice backtest --all`: scenarios of a folder against what is written down beside them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backtestYaml, type Desk, desk, klineLines } from '../kit/command.ts';

const shipped = fileURLToPath(new URL('../../backtests', import.meta.url));
let at: Desk;
beforeEach(() => {
  at = desk();
  const lines = klineLines(300).map((line, row) =>
    row === 0 ? line : line.replace(/100,101,99,100\.5/, `100,${110 + (row % 40)},90,${100 + (row % 40) / 4}`),
  );
  at.write('klines.csv', lines.join('\n'));
  at.write('mine.yaml', backtestYaml);
});
afterEach(() => at.remove());

test('shipped scenarios are as expected', async () => {
  const { code, out, err } = await at.sluice(['backtest', '--all', shipped]);
  expect(code, err).toBe(0);
  const scenarios = readdirSync(shipped).filter((file) => file.endsWith('.yaml'));
  expect(scenarios.length).toBeGreaterThan(2);
  expect(out).toBe(scenarios.map((file) => `as expected       ${file.replace('.yaml', '')}\n`).join(''));
});

test("one's own: nothing expected, accepted, as expected, and what differs once it does", async () => {
  const first = await at.sluice(['backtest', '--all', '.']);
  expect(first).toMatchObject({
    code: 1,
    out: expect.stringMatching(/nothing expected +mine\n.*mine\.expected\.json does not exist/),
  });
  expect(await at.sluice(['backtest', '--all', '.', '--accept'])).toMatchObject({ code: 0 });
  expect((await at.sluice(['backtest', '--accept'])).err).toBe(
    'sluice: --accept is for scenarios: give --all, or leave it out\n',
  );
  expect(await at.sluice(['backtest', '--all', '.'])).toMatchObject({ code: 0, out: 'as expected       mine\n' });
  const file = join(at.dir, 'mine.expected.json');
  const text = readFileSync(file, 'utf8');
  expect((JSON.parse(text) as { fills: unknown[] }).fills.length).toBeGreaterThan(2);
  at.write('mine.expected.json', text.replace(/"price": "([^"]+)"/, '"price": "1.25"'));
  const differs = await at.sluice(['backtest', '--all', '.']);
  expect(differs.code).toBe(1);
  expect(differs.out).toMatch(/differs +mine\n +fill 1: expected .* at 1\.25, fee .*\n +found .* BUY /);
  expect(differs.err).toMatch(/1 of 1 not as expected: mine \(--accept saves the new results as expectations\)/);
  // Scenarios are no tries of a strategy, and keep no runs.
  expect(existsSync(join(at.dir, 'var'))).toBe(false);
});

test('a configuration that cannot run is failed, and an expectation that is none is none; the others are judged', async () => {
  at.write('broken.yaml', 'cash: 5\n');
  at.write('last.yaml', backtestYaml);
  at.write('last.expected.json', '{');
  const { code, out, err } = await at.sluice(['backtest', '--all', '.', '--json']);
  expect(code).toBe(1);
  expect(err).toMatch(/3 of 3 not as expected: broken, last, mine \(--accept saves the new results as expectations\)/);
  const states = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; state: string });
  expect(states).toMatchObject([
    { name: 'broken', state: 'failed' },
    {
      name: 'last',
      state: 'nothing expected',
      differences: [expect.stringMatching(/last\.expected\.json is not an expect/)],
    },
    { name: 'mine', state: 'nothing expected' },
  ]);
  expect((await at.sluice(['backtest', '--all', '.', '--accept'])).err).toBe(
    'sluice: 1 of 3 could not be run: broken\n',
  );
  expect((await at.sluice(['backtest', '--all', '.'])).err).toBe('sluice: 1 of 3 not as expected: broken\n');
});

test('says what it needs where there is nothing', async () => {
  expect(await at.sluice(['backtest', '--all', 'nowhere'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/folder .*nowhere/),
  });
});
