/**
 * npm run bench: every benchmark in a process of its own, written to docs/benchmarks.md. Ratios count, not times: the machine's speed and its
 * neighbours are in both terms.
 *
 *     node bench/main.ts [--short]     --short: backtests, commands, several markets and `dev`; the others take three hours
 *
 * vectorbt runs beside them once `npm run compare-libraries -- --folder var/libraries` has installed it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { markdownTable } from '../test/kit/markdown-table.ts';
import type { Measured } from './goals.ts';
import { market, root } from './market.ts';

const isShort = process.argv.includes('--short');

/** Runs a file in a process of its own; returns its output, or ends the program with its error. */
const run = (...args: readonly string[]): string => execute(process.execPath, args);

function execute(program: string, args: readonly string[]): string {
  console.error(args.join(' '));
  const child = spawnSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e9 });
  if (child.status === 0) return child.stdout;
  console.error(`${args.join(' ')} failed:\n${child.stderr}`);
  return process.exit(1);
}

interface Speed {
  readonly name: string;
  readonly goal?: readonly [number, number];
  readonly fills: number;
  readonly run: number;
  readonly withSummary: number;
  readonly bare: number;
}
interface Command {
  readonly name: string;
  readonly ms: number;
  readonly goal?: number;
}

/** The bare loop of the machine on which the goals were set, M klines/s. */
const goalBare = 280;
const percent = (value: number, bare: number): string => `${((100 * value) / bare).toFixed(1)} %`;
const grouped = (value: number): string => value.toLocaleString('en-US');

/** The two columns of a case that vectorbt ran, too. */
function beside(theirs: readonly [number, number] | undefined, ours: readonly [number, number]): readonly string[] {
  if (vectorbt === undefined) return [];
  if (theirs === undefined) return ['', ''];
  return [
    `${theirs[0].toFixed(1)} / ${theirs[1].toFixed(1)} M/s`,
    `${(ours[0] / theirs[0]).toFixed(1)} / ${(ours[1] / theirs[1]).toFixed(1)}`,
  ];
}

const speeds = JSON.parse(run('bench/speed.ts', '--json')) as readonly Speed[];
const commands = JSON.parse(run('bench/commands.ts', '--json')) as readonly Command[];
const { path, close } = market();
const python = join(root, 'var', 'libraries', 'bin', 'python');
/** M klines/s of vectorbt by case: the run, and with its statistics. */
const vectorbt = existsSync(python)
  ? (JSON.parse(execute(python, ['bench/compared-speed.py', path])) as {
      readonly version: string;
      readonly speeds: Readonly<Record<string, readonly [number, number] | undefined>>;
    })
  : undefined;
const speedRows = speeds.map(({ name, goal, fills, run: alone, withSummary, bare }) => {
  const [ofRun, ofBoth] = goal ?? [];
  return [
    name,
    grouped(fills),
    `${alone.toFixed(1)} M/s`,
    percent(alone, bare),
    ofRun === undefined ? '' : percent(ofRun, goalBare),
    `${withSummary.toFixed(1)} M/s`,
    percent(withSummary, bare),
    ofBoth === undefined ? '' : percent(ofBoth, goalBare),
    ...beside(vectorbt?.speeds[name], [alone, withSummary]),
  ];
});
const commandRows = commands.map(({ name, ms, goal }) => [
  name,
  `${(ms / 1_000).toFixed(2)} s`,
  goal === undefined ? '' : `${(goal / 1_000).toFixed(1)} s`,
]);

const klines = markdownTable(
  [
    ...['strategy', 'fills', 'run', 'of the bare loop', 'goal', 'with summary', 'of the bare loop', 'goal'],
    ...(vectorbt === undefined ? [] : [`vectorbt ${vectorbt.version}: run / with statistics`, 'Sluice is faster by']),
  ],
  speedRows,
);
const typed = markdownTable(['command', 'time', 'goal'], commandRows);
type Called = readonly [about: string, ...args: string[]];
/** Benchmarks with a goal for each figure: what they measure, and how they are called. */
const withGoals: readonly Called[] = [
  ['Several markets in one strategy', 'bench/several-markets.ts'],
  ['`sluice dev`, 129,600 klines', 'bench/dev.ts', '--saves', '5'],
];
const longWithGoals: readonly Called[] = [
  ['Indicators', 'bench/indicators.ts', path],
  ['The daemon: a rotation', 'bench/list-live.ts'],
  ['The daemon: ten strategies on twenty symbols', 'bench/operate.ts'],
];
const tables = [...withGoals, ...(isShort ? [] : longWithGoals)].map(([about, ...args]) => {
  const rows = JSON.parse(run(...args, '--json')) as readonly Measured[];
  const cells = rows.map(({ name, result, goal }) => [name, result, goal]);
  return `## ${about}\n\n${markdownTable(['measured', 'result', 'goal'], cells)}`;
});
/** Benchmarks that print their own tables. */
const others: readonly Called[] = [
  ['Growth with the number of klines', 'bench/linear.ts', path],
  ['200 parameter sets × 100,000 klines', 'bench/grid.ts', path],
  ['Trades and depth, a maker', 'bench/events.ts', '60', 'maker', '3'],
  ['Trades and depth, trades alone', 'bench/events.ts', '60', 'trades', '3'],
  ['Import', 'bench/import.ts'],
  ['Start to result, and memory', 'bench/start.ts'],
  ...['client', 'streams', 'matching', 'order-path', 'order-cost', 'journal', 'latency', 'kill', 'recovery'].map(
    (name) => [`The daemon: ${name}`, `bench/${name}.ts`] as const,
  ),
  ['The daemon: the start after a year', 'bench/recovery.ts', 'year'],
  ['The daemon: request weight, 30 minutes', 'bench/weight.ts', '30'],
  ['The daemon: 2 million frames', '--expose-gc', 'bench/frames.ts', '2'],
];
const blocks = (isShort ? [] : others).map(
  ([about, ...args]) => `## ${about}\n\n\`\`\`\n${run(...args).trim()}\n\`\`\``,
);
close();

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: root, encoding: 'utf8' }).trim();
const day = new Date().toISOString().slice(0, 10);
const file = join(root, 'docs', 'benchmarks.md');
const [before = ''] = readFileSync(file, 'utf8').split('<!-- Written by npm run bench -->');
writeFileSync(
  file,
  `${before.trimEnd()}

<!-- Written by npm run bench -->

Measured on ${day} at commit ${git('rev-parse', '--short', 'HEAD')}, on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.versions.node}${isShort ? ', by `node bench/main.ts --short`' : ''}.

## Backtests

${klines}

## Commands

${[typed, ...tables, ...blocks].join('\n\n')}
`,
);
