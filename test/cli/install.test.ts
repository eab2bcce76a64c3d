/** `sluice install`: the unit passes systemd's own verification, the Dockerfile a linter, and no secret is in any of it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  installSystemd,
  isClosedTo,
  refuseUnreachable,
  type SystemdOptions,
  unitText,
} from '../../src/commands/install/systemd.ts';
import { Refusal } from '../../src/domain/refusal.ts';
import { type Ran, sluice } from '../kit/program.ts';

const secret = 'canary-secret-5f2a';
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-install-'));
  configure();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function configure(change: object = {}, name = 'live.yaml'): void {
  const strategy = { id: 'one', use: 'sma-cross', symbol: 'BTCUSDT', interval: '1min', allocation: '1000' };
  const config = {
    exchange: { restUrl: 'https://exchange.example', wsUrl: 'wss://exchange.example/ws' },
    ...{ strategies: [strategy], risk: { maxOrderValue: '100', maxPosition: '100' }, metrics: { port: 9_999 } },
  };
  writeFileSync(join(dir, name), JSON.stringify({ ...config, ...change }));
}
const install = (...args: readonly string[]): Promise<Ran> => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, SLUICE_API_KEY: secret, SLUICE_API_SECRET: secret };
  return sluice(['install', ...args], { cwd: dir, env });
};
/** Every file below the folder, by its path. */
const written = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(join(dir, 'deploy'), { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(dir, 'deploy', name)).isFile())
      .map((name) => [name, readFileSync(join(dir, 'deploy', name), 'utf8')]),
  );

/** systemd checks a unit without running. Where it is not installed, only the text is tested. */
function verify(unit: string): string | undefined {
  const path = join(dir, 'sluice-test.service');
  writeFileSync(path, unit);
  try {
    execFileSync('systemd-analyze', ['verify', '--man=no', path], { stdio: 'pipe', encoding: 'utf8' });
    return '';
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    return code === 'ENOENT' ? undefined : String(stderr);
  }
}

/** Prints a unit for a configuration in /tmp, which the command refuses. */
function unitFor(
  config: string,
  given: Partial<SystemdOptions> = {},
): { readonly stdout: string; readonly stderr: string } {
  const lines: { out: string[]; said: string[] } = { out: [], said: [] };
  const before = process.cwd();
  process.chdir(dir);
  try {
    installSystemd({
      ...{ config, mode: 'live', user: 'sluice', secrets: '/etc/sluice/secrets.env', json: false, refuse() {} },
      ...{ out: (line) => void lines.out.push(line), say: (line) => void lines.said.push(line), ...given },
    });
  } finally {
    process.chdir(before);
  }
  return { stdout: lines.out.join('\n'), stderr: lines.said.join('\n') };
}

describe('a unit of systemd', () => {
  test('passes its verification, runs the configuration, and has keys only in the file that it names', ({ skip }) => {
    const { stdout, stderr } = unitFor('live.yaml');
    expect(stdout).toMatch(
      /^ExecStart="[^"]*node" "[^"]*bin\/sluice\.js" live --config "[^"]*\/live\.yaml" --state "\/var\/lib\/sluice\/live"$/m,
    );
    for (const line of [
      'User=sluice',
      'EnvironmentFile=/etc/sluice/secrets.env',
      'ProtectSystem=strict',
      'NoNewPrivileges=yes',
      'WatchdogSec=60',
      'StartLimitBurst=5',
      'RestartPreventExitStatus=2 3',
    ])
      expect(stdout.split('\n')).toContain(line);
    expect(stdout + stderr).not.toContain(secret);
    expect(stderr).toContain('save it as /etc/systemd/system/sluice.service, then as root:');
    // Keys and journals stay private, and keys that are there stay as they are.
    const grant = /^ +(find .*)$/m.exec(stderr)?.[1] ?? '';
    mkdirSync(join(dir, 'var'));
    for (const name of ['.env', 'secrets.env', 'var/journal.db', 'a file'])
      writeFileSync(join(dir, name), '', { mode: 0o600 });
    const group = String(statSync(dir).gid);
    execFileSync('sh', ['-c', grant.replaceAll('chgrp sluice', `chgrp ${group}`)], { cwd: dir });
    const modes = ['.env', 'secrets.env', 'var/journal.db', 'a file'].map(
      (name) => statSync(join(dir, name)).mode & 0o77,
    );
    expect(modes).toEqual([0, 0, 0, 0o40]);
    expect(stderr).toMatch(/^ +test -e \/etc\/sluice\/secrets\.env \|\| install -D -m 600/m);
    const against = verify(stdout);
    if (against === undefined) skip('systemd-analyze is not installed');
    expect(against).toBe('');
  });

  test('with spaces and percent signs in its paths is still valid, and may write what is recorded', ({ skip }) => {
    mkdirSync(join(dir, 'a 50% folder'));
    configure({ record: true, catalogue: 'data' }, 'a 50% folder/my $live.yaml');
    const { stdout } = unitFor('a 50% folder/my $live.yaml', { mode: 'paper', user: 'trader' });
    expect(stdout).toContain('a 50%% folder/my $$live.yaml"');
    expect(stdout).toMatch(/^ReadWritePaths="-\/.*a 50%% folder\/data"$/m);
    expect(stdout).toContain('--state "/var/lib/sluice/paper"');
    const against = verify(stdout);
    if (against === undefined) skip('systemd-analyze is not installed');
    expect(against).toBe('');
  });

  test('comes with the steps that make a state directory anywhere, and keep it private', () => {
    configure({ record: true, catalogue: 'data' });
    const state = join(dir, 'my states', 'live');
    const { stderr } = unitFor('live.yaml', { state });
    const [uid, gid] = [String(statSync(dir).uid), String(statSync(dir).gid)];
    const steps = stderr
      .split('\n')
      .filter((line) => / (install -d|find) /.test(line))
      .map((line) =>
        line.replaceAll(/-o sluice -g sluice/g, `-o ${uid} -g ${gid}`).replaceAll('chgrp sluice', `chgrp ${gid}`),
      );
    for (const step of steps) execFileSync('sh', ['-c', step], { cwd: dir });
    expect([state, join(dir, 'data')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o755]);
    // systemd makes those below its own.
    expect(unitFor('live.yaml', { state: '/var/lib/sluice/two' }).stderr).not.toMatch(/install -d .*sluice\/two/);
  });

  test.each([
    ['a configuration that does not exist', ['--config', 'none.yaml'], 'none.yaml does not exist'],
    ['no configuration', [], 'systemd needs a configuration: --config FILE'],
    ['a user that is none', ['--config', 'live.yaml', '--user', 'x\nRoot'], 'is not the name of a user'],
    ['a folder in /tmp', ['--config', 'live.yaml'], 'is temporary: PrivateTmp=yes of the unit hides it'],
  ])('is refused for %s', async (_, args, message) => {
    const { code, stdout, stderr } = await install('systemd', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('what a unit names', () => {
  const [state, written]: [string, readonly string[]] = ['/var/lib/sluice/live', ['/var/lib/sluice/live']];
  const at = { folder: '/opt/mine', config: '/opt/mine/live.yaml', state, written };
  const parts = { ...at, user: 'sluice', node: '/usr/bin/node', launcher: '/opt/sluice/bin/sluice.js' };
  const homes = (folder: string): boolean => ['/homes/root', '/homes/ann'].includes(folder);
  const refusal = (change: Partial<typeof parts>): string => {
    try {
      refuseUnreachable({ ...parts, ...change }, homes);
      return '';
    } catch (error) {
      return error instanceof Refusal ? error.message : String(error);
    }
  };

  test.each([
    [{ state: '/tmp/state' }, '/tmp/state is temporary: '],
    [{ written: ['/var/tmp/data'] }, '/var/tmp/data is temporary: '],
    [
      { folder: '/homes/root/mine' },
      'the user sluice cannot reach /homes/root/mine, because /homes/root is closed to it. Put it elsewhere',
    ],
    [
      { node: '/homes/ann/.nvm/node' },
      'the user sluice cannot reach /homes/ann/.nvm/node, because /homes/ann is closed to it',
    ],
  ])('is refused where the daemon cannot reach it: %j', (change, message) => {
    expect(refusal(change)).toContain(message);
  });

  test('may be below a home that is open, in a folder that is closed until the steps are carried out', () => {
    const mine = { folder: '/homes/ann', config: '/homes/ann/live.yaml' };
    expect([refusal({}), refusal(mine)]).toEqual(['', '']);
    // The steps leave `var` closed.
    const inVar = (): void =>
      refuseUnreachable({ ...parts, state: '/opt/mine/var/live' }, (one) => one === '/opt/mine/var');
    expect(inVar).toThrow('cannot reach /opt/mine/var/live, because /opt/mine/var is closed to it');
  });

  test('is reached only through folders that its user may enter', () => {
    const folder = join(dir, 'folder');
    mkdirSync(folder, { mode: 0o700 });
    const user = 'nobody-of-this-name';
    expect([isClosedTo(folder, user), isClosedTo(join(folder, 'later'), user)]).toEqual([true, false]);
    chmodSync(folder, 0o711);
    expect(isClosedTo(folder, user)).toBe(false);
  });

  test('is seen by the daemon, also where only the catalogue lies in a home', () => {
    const unit = (data: string) => unitText({ ...parts, mode: 'live', secrets: '/etc/s.env', written: [state, data] });
    expect(unit('/srv/data')).toContain('ProtectHome=yes');
    expect(unit(join('/home', 'ann', 'data'))).toContain('ProtectHome=read-only');
  });

  test('with a quote cannot be written into one', () => {
    expect(() => unitFor('live.yaml', { state: '/var/"x' })).toThrow('cannot be written into a unit');
  });
});

describe('files for Docker', () => {
  test('are a Dockerfile without a finding, a compose file, and what Prometheus and Grafana read', async () => {
    const { code, stdout } = await install('docker', '--config', 'live.yaml');
    expect(code).toBe(0);
    expect(stdout).toContain('docker compose -f deploy/compose.yaml up --build --detach');
    const files = written();
    expect(Object.keys(files).toSorted()).toEqual([
      'Dockerfile',
      'Dockerfile.dockerignore',
      'compose.yaml',
      'grafana/dashboards/sluice.json',
      'grafana/provisioning/dashboards/sluice.yml',
      'grafana/provisioning/datasources/prometheus.yml',
      'prometheus.yml',
    ]);
    const dockerfile = files['Dockerfile'] ?? '';
    expect(validate(dockerfile)).toEqual([]);
    expect(dockerfile).toMatch(/^USER 1000$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK [\s\S]*127\.0\.0\.1:9999\/health/m);
    expect(dockerfile).toContain('CMD ["live", "--config", "live.yaml", "--state", "/state/live"]');
    const { services } = parse(files['compose.yaml'] ?? '') as {
      services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    expect(services['sluice']).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      env_file: 'secrets.env',
      hostname: 'sluice',
      restart: 'on-failure:5',
    });
    expect(services['prometheus']).toMatchObject({ network_mode: 'service:sluice' });
    // Nothing can be reached from outside of this machine.
    expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:3000:3000']);
    expect(parse(files['prometheus.yml'] ?? '')).toMatchObject({
      scrape_configs: [{ static_configs: [{ targets: ['127.0.0.1:9999'] }] }],
    });
    for (const [name, text] of Object.entries(files)) {
      if (!name.endsWith('.json')) expect(text, name).not.toMatch(/\{\{\w/);
      expect(text, name).not.toContain(secret);
      if (/\.ya?ml$/.test(name)) expect(parse(text), name).toBeTypeOf('object');
    }
    expect((files['Dockerfile.dockerignore'] ?? '').split('\n')).toEqual(
      expect.arrayContaining(['**/.env', '**/*.env', 'var']),
    );
  });

  test('overwrite nothing', async () => {
    mkdirSync(join(dir, 'deploy'));
    writeFileSync(join(dir, 'deploy', 'compose.yaml'), 'mine');
    const { code, stderr } = await install('docker', '--config', 'live.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('deploy has compose.yaml already, and nothing is overwritten');
    expect(written()).toEqual({ 'compose.yaml': 'mine' });
  });

  test.each([
    ['a configuration without metrics', ['--config', 'live.yaml'], 'live.yaml: metrics is missing: add metrics: {}'],
    ['one outside of the folder', ['--config', '../live.yaml'], 'does not exist'],
    ['a folder elsewhere', ['--config', 'live.yaml', '-o', '../x'], ''],
  ])('are refused for %s', async (_, args, message) => {
    configure({ metrics: undefined });
    const { code, stderr } = await install('docker', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(readdirSync(dir)).toEqual(['live.yaml']);
  });
});
