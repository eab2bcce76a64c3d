/** The page about a bad day: its files, its commands, and the alerts that it shows, one step after the other. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { View } from '../../src/dashboard/view.ts';
import { desk, launcher } from '../kit/command.ts';
import { viewIn } from '../kit/daemon-view.ts';
import { killLeftovers, type Program, startProgram } from '../kit/program.ts';
import { until } from '../kit/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'tutorial', 'bad-day.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(([, , about = '', text = '']) => {
  const [, kind, name = ''] = /^ (file|fate|alert)=(\S+)$/.exec(about) ?? [];
  return { kind, name, text };
});
const named = (kind: string, name: string) => blocks.filter((block) => block.kind === kind && block.name === name);

const at = desk('bad-day');
const state = join(at.dir, 'var', 'live');
const phone: string[] = [];
const open: (() => void)[] = [];
let control = '';
let env: Record<string, string>;
let isSmall = false;
let exchange: readonly string[];
let daemon: Program;
/** Alerts before this step. */
let before = 0;

/** What differs from run to run: numbers, ids, and which order was due. */
const general = (text: string): string =>
  text
    .replaceAll(/(?<=sluice why )\w{8}/g, 'ID')
    .replaceAll(/\d[\d.:,]*/g, '#')
    .replaceAll(/BUY for # USDT|(BUY|SELL) # BTC/g, 'ORDER');

/** Types a block of the page in the fourth terminal. */
async function fate(name: string): Promise<string> {
  before = phone.length;
  const [block] = named('fate', name);
  const text = (block?.text ?? '')
    .replaceAll('npx sluice', `"${process.execPath}" "${launcher}"`)
    .replaceAll('http://127.0.0.1:8792', control);
  // The disk is meant to become full: dd says so and fails.
  const script = name === 'full' ? `${text.trim()} || true` : `set -e\n${text}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: at.dir, env });
  return stdout;
}

/** Waits for each alert that the page shows under a name. */
async function alerted(name: string): Promise<void> {
  const lines = named('alert', name).flatMap(({ text }) => text.trim().split('\n'));
  expect(lines).not.toEqual([]);
  for (const line of lines)
    await until(`the alert ${line}; the phone has\n${phone.slice(before).join('\n')}`, () =>
      phone.slice(before).some((one) => general(one).includes(general(line))),
    );
}

async function start(): Promise<Program> {
  const addresses = exchange.flatMap((one) => ['--set', one]);
  return startProgram(['live', '--config', 'bad-day.yaml', '--set', 'dashboard.port=0', ...addresses], {
    cwd: at.dir,
    env,
  });
}

const view = (): Promise<View> => viewIn(state);

function mountSmall(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=700', 'tmpfs', state], { stdio: 'ignore' });
    open.push(() => execFileSync('umount', ['-l', state]));
    return true;
  } catch {
    return false;
  }
}

beforeAll(async () => {
  symlinkSync(root, join(at.dir, '..', 'sluice'));
  at.write('package.json', '{ "type": "module" }');
  for (const { kind, name, text } of blocks) if (kind === 'file') at.write(name, text);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  isSmall = mountSmall();
  env = { PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') };
  const fake = ['simulator', '--markets', 'exchange.yaml', '--control', '0', '--port', '0'];
  const simulator = startProgram(fake, { cwd: at.dir, env });
  const [, rest = '', ws = ''] = /restUrl: "([^"]+)", wsUrl: "([^"]+)"/.exec(await simulator.line(/restUrl/)) ?? [];
  exchange = [`exchange.restUrl=${rest}`, `exchange.wsUrl=${ws}`];
  control = /http:\/\/127\.0\.0\.1:\d+/.exec(await simulator.line(/curl http/))?.[0] ?? '';
  const child = spawn(process.execPath, ['phone.mjs'], { cwd: at.dir, env: { ...env, PORT: '0' } });
  open.push(() => child.kill());
  createInterface({ input: child.stdout }).on('line', (line) => phone.push(line));
  await until('the phone', () => phone.length > 0);
  const url = `http://127.0.0.1:${phone[0]?.split(' ').at(-1)}/`;
  const keys = /export SLUICE_API_KEY=(\S+) SLUICE_API_SECRET=(\S+)/.exec(page);
  env = { ...env, SLUICE_API_KEY: keys?.[1] ?? '', SLUICE_API_SECRET: keys?.[2] ?? '' };
  env = { ...env, SLUICE_ALERT_PHONE: url, SLUICE_PING_URL: url };
  daemon = await start();
});
afterAll(() => {
  killLeftovers();
  for (const close of open) close();
  at.remove();
});

test('1: the daemon trades, and the phone knows', async () => {
  await alerted('start');
});

test('2: an outage', async () => {
  await fate('outage');
  await until('the page without data', async () => (await view()).stateText.startsWith('No market data'));
  await alerted('outage');
});

test('3: a ban', async () => {
  await fate('ban');
  await alerted('ban');
});

test('4: an unknown outcome', async () => {
  await fate('unknown');
  await alerted('unknown');
});

test('5: a stop', async () => {
  const fills = daemon.lines.length;
  await until('a position', () => daemon.lines.slice(fills).some((line) => /Z fill +turns BUY /.test(line)));
  await fate('stop');
  await alerted('stop');
  await fate('calm');
});

test('6: a full disk', async ({ skip }) => {
  if (!isSmall) skip('mounting a tmpfs is not allowed here');
  await fate('full');
  await alerted('full');
  expect((await view()).notices.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^the disk is full/));
  await fate('space');
  await alerted('space');
});

test('7: a crash, and the start that recovers', async () => {
  await fate('crash');
  expect((await daemon.exited).signal).toBe('SIGKILL');
  await alerted('crash');
  before = phone.length;
  daemon = await start();
  await alerted('restart');
});

test('8: what is left is whole', async () => {
  expect(await fate('after')).toMatch(/^daemon +process \d+ .*^orders +\d open, 0 of unknown outcome$/ms);
  expect(await daemon.end('SIGINT')).toEqual({ code: 130, signal: null });
});

test('every command of the page is run here', () => {
  const run = ['outage', 'ban', 'unknown', 'stop', 'calm', 'full', 'space', 'crash', 'after'];
  expect(blocks.filter(({ kind }) => kind === 'fate').map(({ name }) => name)).toEqual(run);
});
