/**
 * `npm run torture -- [--kind all] [--count N] [--minutes M] [--lanes 2] [--seed S] [--file var/torture.jsonl] [--fresh]`: the daemon
 * against the built-in exchange as a separate process whose ledger is the truth, and everything that a process can suffer. Each
 * comparison is a line of the file, so the same command goes on where it was stopped. Ends with 1 when ledgers differed anywhere.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { realMs } from '../src/clock/clock.ts';
import { textTable } from '../src/terminal/table.ts';
import { killLeftovers } from '../test/kit/program.ts';
import type { Kind } from '../test/torture/kind.ts';
import { kinds } from '../test/torture/kinds.ts';
import { type Round, tortureIn } from '../test/torture/run.ts';
import { added, append, noTotal, readLines, type Total } from '../test/torture/totals.ts';
import { tortureMoments } from './torture-moments.ts';

const names = [...kinds.map(({ name }) => name), 'moments'];

/** Between two lines of progress where no terminal shows them in place, real ms. */
const quietMs = 15_000;
const standardMoments = 20;

function ended(text: string): never {
  process.stderr.write(
    `${text}\nusage: npm run torture -- [--kind all|${names.join('|')}] [--count N] [--minutes M] [--lanes 2] [--seed S] [--file FILE] [--fresh]\n`,
  );
  process.exit(2);
}

const whole = (name: string, text: string | undefined): number | undefined => {
  const value = Number(text);
  if (text === undefined) return undefined;
  return Number.isInteger(value) && value > 0 ? value : ended(`--${name} must be a whole number above 0, not ${text}`);
};

function asked() {
  try {
    const { values } = parseArgs({
      options: {
        kind: { type: 'string', default: 'all' },
        count: { type: 'string' },
        minutes: { type: 'string' },
        lanes: { type: 'string', default: '2' },
        seed: { type: 'string', default: '1' },
        file: { type: 'string', default: 'var/torture.jsonl' },
        fresh: { type: 'boolean', default: false },
      },
    });
    const wanted = values.kind === 'all' ? names : values.kind.split(',');
    for (const name of wanted) if (!names.includes(name)) ended(`there is no kind ${name}`);
    return {
      wanted,
      count: whole('count', values.count),
      endsAt: realMs() + (whole('minutes', values.minutes) ?? Number.POSITIVE_INFINITY) * 60_000,
      lanes: whole('lanes', values.lanes) ?? 1,
      seed: whole('seed', values.seed) ?? 1,
      file: values.file,
      fresh: values.fresh,
    };
  } catch (error) {
    return ended(error instanceof Error ? error.message : String(error));
  }
}

const { wanted, count, endsAt, lanes, seed, file, fresh } = asked();
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
if (fresh) rmSync(file, { force: true });

const totals = new Map<string, Total>();
const commits = new Set<string>();
for (const line of readLines(file)) {
  totals.set(line.kind, added(totals.get(line.kind) ?? noTotal, line));
  commits.add(line.commit);
}
const totalOf = ({ name }: Pick<Kind, 'name'>): Total => totals.get(name) ?? noTotal;
const goalOf = (kind: Kind): number => count ?? kind.wanted;

/** Seeds of this run are none of an earlier one's. */
let nextSeed = seed + [...totals.values()].reduce((sum, { comparisons }) => sum + comparisons, 0);
let saidAt = Number.NEGATIVE_INFINITY;
let isStopping = false;
const begunAt = realMs();

function progress(kind: Kind): void {
  const isTerminal = process.stderr.isTTY === true;
  if (!isTerminal && realMs() - saidAt < quietMs) return;
  saidAt = realMs();
  const { done, mismatches, seconds } = totalOf(kind);
  const each = (seconds / Math.max(1, done)).toFixed(2);
  const minutes = ((realMs() - begunAt) / 60_000).toFixed(1);
  const line = `${kind.name}: ${done} of ${goalOf(kind)} ${kind.counts}, ${each} s each, ${mismatches} mismatches, ${minutes} min in this run`;
  process.stderr.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
}

function told(kind: Kind, round: Round): void {
  // The same Ctrl-C ended the daemons and exchanges of a terminal.
  if (isStopping && round.faults.length > 0) return;
  append(file, { ...round, commit, at: new Date().toISOString() });
  commits.add(commit);
  totals.set(kind.name, added(totalOf(kind), round));
  if (round.faults.length > 0)
    process.stderr.write(
      `\nMISMATCH ${kind.name}, seed ${round.seed}, all of it in ${round.left}:\n  ${round.faults.slice(0, 20).join('\n  ')}\n`,
    );
  progress(kind);
}

async function lane(kind: Kind): Promise<void> {
  const isEnough = (): boolean => isStopping || totalOf(kind).done >= goalOf(kind) || realMs() > endsAt;
  while (!isEnough()) await tortureIn(kind, nextSeed++, (round) => told(kind, round), isEnough);
}

/** Kinds that measure time have the machine to themselves. */
async function campaign(kind: Kind): Promise<void> {
  const against = kind.impossible?.();
  if (against === undefined)
    await Promise.all(Array.from({ length: kind.alone === true ? 1 : lanes }, () => lane(kind)));
  else process.stderr.write(`${kind.name}: skipped, ${against}\n`);
}

function table(): string {
  const head = ['kind', 'done', 'compared', 'mismatches', 'orders', 'fills', 'unknown', 's each', 'seen'];
  const shown = kinds.filter((kind) => wanted.includes(kind.name) || totalOf(kind).comparisons > 0);
  const rows = shown.map((kind) => {
    const { done, comparisons, mismatches, orders, fills, unknowns, seconds, facts } = totalOf(kind);
    const seen = Object.entries(facts).map(([name, value]) => `${value} ${name}`);
    const each = (seconds / Math.max(1, done)).toFixed(2);
    return [
      kind.name,
      `${done} of ${goalOf(kind)} ${kind.counts}`,
      comparisons,
      mismatches,
      orders,
      fills,
      unknowns,
      each,
      seen.join(', '),
    ].map(String);
  });
  return `${textTable(head, rows)}\ncommits: ${[...commits].join(', ')}; rounds in ${file}\n`;
}

/** The first Ctrl-C lets what runs come to its end, so that nothing stays mounted or on the disk; the second one does not. */
process.on('SIGINT', () => {
  if (isStopping) {
    killLeftovers();
    process.exit(130);
  }
  isStopping = true;
  process.stderr.write('\nstopping after the rounds that run (again to end at once)\n');
});
for (const kind of kinds) if (wanted.includes(kind.name)) await campaign(kind);
let isSound = [...totals.values()].every(({ mismatches }) => mismatches === 0);
if (wanted.includes('moments') && !isStopping)
  isSound = (await tortureMoments(count ?? standardMoments, seed)) && isSound;
append(file, { summary: Object.fromEntries(totals), commits: [...commits], at: new Date().toISOString() });
process.stdout.write(`\n${table()}`);
process.exitCode = isSound ? 0 : 1;
