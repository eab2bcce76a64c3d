/** `npm run conformance` as a process of its own, and what it leaves open on the built-in exchange. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Opened } from './apart-world.ts';
import { busy, everyKey, quiet, users, withdrawal } from './apart-world.ts';

const command = fileURLToPath(new URL('../conformance/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Begun {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export function beginSuite(args: readonly string[], keys: Readonly<Record<string, string>> = {}): Begun {
  const env = { PATH: process.env['PATH'], ...keys };
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
  });
  return { child, ended };
}

/** Runs the suite as its command does. */
export const suite = (args: readonly string[], keys?: Readonly<Record<string, string>>): Promise<Ended> =>
  beginSuite(args, keys).ended;

/** Runs `work` with the options of a run that may do everything but break the limits, and that has no feed. */
export async function withOptions<T>(
  { restUrl }: Pick<Opened, 'restUrl'>,
  work: (options: readonly string[]) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-conformance-'));
  try {
    const keys = join(dir, 'keys.json');
    writeFileSync(keys, JSON.stringify(everyKey));
    const { symbol, amount, address } = withdrawal;
    const trading = ['--write', '--margin', '--quiet', quiet, '--withdraw', `${symbol}:${amount}:${address}`];
    return await work(['--url', restUrl, '--symbol', busy, '--keys', keys, ...trading, '--json']);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The sentences of the checks that did not pass, of those that ran. */
export const unpassed = ({ out }: Ended): readonly string[] =>
  out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { says: string; outcome: string })
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'differs')
    .map(({ says }) => says);

export interface OpenOrder {
  readonly orderId: string;
  readonly symbol: string;
  readonly side: string;
}

/** What rests in the exchange's own ledger, on spot and on margin. */
export async function restingOn({ controlUrl }: Pick<Opened, 'controlUrl'>): Promise<readonly OpenOrder[]> {
  const shown = await Promise.all(users.map(async ({ uid }) => (await fetch(`${controlUrl}/users/${uid}`)).json()));
  return shown.flatMap((user) => (user as { openOrders: OpenOrder[] }).openOrders);
}
