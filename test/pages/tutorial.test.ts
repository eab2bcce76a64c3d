/** The tutorial does what it says: its files, its commands and what they print are taken from the page. */
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scenarioOf } from '../../src/commands/simulator/scenarios.ts';
import { demoUser } from '../../src/commands/simulator/simulator.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { desk } from '../kit/command.ts';
import { startProgram } from '../kit/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'tutorial', 'first-strategy.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(([, language, about = '', text = '']) => ({
  language,
  about: about.trim(),
  text,
}));
/** The page's `npx sluice …` lines without their comments, as arguments, in the page's order. */
const commands = [...page.matchAll(/^npx sluice ([^#\n]*)/gm)].map(([, line = '']) => line.trim().split(/\s+/));
const named = (name: string): readonly (readonly string[])[] => commands.filter(([first]) => first === name);

// Beside the clone, as the page has it.
const at = desk('my-trading');
let simulator: Simulator;

beforeAll(async () => {
  symlinkSync(root, join(at.dir, '..', 'sluice'));
  at.write('package.json', '{ "type": "module" }');
  for (const { about, text } of blocks) {
    const file = /^file=(\S+)$/.exec(about)?.[1];
    if (file !== undefined) at.write(file, text);
  }
  const { scenario, instrument } = scenarioOf('crash-2020');
  simulator = await startSimulator({
    port: 0,
    speed: 60,
    seed: 1,
    profile: 'documented',
    users: [demoUser],
    instruments: [instrument],
    markets: [scenario.load(instrument)],
  });
});
afterAll(async () => {
  await simulator.close();
  at.remove();
});

test('its backtest prints what the page shows', async () => {
  const [first, ...others] = named('backtest');
  const answer = await at.sluice(first ?? []);
  expect(answer.code, answer.err).toBe(0);
  expect(answer.out).toBe(blocks.find(({ about }) => about === 'output=backtest')?.text);
  expect(others).toHaveLength(2);
  for (const args of others) expect(await at.sluice(args)).toMatchObject({ code: 0 });
});

test.for(['paper', 'live'] as const)(
  'its strategy trades %s until it is stopped, and its fills can be read',
  async (mode) => {
    const [command] = named(mode);
    const addresses = [`exchange.restUrl=${simulator.restUrl}`, `exchange.wsUrl=${simulator.wsUrl}`];
    const keys = /export SLUICE_API_KEY=(\S+) SLUICE_API_SECRET=(\S+)/.exec(page);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: join(at.dir, 'home'),
      ...(mode === 'live' && { SLUICE_API_KEY: keys?.[1] ?? '', SLUICE_API_SECRET: keys?.[2] ?? '' }),
    };
    const program = startProgram([...(command ?? []), ...addresses.flatMap((one) => ['--set', one])], {
      cwd: at.dir,
      env,
    });
    await program.line(/Z dashboard {2}http:\/\/127\.0\.0\.1:\d+\/#token=/);
    await program.line(/Z fill +mine BUY /);
    expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });

    const reading = commands.filter((args) => args.join(' ').endsWith(`--state var/${mode}`));
    expect(reading.length).toBeGreaterThan(1);
    for (const args of reading) expect(await at.sluice(args), args.join(' ')).toMatchObject({ code: 0 });
    const state = ['--state', join('var', mode)];
    const { out } = await at.sluice(['fills', '--json', ...state]);
    const { clientOrderId } = JSON.parse(out.split('\n')[0] ?? '') as { clientOrderId: string };
    expect((await at.sluice(['why', clientOrderId, ...state])).out).toContain('because the close is above its average');
  },
);

test('with the standard limits the doctor fails first, and a small share trades', async () => {
  const addresses = [`exchange.restUrl=${simulator.restUrl}`, `exchange.wsUrl=${simulator.wsUrl}`];
  const here = addresses.flatMap((one) => ['--set', one]);
  const keys = /export SLUICE_API_KEY=(\S+) SLUICE_API_SECRET=(\S+)/.exec(page);
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') },
    ...{ SLUICE_API_KEY: keys?.[1] ?? '', SLUICE_API_SECRET: keys?.[2] ?? '' },
  };
  const [asGiven = [], small = []] = named('doctor');
  const run = async (args: readonly string[]) => {
    const program = startProgram([...args, ...here], { cwd: at.dir, env });
    const { code } = await program.exited;
    return { code, out: program.lines.join('\n') };
  };
  expect(await run(asGiven)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^ {2}fail {2}denials .* (\d+) of \1 entries denied\s+\(orderShare \1\)/m),
  });
  expect((await run(small)).out).toMatch(/^ {2}warn {2}denials +no entry of the last .* would have been denied; a\s/m);
  const daemon = startProgram([...(named('live')[1] ?? []), ...here], { cwd: at.dir, env });
  await daemon.line(/Z fill +careful BUY /);
  expect(await daemon.end('SIGINT')).toEqual({ code: 130, signal: null });
});

test('every command of the page is run here', () => {
  const run = new Set([
    'backtest',
    'simulator',
    'paper',
    'live',
    'positions',
    'fills',
    'orders',
    'status',
    'kill',
    'doctor',
  ]);
  expect(commands.map(([name]) => name).filter((name = '') => !run.has(name))).toEqual([]);
});
