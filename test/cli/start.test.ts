/** Starting under wrong circumstances: keys, ports, an exchange that is not there, an old Node. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioOf } from '../../src/commands/simulator/scenarios.ts';
import { demoUser } from '../../src/commands/simulator/simulator.ts';
import { openState } from '../../src/journal/open.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';
import { type Answer, desk, launcher } from '../kit/command.ts';
import { startProgram } from '../kit/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const config = (name: string): string => join(root, 'config', name);
const keys = { SLUICE_API_KEY: demoUser.key, SLUICE_API_SECRET: demoUser.secret };
const at = desk();
afterAll(() => at.remove());

const oneMessage = ({ err, out }: Answer): string => {
  expect(out).toBe('');
  expect(err).not.toMatch(/\n {4}at |this is a bug/);
  return err;
};

describe('keys', () => {
  const live = (env = {}): Promise<Answer> => at.sluice(['live', '--config', config('live.yaml')], env);

  test('that are missing are named, and nothing is written', async () => {
    const answer = await live();
    expect(answer.code).toBe(2);
    expect(oneMessage(answer)).toBe(
      'sluice: SLUICE_API_KEY and SLUICE_API_SECRET are not set: put them into the environment or into .env (chmod 600)\n',
    );
    expect(at.files()).toEqual([]);
  });

  test('in a .env that others may read are refused by the guard', async () => {
    at.write('.env', 'SLUICE_API_KEY=a\nSLUICE_API_SECRET=b\n', 0o644);
    const answer = await live();
    expect(answer.code).toBe(3);
    expect(oneMessage(answer)).toBe('sluice: .env can be read by other users of this machine: run chmod 600 .env\n');
    at.write('.env', 'SLUICE_API_KEY=a\n', 0o600);
    expect(oneMessage(await live())).toContain(
      'SLUICE_API_SECRET is not set: put it into the environment or into .env',
    );
    expect(at.files()).toEqual(['.env']);
  });
});

test('a planted link for the log is refused, and nothing goes where it leads', async () => {
  const state = join(at.dir, 'planted');
  const precious = join(at.dir, 'precious');
  mkdirSync(state);
  writeFileSync(precious, 'mine');
  symlinkSync(precious, join(state, 'sluice.log'));
  const answer = await at.sluice(['paper', '--config', config('paper.yaml'), '--state', state]);
  expect(answer.code).toBe(3);
  expect(oneMessage(answer)).toContain(`remove ${join(state, 'sluice.log')}, then start again`);
  expect(readFileSync(precious, 'utf8')).toBe('mine');
  rmSync(state, { recursive: true });
  rmSync(precious);
});

describe('an exchange', () => {
  let simulator: Simulator;
  let taken: Server;
  let port = 0;
  beforeAll(async () => {
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
    taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve);
    });
    const address = taken.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(async () => {
    taken.close();
    await simulator.close();
  });
  const start = (mode: 'live' | 'paper', setting: string, env: Record<string, string> = {}): Promise<Answer> =>
    at.sluice(
      [
        ...[mode, '--config', config(`${mode}.yaml`), '--set', `exchange.restUrl=${simulator.restUrl}`],
        ...['--set', `exchange.wsUrl=${simulator.wsUrl}`, '--set', setting, '--state', join('var', mode)],
      ],
      env,
    );

  test('that refuses the key is quoted', async () => {
    const answer = await start('live', 'dashboard.port=0', { ...keys, SLUICE_API_KEY: 'mistyped' });
    expect(answer.code).toBe(2);
    expect(oneMessage(answer)).toMatch(
      /^sluice: the exchange at http:\S+ refuses the account: .*-2015.*\n {2}it means: .+\n {2}what to do: .+/,
    );
    expect(existsSync(join(at.dir, 'var', 'live'))).toBe(false);
  });

  test('whose market is traded on paper has no margin account', async () => {
    const before = at.files();
    const answer = await start('paper', 'account=margin');
    expect(answer.code).toBe(2);
    expect(oneMessage(answer)).toContain('paper.yaml: account: margin is not supported on paper');
    expect(at.files()).toEqual(before);
  });

  test('that has no such symbol leads to near ones', async () => {
    const answer = await start('paper', 'strategies.0.symbol=XBTUSDT');
    expect(answer.code).toBe(2);
    expect(oneMessage(answer)).toMatch(/has no symbol XBTUSDT \(did you mean "XBTUSD"\?\); there is XBTUSD/);
  });

  test('is left again when the dashboard cannot have its port', async () => {
    const answer = await start('paper', `dashboard.port=${port}`);
    expect(answer.code).toBe(1);
    expect(oneMessage(answer)).toContain(
      `port ${port} on 127.0.0.1 is taken; set dashboard.port (of the demo: --port) to another one, or to 0`,
    );
  });

  test('of our own on a taken port says how to take another', async () => {
    const answer = await at.sluice(['simulator', '--port', String(port)]);
    expect(answer.code).toBe(1);
    expect(oneMessage(answer)).toContain(`127.0.0.1:${port}: the port is taken: stop what uses it, or choose another`);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 0],
  ] as const)('that does not answer is asked again until the user stops it (%s)', async (signal, code) => {
    const args = ['paper', '--config', config('paper.yaml'), '--state', 'var/alone'];
    const nowhere = ['--set', 'exchange.restUrl=http://127.0.0.1:1', '--set', 'exchange.wsUrl=ws://127.0.0.1:1/'];
    const env = { PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') };
    const program = startProgram([...args, ...nowhere], { cwd: at.dir, env });
    await program.line(/Z the exchange at http:\/\/127\.0\.0\.1:1 does not answer .*; trying again$/);
    expect(await program.end(signal)).toEqual({ code, signal: null });
    expect(program.lines.at(-1)).toBe('sluice: stopped before the exchange at http://127.0.0.1:1 could be reached');
  });
});

test('why says that it knows no such order', async () => {
  const state = openState(join(at.dir, 'state'), { mode: 'live', account: 'spot', venue: 'test' }, ['trend']);
  state.lock.release();
  const answer = await at.sluice(['why', 'c0ffee', '--state', 'state']);
  expect(answer.code).toBe(2);
  expect(oneMessage(answer)).toContain('no order in this journal has the id c0ffee');
});

test('--help and --version load nothing heavy', async () => {
  const spy = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`;
  const node = [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(spy)}`];
  for (const option of ['--help', '--version']) {
    const { err, code } = await at.sluice([option], {}, node);
    expect(code).toBe(0);
    expect(err).toContain('/commander/');
    expect(err).not.toMatch(/node_modules\/(?!commander\/)/);
  }
});

/** A Node of this machine that is too old to run Sluice itself. */
function oldNode(): string | undefined {
  const places = [
    '/usr/bin/node',
    '/usr/local/bin/node',
    ...(process.env['PATH'] ?? '').split(':').map((dir) => join(dir, 'node')),
  ];
  return places.find((file) => {
    if (!existsSync(file)) return false;
    const major = Number(execFileSync(file, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }));
    return major >= 18 && major < 24;
  });
}
const old = oldNode();

describe.skipIf(old === undefined)('an older Node', () => {
  test('hands over to the Node of the clone', async () => {
    const answer = await at.sluice(['--version'], {}, [old ?? '']);
    expect(answer).toMatchObject({ code: 0, err: '' });
    expect(answer.out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await at.sluice(['why', 'x', '--state', 'nowhere'], {}, [old ?? ''])).code).toBe(2);
  });

  test('without that says in one line what is missing', async () => {
    // The launcher and the program, beside no node_modules.
    const bare = join(at.dir, 'bare');
    mkdirSync(join(bare, 'src'), { recursive: true });
    cpSync(dirname(launcher), join(bare, 'bin'), { recursive: true });
    cpSync(join(root, 'src', 'main.ts'), join(bare, 'src', 'main.ts'));
    cpSync(join(root, 'package.json'), join(bare, 'package.json'));
    const answer = await at.sluice([], {}, [
      old ?? '',
      '--eval',
      `import(${JSON.stringify(join(bare, 'bin', 'sluice.js'))})`,
    ]);
    expect(answer.code).toBe(2);
    expect(oneMessage(answer)).toMatch(
      /^sluice: needs Node 24 or newer, and this is Node \d+\.\d+\.\d+: install Node 24 \(.*\)\n$/,
    );
  });
});
