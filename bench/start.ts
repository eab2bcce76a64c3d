/**
 * A backtest as a user types it: from the start of the process to its end, SMA 10/50 under `plain` over the recorded minute klines (the
 * bundled ones where those are absent), from the catalogue's cache and from the CSV itself, with and without keeping the run and its
 * report. The best of so many runs, each in turn, and the most memory that any took.
 *
 *     npx node bench/start.ts [RUNS]     5
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textTable } from '../src/terminal/table.ts';
import { market, root } from './market.ts';

/** Said on a pipe of its own by the process that ends, KiB. */
const tellsMemory = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(3, String(process.resourceUsage().maxRSS)));',
)}`;

interface Run {
  readonly ms: number;
  readonly mb: number;
  readonly out: string;
}

/** Runs the program; ends this one with what it said where it failed. */
function sluice(args: readonly string[]): Run {
  const startedAt = performance.now();
  const { status, output } = spawnSync(process.execPath, ['--import', tellsMemory, 'bin/sluice.js', ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e9,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, out = '', said = '', kib = ''] = output.map((text) => text ?? '');
  if (status === 0) return { ms: performance.now() - startedAt, mb: Number(kib) / 1024, out };
  console.error(`${args.join(' ')} failed:\n${said}`);
  return process.exit(1);
}

const configOf = (rules: string, strategy: string, more: string): string => `
cash: "10000000"
rules: ${rules}
strategies: [{ id: bench, interval: 1min, ${strategy} }]
risk: { maxOrderValue: "1000000000", maxPosition: "1000000000", maxDailyLoss: "1" }
fees: { maker: "0.001", taker: "0.001" }
${more}
`;
const average = 'use: sma-cross, symbol: XBTUSD, params: { fast: 10, slow: 50, quantity: 1 }';
const quoting =
  'use: maker, symbol: BTCUSDT, params: { offset: 0.0001, refresh: 0.0002, quantity: 0.01, maxPosition: 0.05 }';
const bundled = (name: string): string => join(root, 'backtests', 'data', name);

const rounds = Number(process.argv[2] ?? '5');
const { path, about, close } = market();
const dir = mkdtempSync(join(tmpdir(), 'sluice-start-'));
try {
  console.error(about);
  const at = (name: string): string => join(dir, name);
  sluice(['data', 'import', path, '--data', at('data'), '--symbol', 'XBTUSD', '--interval', '1min']);
  const tapes = ['BTCUSDT-trades-2024-08-08T2354_11min.csv.gz', 'BTCUSDT-depth20-1s-2024-08-08T2354_11min.jsonl.gz'];
  for (const name of tapes) sluice(['data', 'import', bundled(name), '--data', at('data'), '--symbol', 'BTCUSDT']);
  const catalogue = `catalogue: ${JSON.stringify(at('data'))}`;
  writeFileSync(at('cache.yaml'), configOf('plain', average, catalogue));
  writeFileSync(at('csv.yaml'), configOf('plain', average, `data: { XBTUSD: ${JSON.stringify(path)} }`));
  writeFileSync(
    at('tape.yaml'),
    configOf('sluice', quoting, `${catalogue}\ntrades: { BTCUSDT: catalogue }\ndepth: { BTCUSDT: catalogue }`),
  );
  const cases = [
    { name: 'from the cache', asked: 800, args: ['cache.yaml', '--no-save'] },
    { name: 'from the CSV', asked: 2_000, args: ['csv.yaml', '--no-save'] },
    { name: 'from the cache, kept', asked: undefined, args: ['cache.yaml'] },
    { name: 'from the cache, kept, with its report', asked: undefined, args: ['cache.yaml', '--report', at('r.html')] },
    // Its first event comes before its result: what is asked is the former.
    { name: 'eleven minutes of trades and books', asked: 500, args: ['tape.yaml', '--no-save'] },
  ];
  const taken = cases.map((): Run[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, { args }] of cases.entries()) {
      const [config = '', ...more] = args;
      const given = ['--config', at(config), '--runs', at('runs'), ...more];
      taken[index]?.push(sluice(['backtest', ...given]));
    }
  const head = ['start to printed result', 'best ms', 'most MB', 'asked'];
  const rows: string[][] = [];
  for (const [index, { name, asked }] of cases.entries()) {
    const runs = taken[index] ?? [];
    const best = Math.min(...runs.map(({ ms }) => ms)).toFixed(0);
    const most = Math.max(...runs.map(({ mb }) => mb)).toFixed(0);
    rows.push([name, best, most, asked === undefined ? '400 MB' : `${asked} ms, 400 MB`]);
  }
  console.log(textTable(head, rows));
  console.log(taken[0]?.[0]?.out.match(/Final equity.*/)?.[0].replace(/\s+/g, ' ') ?? 'no final equity was printed');
} finally {
  rmSync(dir, { recursive: true });
  close();
}
