/**
 * npm run bench: every benchmark in a process of its own, one table of one run. Ratios count, not times: the machine's speed
 * and its neighbours are in both terms. docs/benchmarks.md says what is measured and what was found.
 *
 *     npx node bench/main.ts [--short]     --short: without what is about a daemon, which takes minutes
 */
import { spawnSync } from 'node:child_process';
import { textTable } from '../src/commands/text-table.ts';
import type { Round } from './column.ts';
import { market, root } from './market.ts';

/** Runs a file in a process of its own; its output, or the end of the program with what it said. */
function run(args: readonly string[], stdio: 'pipe' | 'inherit' = 'pipe'): string {
  const child = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e9, stdio });
  if (child.status === 0) return child.stdout ?? '';
  console.error(`${args.join(' ')} failed:\n${child.stderr ?? ''}`);
  return process.exit(1);
}

const least = (values: readonly number[]): number => Math.min(...values);
const millions = (klines: number, ms: number): string => `${(klines / ms / 1000).toFixed(2)} M/s`;
const times = (ms: number, bareMs: number): string => `${(ms / bareMs).toFixed(1)} ×`;

const head = ['', 'klines/s', 'ms', 'CPU ms', '× bare loop', 'asked'];
const rows: string[][] = [];

/** A backtest: the first round in a fresh process, and the best of the rounds after it. */
function backtest(path: string, name: string, args: readonly string[], asked: string): void {
  const rounds = JSON.parse(run(['bench/column.ts', path, ...args, '--json'])) as Round[];
  const bareMs = least(rounds.map((round) => round.bareMs));
  const [cold, ...warm] = rounds as [Round, ...Round[]];
  const line = (when: string, ms: number, cpuMs: number, limit: string): void => {
    rows.push([
      `${name}, ${when}`,
      millions(cold.klines, ms),
      ms.toFixed(0),
      cpuMs.toFixed(0),
      times(ms, bareMs),
      limit,
    ]);
  };
  line('cold', cold.ms, cold.cpuMs, '');
  line('warm', least(warm.map(({ ms }) => ms)), least(warm.map(({ cpuMs }) => cpuMs)), '');
  const [said, saidCpu] = [warm.map(({ saidMs }) => saidMs), warm.map(({ saidCpuMs }) => saidCpuMs)];
  line('warm, with all metrics', least(said), least(saidCpu), asked);
  console.error(`${name}: ${cold.klines} klines, ${cold.fills} fills, final equity ${cold.finalEquity}`);
}

/** A command from the start of its process to its end, best of five. */
function command(name: string, args: readonly string[], asked: string): void {
  const taken = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    run(['bin/sluice.js', ...args]);
    return performance.now() - startedAt;
  });
  rows.push([name, '', least(taken).toFixed(0), '', '', asked]);
}

/** Backtests that print tables of their own. */
const tables = (path: string): readonly (readonly string[])[] => [
  ['bench/linear.ts', path],
  ['bench/indicators.ts', path],
  ['bench/grid.ts', path],
  ['bench/events.ts', '60', 'maker', '3'],
  ['bench/events.ts', '60', 'trades', '3'],
  ['bench/import.ts'],
  ['bench/start.ts'],
];

const { path, about, close } = market();
console.error(about);
try {
  backtest(path, 'columns, SMA 10/50', ['10', '50', 'columns', '12'], '15 M/s');
  backtest(path, 'columns, SMA 500/2500', ['500', '2500', 'columns', '20'], '60 M/s');
  backtest(path, 'stream, SMA 10/50', ['10', '50', 'stream', '3'], '1.5 M/s');
  for (const args of tables(path)) {
    console.log(`\n${args[0]}`);
    run(args, 'inherit');
  }
} finally {
  close();
}
command(
  'backtest of the bundled 129,600 klines, start to table',
  ['backtest', '--config', 'config/backtest.yaml'],
  '≤ 1000 ms',
);
command('--help', ['--help'], '≤ 200 ms');
console.log(textTable(head, rows));

// Those that take minutes, or are about a daemon, print their own tables; weight and frames in a shorter form than docs/benchmarks.md tells of.
const others = [
  ...[
    'client',
    'streams',
    'matching',
    'order-path',
    'order-cost',
    'journal',
    'latency',
    'kill',
    'recovery',
    'memory',
  ].map((name) => [`bench/${name}.ts`]),
  ['bench/weight.ts', '30'],
  ['--expose-gc', 'bench/frames.ts', '2'],
];
for (const args of process.argv.includes('--short') ? [] : others) {
  console.log(`\n${args.join(' ')}`);
  run(args, 'inherit');
}
