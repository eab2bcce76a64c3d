/** `sluice init` and `sluice new strategy`: what they write works as it is, and nothing is overwritten. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioOf } from '../../src/commands/simulator/scenarios.ts';
import { demoUser } from '../../src/commands/simulator/simulator.ts';
import { readConfig } from '../../src/config/read.ts';
import { tradingSchema } from '../../src/config/schema.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { registry } from '../../strategies/registry.ts';
import { type Answer, desk, launcher } from '../kit/command.ts';
import { startProgram } from '../kit/program.ts';

const at = desk();
const folder = join(at.dir, 'my-trading');
const inFolder = (...path: readonly string[]): string => join(folder, ...path);
afterAll(() => at.remove());

/** What npm runs there, without a registry. */
const npm = (...args: readonly string[]): string =>
  execFileSync('npm', [...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
const sluice = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [launcher, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function refused(answer: Promise<Answer>): Promise<string> {
  // Other tests of the clone that it links to write into their caches meanwhile.
  const files = (): readonly string[] => at.files().filter((path) => !path.includes('node_modules/'));
  const before = files();
  const { code, out, err } = await answer;
  expect({ code, out }, err).toEqual({ code: 2, out: '' });
  expect(err).not.toMatch(/\n {4}at |this is a bug/);
  expect(files()).toEqual(before);
  return err.replaceAll(at.dir, '.').trim();
}

describe('a folder of sluice init', () => {
  beforeAll(async () => {
    const { code, out, err } = await at.sluice(['init', 'my-trading']);
    expect(code, err).toBe(0);
    expect(out).toContain('cd my-trading && npm install && npm test && npm run backtest');
    npm('install');
  });

  test('has tests that pass', () => {
    expect(npm('test')).toMatch(/^ℹ pass 5\nℹ fail 0$/m);
  });

  test('has a backtest that trades', () => {
    const { fills } = JSON.parse(npm('run', '--silent', 'backtest', '--', '--json')) as { fills: readonly unknown[] };
    expect(fills.length).toBeGreaterThan(10);
  });

  test('has the types that it needs, and a strategy without look-ahead', () => {
    npm('run', 'types');
    expect(npm('run', '--silent', 'check')).toMatch(/^look-ahead +none:/m);
  });

  test('has a configuration for paper that trades on the built-in exchange, and one for live', async () => {
    expect(readConfig(inFolder('live.yaml'), tradingSchema).strategies).toMatchObject([{ id: 'above-average' }]);
    const { scenario, instrument } = scenarioOf('crash-2020');
    const simulator = await startSimulator({
      ...{ port: 0, speed: 60, seed: 1, profile: 'documented', users: [demoUser] },
      instruments: [instrument],
      markets: [scenario.load(instrument)],
    });
    const addresses = [`exchange.restUrl=${simulator.restUrl}`, `exchange.wsUrl=${simulator.wsUrl}`];
    const args = ['paper', '--config', 'paper.yaml', ...addresses.flatMap((one) => ['--set', one])];
    const program = startProgram(args, { cwd: folder, env: { PATH: process.env['PATH'] ?? '', HOME: at.dir } });
    await program.line(/Z fill +above-average BUY /);
    expect(await program.end('SIGINT')).toEqual({ code: 130, signal: null });
    await simulator.close();
  });

  test('tells editors the keys of its configurations', () => {
    for (const [file, key] of [
      ['backtest.yaml', 'cash'],
      ['paper.yaml', 'exchange'],
      ['live.yaml', 'exchange'],
    ] as const) {
      const schema = /^# yaml-language-server: \$schema=(.*)$/m.exec(readFileSync(inFolder(file), 'utf8'))?.[1] ?? '';
      const { required, properties } = JSON.parse(readFileSync(inFolder(schema), 'utf8')) as Record<string, object>;
      expect(required).toContain(key);
      expect(properties).toHaveProperty([key]);
    }
  });

  test('keeps keys out of git', () => {
    expect(readFileSync(inFolder('.gitignore'), 'utf8').split('\n')).toEqual(
      expect.arrayContaining(['node_modules/', 'var/', '.env']),
    );
    expect(readFileSync(inFolder('.env.example'), 'utf8')).toContain(`SLUICE_API_KEY=${demoUser.key}\n`);
  });

  test('takes a copy of each shipped strategy, with a test that passes and the lines of a configuration', () => {
    for (const name of Object.keys(registry)) {
      const said = sluice('new', 'strategy', `my-${name}`, '--from', name);
      expect(said).toContain(`  - id: my-${name}\n    use: ./strategies/my-${name}.ts\n`);
      expect(readFileSync(inFolder('strategies', `my-${name}.ts`), 'utf8')).toContain(`\n  name: 'my-${name}',\n`);
    }
    sluice('new', 'strategy', 'fresh');
    // As npm install rxjs would put it there.
    symlinkSync(join(launcher, '..', '..', 'node_modules', 'rxjs'), inFolder('node_modules', 'rxjs'));
    expect(sluice('test')).toMatch(/^ℹ fail 0$/m);
    npm('run', 'types');
  });

  test('runs a script with its arguments, and ends with its exit code', () => {
    writeFileSync(
      inFolder('script.ts'),
      "import { sma } from 'sluice';\nconst kind: string = typeof sma;\nconsole.log(kind, process.argv[2]);\nprocess.exitCode = Number(process.argv[3] ?? 0);\n",
    );
    expect(sluice('run', 'script.ts', 'one')).toBe('function one\n');
    expect(() => sluice('run', 'script.ts', 'one', '3')).toThrow(expect.objectContaining({ status: 3 }));
  });

  test('fails npm test with a test that fails', () => {
    writeFileSync(
      inFolder('wrong.test.mjs'),
      "import { test } from 'node:test';\ntest('wrong', () => { throw new Error('no'); });\n",
    );
    expect(() => sluice('test', 'wrong.test.mjs')).toThrow(/a test failed/);
  });
});

describe('sluice init refuses', () => {
  const init = (name: string): Promise<string> => refused(at.sluice(['init', name]));

  test('a folder that holds something, a file, and names that are none', async () => {
    mkdirSync(join(at.dir, 'used'));
    at.write('used/mine.ts', '');
    at.write('file', '');
    expect(await init('used')).toBe(
      'sluice: used is not empty, and nothing is overwritten: choose another name, or add a strategy to it with sluice new strategy NAME',
    );
    expect(await init('file')).toBe('sluice: file is a file: choose another name');
    for (const name of ['My Trading', '..', 'a/B', ''])
      expect(await init(name)).toMatch(/^sluice: .*lower-case letters/);
  });

  test('a folder in a folder that is not there, and one inside Sluice', async () => {
    expect(await init('absent/mine')).toMatch(/^sluice: absent\/mine: folder .* does not exist: create it first/);
    const inside = join(launcher, '..', '..', 'mine');
    expect(await init(inside)).toMatch(
      / is inside Sluice itself .*: name a folder beside it, such as \.\.\/my-trading$/,
    );
    expect(existsSync(inside)).toBe(false);
  });
});

test('sluice init takes an empty folder', async () => {
  mkdirSync(join(at.dir, 'empty'));
  expect(await at.sluice(['init', 'empty'])).toMatchObject({ code: 0, err: '' });
  expect(statSync(join(at.dir, 'empty', 'package.json')).isFile()).toBe(true);
});

describe('sluice new strategy refuses', () => {
  const made = (...args: readonly string[]): Promise<string> => refused(at.sluice(['new', 'strategy', ...args]));

  test('a folder that sluice init did not make', async () => {
    expect(await made('mine')).toMatch(/^sluice: this folder has no package\.json with "type": "module"/);
  });

  test('a name that is none, an unknown strategy, and what is there already', async () => {
    at.write('package.json', '{ "type": "module" }');
    mkdirSync(join(at.dir, 'strategies'));
    at.write('strategies/there.test.ts', 'mine');
    expect(await made('My Own')).toMatch(/^sluice: My Own: the name of a strategy must be lower-case letters/);
    expect(await made('mine', '--from', 'gridd')).toMatch(
      /^sluice: --from gridd: unknown strategy \(did you mean "grid"\?\)/,
    );
    expect(await made('there')).toBe(
      'sluice: strategies/there.test.ts exists already, and nothing is overwritten: choose another name, or remove it first',
    );
  });
});

test('sluice run refuses a folder, and a file that is not there', async () => {
  for (const name of ['.', 'absent.ts'])
    expect(await refused(at.sluice(['run', name]))).toBe(`sluice: ${name} is not a file: name a script`);
});

test('sluice test refuses a folder, and a file that is not there', async () => {
  expect(await refused(at.sluice(['test', '.']))).toBe(
    'sluice: . is a folder: name test files, or none for all of them below this folder',
  );
  expect(await refused(at.sluice(['test', 'absent.test.ts']))).toBe('sluice: test file absent.test.ts does not exist');
});
