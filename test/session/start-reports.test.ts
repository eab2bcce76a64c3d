/** A start that does not finish is reported: by the alerts, in the log, and by each command that looks for the daemon. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startText, stateAt } from '../../src/session/state.ts';
import type { Program } from '../kit/program.ts';
import { rig, rigForEachTest } from '../kit/rig-for-each-test.ts';
import { closeServices, service } from '../kit/services.ts';
import { until } from '../kit/until.ts';
import { fillUp } from '../torture/disk.ts';

rigForEachTest();
afterEach(closeServices);

/** Each text names its daemon. */
const mark = '[state] ';

/** The texts that have arrived on a phone to which errors go, without that. */
async function phone(): Promise<() => readonly string[]> {
  const { url, taken } = await service();
  Object.assign(rig.env, { SLUICE_ALERT_PHONE: url });
  rig.configure({
    alerts: { channels: { phone: { type: 'webhook' } }, routes: [{ minLevel: 'error', to: ['phone'] }] },
  });
  return () =>
    taken.map(({ body }) => {
      const { text } = JSON.parse(body) as { readonly text: string };
      expect(text.startsWith(mark)).toBe(true);
      return text.slice(mark.length);
    });
}

const cameUp = 'the daemon has started: sluice status shows what may trade';
const log = (): string => readFileSync(join(rig.state, 'sluice.log'), 'utf8');
const elsewhere = (url: string): readonly string[] => ['--set', `exchange.restUrl=${url}`];

describe('a start without its exchange', () => {
  let daemon: Program;
  afterEach(() => daemon.end('SIGTERM'));

  test('sends since when, writes it into the log, and every command says so', async () => {
    const texts = await phone();
    daemon = rig.launch(...elsewhere('http://127.0.0.1:1'));
    await until('the alert', () => texts().length > 0);
    const away =
      /the exchange at http:\/\/127\.0\.0\.1:1 does not answer \(its time: nothing listens [^:]*ECONNREFUSED[^:]*\); trying again/;
    expect(texts()[0]).toMatch(
      new RegExp(
        `^ERROR starting: ${away.source} \\(since 2.* UTC\\)\\. Nothing trades meanwhile, and no stop works\\. What to do: .* \\(docs/how-to/alarms/not-started\\.md\\)$`,
      ),
    );
    expect(log()).toMatch(away);
    const said = new RegExp(`has been starting since .* UTC and takes no commands yet: ${away.source}`);
    expect((await rig.run('status')).stdout).toMatch(
      new RegExp(`^daemon     .* \\(process ${daemon.pid}\\) ${said.source}`, 'm'),
    );
    const { starting, running } = JSON.parse((await rig.run('status', '--json')).stdout);
    expect({ starting, running }).toMatchObject({
      starting: { pid: daemon.pid, text: expect.stringMatching(away) },
      running: null,
    });
    for (const [name, ...args] of [['top'], ['reload'], ['flatten', '--reason', 'x'], ['cancel', '--all'], ['resume']])
      expect((await rig.run(name ?? '', ...args)).stderr, name).toMatch(said);
    for (const name of ['kill', 'pause']) expect((await rig.run(name)).stdout).toMatch(said);
    expect((await rig.run('status')).stdout).toMatch(/^KILL PENDING of all .*\nPAUSE PENDING of all /m);
    expect((await rig.run('alerts', 'list')).stdout).toBe('nothing waits, and every alarm is acknowledged\n');
    expect(texts()).toHaveLength(1);
  });

  test('in a ban sends until when', async () => {
    const texts = await phone();
    const { url } = await service((reply) => void reply.writeHead(418, { 'retry-after': '3600' }).end('{}'));
    daemon = rig.launch(...elsewhere(url));
    await until('the alert', () => texts().length > 0);
    expect(texts().join('\n')).toMatch(
      /^ERROR starting: the exchange forbids requests until 2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d UTC, .* \(docs\/how-to\/alarms\/banned\.md\)$/,
    );
    expect((await rig.run('status')).stdout).toContain('takes no commands yet: the exchange forbids requests until');
  });
});

test('a start that is refused sends why, and leaves that in the log', async () => {
  const texts = await phone();
  Object.assign(rig.env, { SLUICE_API_KEY: 'mistyped' });
  expect((await rig.launch().exited).code).toBe(2);
  expect(texts()).toEqual([
    expect.stringMatching(
      /^ERROR did not start: the exchange at .* refuses the account: .*-2015.*; it means: .* \(docs\/how-to\/alarms\/not-started\.md\)$/,
    ),
  ]);
  expect(log()).toContain('did not start: the exchange at');
});

test('a configuration that cannot be read is reported by the channels of the last one that started', async () => {
  const texts = await phone();
  const daemon = await rig.start();
  expect((await daemon.end('SIGINT')).code).toBe(130);
  writeFileSync(join(rig.dir, 'live.yaml'), 'risk: [');
  expect((await rig.launch().exited).code).toBe(2);
  expect(texts()).toEqual([
    expect.stringMatching(/^ERROR did not start: .*live\.yaml.* \(docs\/how-to\/alarms\/not-started\.md\)$/),
  ]);
});

test('a start that an error of the program ends sends that', async () => {
  const texts = await phone();
  const file = join(rig.dir, 'broken.mjs');
  // As soon as the daemon catches such errors, not the command line alone.
  const isCaught = "process.listenerCount('uncaughtException') > 1";
  const code = `const wait = setInterval(() => { if (${isCaught}) { clearInterval(wait); throw new Error('broken'); } }, 5); wait.unref();`;
  writeFileSync(file, code);
  Object.assign(rig.env, { NODE_OPTIONS: `--import ${file}` });
  expect((await rig.launch(...elsewhere('http://127.0.0.1:1')).exited).code).toBe(1);
  expect(texts()).toContainEqual(expect.stringMatching(/^ERROR did not start: broken\./));
});

test('a supervisor that repeats a refused start sends nothing again until one finishes; a second daemon sends nothing', async () => {
  const texts = await phone();
  const refused = async (): Promise<number> => {
    // Before anything is opened.
    expect((await rig.launch('--set', 'strategies.0.use=./none.ts').exited).code).toBe(2);
    return texts().filter((text) => text.startsWith('ERROR')).length;
  };
  // Without a state directory nothing can be remembered.
  expect([await refused(), existsSync(rig.state)]).toEqual([1, false]);
  mkdirSync(rig.state);
  expect([await refused(), await refused()]).toEqual([2, 2]);
  expect(texts().slice(1)).toEqual([expect.stringMatching(/^ERROR did not start: .*none\.ts/)]);
  const daemon = await rig.start();
  expect((await rig.launch().exited).code).toBe(3);
  expect(await refused()).toBe(2);
  expect((await daemon.end('SIGINT')).code).toBe(130);
  expect(texts().slice(2)).toEqual([cameUp]);
  expect(await refused()).toBe(3);
});

test('a start on a full disk sends that, waits, and trades once there is space', async ({ skip }) => {
  const texts = await phone();
  mkdirSync(rig.state, { mode: 0o700 });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', rig.state], { stdio: 'ignore' });
  } catch {
    skip('mounting a tmpfs is not allowed here');
  }
  try {
    const ballast = fillUp(rig.state);
    const daemon = rig.launch();
    await until('the alert', () => texts().length > 0);
    expect(texts()[0]).toMatch(
      /^ERROR starting: the disk is full: .*goes on by itself.* \(docs\/how-to\/alarms\/disk-full\.md\)$/,
    );
    rmSync(ballast);
    await daemon.line(/Z ready: /);
    expect((await daemon.end('SIGINT')).code).toBe(130);
    expect(texts().slice(1)).toEqual([cameUp]);
  } finally {
    execFileSync('umount', ['-l', rig.state]);
  }
});

test('commands see a start that waits on a full disk, and it finds a kill once it has started', async ({ skip }) => {
  mkdirSync(rig.state, { mode: 0o700 });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', rig.state], { stdio: 'ignore' });
  } catch {
    skip('mounting a tmpfs is not allowed here');
  }
  try {
    await (await rig.start()).end('SIGINT');
    const ballast = fillUp(rig.state);
    const daemon = rig.launch();
    await daemon.line(/Z the disk is full: .*; the start goes on when there is space$/);
    const waits = `a daemon is starting on ${rig.state} and takes no commands yet: the disk is full, and it waits for space`;
    for (const [name, ...args] of [['status'], ['top'], ['kill', '--strategy', 'taker']])
      expect((await rig.run(name ?? '', ...args)).stderr, name).toContain(waits);
    expect(startText(stateAt(rig.state))).toBe(waits);
    const killed = await rig.run('kill');
    expect([killed.code, killed.stdout]).toEqual([0, expect.stringMatching(/^The kill is stored in .*: it applies /)]);
    rmSync(ballast);
    await daemon.line(/Z killed: /);
    expect((await rig.run('status')).stdout).toMatch(/^KILLED {5}all strategies since .* by file: /m);
    expect((await daemon.end('SIGINT')).code).toBe(130);
  } finally {
    execFileSync('umount', ['-l', rig.state]);
  }
});
