/**
 * `npm run simulate -- [--seeds 500] [--from 1] [--jobs 2] [--twice] [--resume FILE] [--reach] [--late-queue] [--horizon MS]`: many seeds of the simulated world.
 * `--seed N [--trace] [--plan JSON]` replays one and shrinks it where it fails; `--mutants [--most 1000] [--only NAME]` hunts the mutants.
 * Ends with 1 when an invariant was broken, a mutant survived, or the campaign saw too little to count.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import Table from 'cli-table3';
import { realMs } from '../src/clock/clock.ts';
import {
  add,
  type Failure,
  type Killed,
  mutantOf,
  noTotals,
  type Part,
  type Totals,
  tooLittle,
} from '../src/testing/world/campaign.ts';
import { mutants } from '../src/testing/world/mutants/all.ts';
import { type Plan, planOf, planText } from '../src/testing/world/plan.ts';
import { Reach, tableOf } from '../src/testing/world/reach.ts';
import { shrink } from '../src/testing/world/shrink.ts';
import type { Task } from '../src/testing/world/worker.ts';
import { runWorld } from '../src/testing/world/world.ts';

/** Seeds handed to a worker at a time. */
const partSize = 25;
/** Room for what lives for a step only: the collector takes a tenth of a seed otherwise. */
const youngMb = 96;
/** Failures printed in full. */
const shownFailures = 5;

const { values: asked } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    twice: { type: 'boolean', default: false },
    resume: { type: 'string' },
    reach: { type: 'boolean', default: false },
    'late-queue': { type: 'boolean', default: false },
    horizon: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    plan: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    most: { type: 'string', default: '1000' },
    only: { type: 'string' },
  },
});

/** The variant of the exchange on which the protocol's promise depends on D (order-protocol §4). */
const variant = {
  lateQueue: asked['late-queue'],
  ...(asked.horizon !== undefined && { horizonMs: Number(asked.horizon) }),
};

const out = (line: string): void => void process.stdout.write(`${line}\n`);
const told = (line: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
};

/** Runs tasks on workers, as many at a time as there are. */
async function onWorkers(
  tasks: readonly Task[],
  jobs: number,
  each: (task: Task, value: unknown) => void,
  seed: () => void,
): Promise<void> {
  const left = [...tasks];
  await Promise.all(
    Array.from({ length: Math.min(jobs, tasks.length) }, async () => {
      const worker = new Worker(new URL('../src/testing/world/worker.ts', import.meta.url), {
        resourceLimits: { maxYoungGenerationSizeMb: youngMb },
      });
      try {
        for (let task = left.shift(); task !== undefined; task = left.shift()) {
          const value = await answered(worker, task, seed);
          each(task, value);
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
}

function answered(worker: Worker, task: Task, seed: () => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const hear = (said: { kind: 'seed' } | { kind: 'done'; value: unknown }): void => {
      if (said.kind === 'seed') {
        seed();
        return;
      }
      worker.off('message', hear);
      worker.off('error', reject);
      resolve(said.value);
    };
    worker.on('message', hear);
    worker.once('error', reject);
    worker.postMessage(task);
  });
}

/** What a campaign has come to so far; kept in a file it can be gone on with. */
interface Campaign {
  readonly commit: string;
  readonly totals: Totals;
  readonly failures: Failure[];
  readonly unlike: number[];
  /** First seeds of the parts that are done. */
  readonly done: number[];
  readonly events: [string, number][];
  readonly faults: [string, number][];
  cpuMs: number;
}

/** What the seeds ran on: those of another commit do not count with it. */
function commitNow(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src') === '' ? '' : ' with changes';
    return git('rev-parse', '--short', 'HEAD') + changed;
  } catch {
    return 'unknown';
  }
}

function begun(file: string | undefined, commit: string): Campaign {
  const fresh = { commit, totals: noTotals(), failures: [], unlike: [], done: [], events: [], faults: [], cpuMs: 0 };
  if (file === undefined || !existsSync(file)) return fresh;
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Campaign;
  if (kept.commit === commit) return kept;
  out(`${file} is of commit ${kept.commit}, not ${commit}: what it holds does not count any more, beginning anew`);
  return fresh;
}

function keep(file: string | undefined, campaign: Campaign, reach: Reach): void {
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...campaign, events: [...reach.events], faults: [...reach.faults] }));
}

async function campaign(): Promise<boolean> {
  const [from, seeds, jobs] = [Number(asked.from), Number(asked.seeds), Number(asked.jobs)];
  const state = begun(asked.resume, commitNow());
  const reach = new Reach();
  reach.add({ events: new Map(state.events), faults: new Map(state.faults) });
  const tasks: Task[] = [];
  for (let first = from; first < from + seeds; first += partSize) {
    if (!state.done.includes(first)) {
      const to = Math.min(first + partSize, from + seeds) - 1;
      tasks.push({ kind: 'seeds', seeds: { from: first, to, twice: asked.twice, ...variant } });
    }
  }
  const startedAt = realMs();
  let ran = 0;
  const cpu = process.cpuUsage();
  await onWorkers(
    tasks,
    jobs,
    (task, value) => {
      const part = value as Part;
      add(state.totals, part.totals);
      state.failures.push(...part.failures);
      state.unlike.push(...part.unlike);
      reach.add(part);
      if (task.kind === 'seeds') state.done.push(task.seeds.from);
      const spent = process.cpuUsage(cpu);
      state.cpuMs = (spent.user + spent.system) / 1_000;
      keep(asked.resume, state, reach);
    },
    () => {
      const rate = (++ran * 1_000) / (realMs() - startedAt);
      told(`${ran} of ${seeds} seeds, ${rate.toFixed(1)} a second, ${state.failures.length} failed`);
    },
  );
  told('');
  report(state, reach, realMs() - startedAt, ran, jobs);
  for (const failure of state.failures.slice(0, shownFailures)) await explain(failure.plan);
  if (asked.reach) reachTables(reach);
  const little = tooLittle(state.totals);
  for (const one of little) out(`this campaign does not count: ${one}`);
  return state.failures.length === 0 && state.unlike.length === 0 && little.length === 0;
}

function report(
  { commit, totals, failures, unlike, cpuMs }: Campaign,
  reach: Reach,
  ms: number,
  ran: number,
  jobs: number,
): void {
  const { seeds } = totals;
  const table = new Table({ head: ['', 'in all', 'a seed'] });
  for (const name of ['steps', 'crashes', 'unknowns', 'creates', 'fills', 'quarantined', 'commits'] as const)
    table.push([name, String(totals[name]), (totals[name] / seeds).toFixed(2)]);
  table.push([
    'virtual hours',
    (totals.virtualMs / 3_600_000).toFixed(1),
    (totals.virtualMs / seeds / 3_600_000).toFixed(4),
  ]);
  out(table.toString());
  const perSecond = (ran * 1_000) / ms;
  out(
    `commit ${commit}: ${seeds} seeds, ${failures.length} failed${asked.twice ? `, ${unlike.length} whose second run differed` : ''}; this run ${ran} seeds in ${(ms / 1_000).toFixed(1)} s on ${jobs} threads: ${perSecond.toFixed(1)} seeds/s, ${((perSecond * totals.steps) / seeds).toFixed(0)} steps/s, ${(cpuMs / Math.max(1, ran)).toFixed(0)} ms of processor a seed`,
  );
  out(`reached: ${reach.events.size} of state × event, ${reach.faults.size} of fault × state`);
}

function reachTables(reach: Reach): void {
  for (const [title, counts] of [['state × event', reach.events] as const, ['fault × state', reach.faults] as const]) {
    const { head, rows } = tableOf(counts);
    const table = new Table({ head });
    table.push(...rows);
    out(`\n${title}\n${table.toString()}`);
  }
}

/** Replays a plan, shrinks it where it fails, and prints both. */
async function explain(plan: Plan): Promise<boolean> {
  const { lateQueue, horizonMs }: { lateQueue: boolean; horizonMs?: number } = variant;
  const timing = horizonMs === undefined ? {} : { timing: { horizonMs } };
  const bent = asked.mutant === undefined ? { lateQueue, ...timing } : mutantOf(asked.mutant).bent;
  const result = await runWorld({ plan, bent, trace: asked.trace });
  if (asked.trace) out(result.trace.join('\n'));
  out(
    `seed ${plan.seed}: trace ${result.hash}, ${result.steps} steps, ${result.crashes} crashes, ${result.unknowns} unknowns`,
  );
  const { failure } = result;
  if (failure === undefined) return true;
  out(`seed ${plan.seed} breaks ${failure.invariant} after ${failure.atMs} ms: ${failure.text}`);
  const small = await shrink(plan, result, bent);
  out(`its plan, shrunk in ${small.runs} runs: ${planText(small.plan)}`);
  if (!asked.trace) out(small.result.trace.join('\n'));
  out(`replay: npm run simulate -- --trace --plan '${planText(small.plan)}'`);
  return false;
}

async function hunting(): Promise<boolean> {
  const [from, most, jobs] = [Number(asked.from), Number(asked.most), Number(asked.jobs)];
  const hunted = mutants.filter(({ name }) => asked.only === undefined || name === asked.only);
  const tasks = hunted.map(({ name }): Task => ({ kind: 'mutant', name, from, most }));
  const found = new Map<string, Killed | undefined>();
  await onWorkers(
    tasks,
    jobs,
    (task, value) => {
      if (task.kind === 'mutant') found.set(task.name, value as Killed | undefined);
      told(`${found.size} of ${tasks.length} mutants`);
    },
    () => {},
  );
  told('');
  const table = new Table({
    head: ['mutant', 'seeds', 'seen by', 'what it does'],
    colWidths: [26, 8, 10, 80],
    wordWrap: true,
  });
  for (const { name, about } of hunted) {
    const killed = found.get(name);
    table.push([name, killed === undefined ? 'alive' : String(killed.seed - from + 1), killed?.invariant ?? '', about]);
  }
  out(table.toString());
  const alive = hunted.filter(({ name }) => found.get(name) === undefined);
  out(`${hunted.length - alive.length} of ${hunted.length} mutants killed within ${most} seeds`);
  return alive.length === 0;
}

const one = asked.plan === undefined ? undefined : (JSON.parse(asked.plan) as Plan);
const fine = asked.mutants
  ? await hunting()
  : one !== undefined
    ? await explain(one)
    : asked.seed !== undefined
      ? await explain(planOf(Number(asked.seed)))
      : await campaign();
process.exitCode = fine ? 0 : 1;
