/** The lines of the README that take the market of a configuration, typed as they are printed there, against the built-in exchange. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk } from '../kit/command.ts';
import { killLeftovers, startProgram } from '../kit/program.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const at = desk();
const env = { PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') };

/** The arguments of the one line of the README that begins so. */
function printed(command: string): readonly string[] {
  const lines = read('README.md')
    .split('\n')
    .filter((line) => line.startsWith(`npx sluice ${command} `));
  expect(lines).toHaveLength(1);
  return (lines[0] as string).replace(/ +#.*/, '').split(' ').slice(2);
}

beforeAll(async () => {
  const simulator = startProgram(['simulator', '--port', '0'], { cwd: at.dir, env });
  const [, address = ''] = /restUrl: "http:\/\/([^"]+)"/.exec(await simulator.line(/restUrl/)) ?? [];
  mkdirSync(join(at.dir, 'config'));
  at.write('config/live.yaml', read('config/live.yaml').replaceAll('127.0.0.1:8790', address));
});
afterAll(() => {
  killLeftovers();
  at.remove();
});

test('data fetch stores the history', async () => {
  const { code, err } = await at.sluice(printed('data fetch'));
  expect(code, err).toBe(0);
  expect((await at.sluice(['data', 'list'])).out).toMatch(/XBTUSD\W+1min/);
});

test('record records until it is stopped', async () => {
  const recorder = startProgram(printed('record'), { cwd: at.dir, env });
  await recorder.line(/^recording XBTUSD into/);
  expect(await recorder.end('SIGINT')).toEqual({ code: 130, signal: null });
});
