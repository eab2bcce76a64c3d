/**
 * npm run bench: every benchmark in a process of its own, written to docs/benchmarks.md, each section with its day and commit. Ratios count, not
 * times: the machine's speed and its neighbours are in both terms.
 *
 *     node bench/main.ts [--short | --only TEXT]
 *
 * `--short`: backtests, commands, several markets and `dev`; all take three hours. `--only`: sections whose title contains the text. The other
 * sections stay as they were. vectorbt runs beside the backtests once `npm run compare-libraries -- --folder var/libraries` has installed it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { markdownTable } from '../test/kit/markdown-table.ts';
import type { Measured } from './goals.ts';
import { market, root } from './market.ts';

const { values: options } = parseArgs({ options: { short: { type: 'boolean' }, only: { type: 'string' } } });

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

const { path, close } = market();
const python = join(root, 'var', 'libraries', 'bin', 'python');
/** M klines/s of vectorbt by case: the run, and with its statistics. */
interface Vectorbt {
  readonly version: string;
  readonly speeds: Readonly<Record<string, readonly [number, number] | undefined>>;
}

/** The two columns of a case that vectorbt ran, too. */
function beside(theirs: readonly [number, number] | undefined, ours: readonly [number, number]): readonly string[] {
  if (theirs === undefined) return ['', ''];
  return [
    `${theirs[0].toFixed(1)} / ${theirs[1].toFixed(1)} M/s`,
    `${(ours[0] / theirs[0]).toFixed(1)} / ${(ours[1] / theirs[1]).toFixed(1)}`,
  ];
}

function backtests(): string {
  const speeds = JSON.parse(run('bench/speed.ts', '--json')) as readonly Speed[];
  const vectorbt = existsSync(python)
    ? (JSON.parse(execute(python, ['bench/compared-speed.py', path])) as Vectorbt)
    : undefined;
  const rows = speeds.map(({ name, goal, fills, run: alone, withSummary, bare }) => {
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
      ...(vectorbt === undefined ? [] : beside(vectorbt.speeds[name], [alone, withSummary])),
    ];
  });
  const columns = ['strategy', 'fills', 'run', 'of the bare loop', 'goal', 'with summary', 'of the bare loop', 'goal'];
  const theirs =
    vectorbt === undefined ? [] : [`vectorbt ${vectorbt.version}: run / with statistics`, 'Sluice is faster by'];
  return markdownTable([...columns, ...theirs], rows);
}

function commands(): string {
  const rows = (JSON.parse(run('bench/commands.ts', '--json')) as readonly Command[]).map(({ name, ms, goal }) => [
    name,
    `${(ms / 1_000).toFixed(2)} s`,
    goal === undefined ? '' : `${(goal / 1_000).toFixed(1)} s`,
  ]);
  return markdownTable(['command', 'time', 'goal'], rows);
}

interface Section {
  readonly title: string;
  readonly isShort?: boolean;
  readonly measure: () => string;
}

/** Of a benchmark with a goal for each figure. */
const withGoals = (title: string, ...args: readonly string[]): Section => ({
  title,
  measure() {
    const rows = JSON.parse(run(...args, '--json')) as readonly Measured[];
    return markdownTable(
      ['measured', 'result', 'goal'],
      rows.map(({ name, result, goal }) => [name, result, goal]),
    );
  },
});
/** Of a benchmark that prints its own table. */
const printed = (title: string, ...args: readonly string[]): Section => ({
  title,
  measure: () => `\`\`\`\n${run(...args).trim()}\n\`\`\``,
});

const sections: readonly Section[] = [
  { title: 'Backtests', isShort: true, measure: backtests },
  { title: 'Commands', isShort: true, measure: commands },
  { ...withGoals('Several markets in one strategy', 'bench/several-markets.ts'), isShort: true },
  { ...withGoals('`sluice dev`, 129,600 klines', 'bench/dev.ts', '--saves', '5'), isShort: true },
  withGoals('Indicators', 'bench/indicators.ts', path),
  withGoals('The daemon: a rotation', 'bench/list-live.ts'),
  withGoals('The daemon: ten strategies on twenty symbols', 'bench/operate.ts'),
  printed('Growth with the number of klines', 'bench/linear.ts', path),
  printed('200 parameter sets × 100,000 klines', 'bench/grid.ts', path),
  printed('Trades and depth, a maker', 'bench/events.ts', '60', 'maker', '3'),
  printed('Trades and depth, trades alone', 'bench/events.ts', '60', 'trades', '3'),
  printed('Import', 'bench/import.ts'),
  printed('Start to result, and memory', 'bench/start.ts'),
  ...['client', 'streams', 'matching', 'order-path', 'order-cost', 'journal', 'latency', 'kill', 'recovery'].map(
    (name) => printed(`The daemon: ${name}`, `bench/${name}.ts`),
  ),
  printed('The daemon: the start after a year', 'bench/recovery.ts', 'year'),
  printed('The daemon: request weight, 30 minutes', 'bench/weight.ts', '30'),
  printed('The daemon: 2 million frames', '--expose-gc', 'bench/frames.ts', '2'),
];

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: root, encoding: 'utf8' }).trim();
const day = new Date().toISOString().slice(0, 10);
const machine = `on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.versions.node}`;
const stamp = `Measured on ${day} at commit ${git('rev-parse', '--short', 'HEAD')}, ${machine}.`;

const marker = '<!-- Written by npm run bench -->';
const file = join(root, 'docs', 'benchmarks.md');
const isMeant = ({ title, isShort = false }: Section): boolean =>
  options.only === undefined ? isShort || options.short !== true : title.includes(options.only);
const meant = sections.filter(isMeant);
if (meant.length === 0) {
  console.error(`no section contains ${options.only}; there are: ${sections.map(({ title }) => title).join(', ')}`);
  process.exit(2);
}
const [before = '', written = ''] = readFileSync(file, 'utf8').split(marker);
const known = new Map(
  written
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n')).trim()]),
);
for (const { title, measure } of meant) known.set(title, `${stamp}\n\n${measure()}`);
close();
const texts = sections.flatMap(({ title }) => {
  const text = known.get(title);
  return text === undefined ? [] : [`## ${title}\n\n${text}`];
});
writeFileSync(file, `${before.trimEnd()}\n\n${marker}\n\n${texts.join('\n\n')}\n`);
