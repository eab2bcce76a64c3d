/** `sluice dev`: a save tests, backtests and checks a strategy; what is wrong is shown, and watching goes on until Ctrl-C. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';
import { killLeftovers, startProgram } from '../kit/program.ts';
import { until } from '../kit/until.ts';

const at = desk();
afterAll(() => {
  killLeftovers();
  at.remove();
});

test('each save of a strategy or its helper is judged, and an error is shown until it is gone', async () => {
  expect((await at.sluice(['init', 'mine'])).code).toBe(0);
  const folder = join(at.dir, 'mine');
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const page = readFileSync(join(folder, 'strategies', 'above-average.ts'), 'utf8');
  const config = readFileSync(join(folder, 'backtest.yaml'), 'utf8').replace(
    'node_modules/sluice',
    join(import.meta.dirname, '..', '..'),
  );
  write(
    'backtest.yaml',
    config.replace('to: 2020-04-01', 'to: 2020-03-10').replace('period: 2000, margin: 0.02', 'period: 100'),
  );
  write('strategies/helper.ts', 'export const share = 0.5;\n');
  write('strategies/above-average.ts', page.replace("'sluice';", "'sluice';\nimport './helper.ts';"));
  const program = startProgram(['dev', 'strategies/above-average.ts'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: at.dir },
  });
  const ends = (kind: string): number => program.lines.filter((line) => line.startsWith(`${kind} in `)).length;
  const saved = async (kind: 'done' | 'failed', name: string, text: string): Promise<string> => {
    const before = [ends(kind), program.lines.length] as const;
    write(name, text);
    await until(`${kind} after a save`, () => ends(kind) > before[0]);
    return program.lines.slice(before[1]).join('\n');
  };
  const url = /http:\S+/.exec(await program.line(/^report: /))?.[0] ?? '';
  await program.line(/^done in /);
  expect(program.lines.join('\n')).toMatch(/^Return .*\n[\s\S]*^look-ahead +none/m);
  expect(await (await fetch(url)).text()).toContain('/changes');
  expect(await (await fetch(`${url}report`)).text()).toMatch(/^<!doctype html>[\s\S]*above-average/);
  const other = await fetch(`${url}report`, { method: 'POST' });
  expect(other.status).toBe(403);

  const broken = await saved('failed', 'strategies/above-average.ts', `${page}\nbroken broken`);
  expect(broken).toMatch(/above-average\.ts cannot be loaded: SyntaxError/);
  const changes = await fetch(`${url}changes`);
  const told = await changes.body?.getReader().read();
  expect(new TextDecoder().decode(told?.value)).toContain('cannot be loaded');
  const throwing = await saved(
    'failed',
    'strategies/above-average.ts',
    page.replace('const enter =', "throw new Error('no idea');\n    const enter ="),
  );
  expect(throwing).toContain('no idea');
  const importing = "import { share } from './helper.ts';\n";
  const using = importing + page.replace('{ share: params.share }', '{ share }');
  expect(await saved('done', 'strategies/above-average.ts', using)).toMatch(/^Return /m);
  const failing = await saved('failed', 'strategies/helper.ts', 'export const share = 0.25;\n');
  expect(failing).toMatch(/is long in a rise/);
  await saved('done', 'strategies/helper.ts', 'export const share = 0.5;\n');
  expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });
});

test('a strategy or a configuration that is not there, and a configuration without the strategy, are refused or said', async () => {
  expect(await at.sluice(['dev', 'absent.ts'])).toMatchObject({
    code: 2,
    err: 'sluice: strategy file absent.ts does not exist\n',
  });
  at.write('there.ts', '');
  const { code, err } = await at.sluice(['dev', 'there.ts']);
  expect(code).toBe(2);
  expect(err).toMatch(/configuration backtest\.yaml does not exist: give the one of a backtest .* with --config FILE/);
});
