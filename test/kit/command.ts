/** One `sluice` command from beginning to end, in a directory of its own, as a user would type it. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { backtest } from '../../src/commands/backtest/backtest.ts';
import { Refusal } from '../../src/domain/refusal.ts';

export const launcher = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

/** Compiled code lies in the user's cache by itself; here all tests share one beside their directories. */
const compileCache = join(tmpdir(), 'sluice-compile-cache');

export interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Desk {
  readonly dir: string;
  /** Runs `sluice ARGS` there, by this Node unless another program is given. */
  sluice(args: readonly string[], env?: Readonly<Record<string, string>>, node?: readonly string[]): Promise<Answer>;
  write(name: string, text: string | Uint8Array, mode?: number): string;
  /** Every file and folder there, sorted. */
  files(): readonly string[];
  remove(): void;
}

/**
 * An empty directory to run commands in, `folder` below one of its own where it must have neighbours. Nothing of the caller's
 * environment but PATH reaches them.
 */
export function desk(folder = '.'): Desk {
  const made = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  const dir = join(made, folder);
  mkdirSync(dir, { recursive: true });
  return {
    dir,
    sluice: (args, env = {}, node = [process.execPath]) =>
      new Promise((resolve, reject) => {
        const [program = '', ...before] = node;
        const child = spawn(program, [...before, launcher, ...args], {
          cwd: dir,
          env: { PATH: process.env['PATH'] ?? '', HOME: join(dir, 'home'), NODE_COMPILE_CACHE: compileCache, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const said = { out: '', err: '' };
        child.stdout.on('data', (data: Buffer) => {
          said.out += data.toString();
        });
        child.stderr.on('data', (data: Buffer) => {
          said.err += data.toString();
        });
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, ...said }));
      }),
    write(name, text, mode = 0o644) {
      const path = join(dir, name);
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    },
    files: () => readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort(),
    remove: () => rmSync(made, { recursive: true, force: true }),
  };
}

/** The header of klines files and `rows` quiet klines of one minute from 2020-02-01T00:00Z on. */
export const klineLines = (rows: number): string[] => [
  'time_ms,open,high,low,close,volume',
  // Of one volume each they would be a feed that stood still.
  ...Array.from(
    { length: rows },
    (_, row) => `${Date.UTC(2020, 1, 1) + row * 60_000},100,101,99,100.5,${7 + (row % 2)}`,
  ),
];

/** A configuration that runs sma-cross over `klines.csv` beside it. */
export const backtestYaml = `data:
  XBTUSD: ./klines.csv
cash: "100000"
rules: plain
strategies:
  - id: trend
    use: sma-cross
    symbol: XBTUSD
    interval: 1min
    params: { fast: 2, slow: 5 }
risk:
  maxOrderValue: "200000"
  maxPosition: "200000"
fees: { maker: "0.001", taker: "0.002" }
`;

/** A backtest within this process: what it printed and noted, or the refusal that it ended with. */
export async function backtestHere(
  config: string,
  { set = [], json = false }: { readonly set?: readonly string[]; readonly json?: boolean } = {},
): Promise<{ readonly out: string; readonly notes: string; readonly refusal: Refusal | undefined }> {
  const out: string[] = [];
  const notes: string[] = [];
  const said = (refusal?: Refusal) => ({ out: out.join('\n'), notes: notes.join('\n'), refusal });
  try {
    await backtest({
      config,
      set,
      json,

      out: (line) => out.push(line),
      say: (line) => notes.push(line),
    });
    return said();
  } catch (error) {
    if (error instanceof Refusal) return said(error);
    throw error;
  }
}
