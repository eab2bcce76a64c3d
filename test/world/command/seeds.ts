/** Seeds in great number: a run for itself, or a stretch of a campaign that is kept in a file; `--twice` compares hashes. */
import { textTable } from '../../../src/terminal/table.ts';
import { add, addHashes, counted, minPerSeed, noTotals, type Part, type Totals, tooLittle } from '../campaign.ts';
import type { Failure } from '../failure.ts';
import { Reach } from '../reach.ts';
import type { Task } from '../worker.ts';
import { type Build, buildNow } from './build.ts';
import { type CampaignFile, counts, keep, nextSeed, read, type Stretch } from './records.ts';
import { onThreads, out, type Took, told } from './threads.ts';

/** Seeds handed to a thread at a time. */
const partSize = 25;

export interface SeedsOptions {
  readonly from: number | undefined;
  readonly seeds: number;
  readonly jobs: number;
  readonly twice: boolean;
  readonly lateQueue: boolean;
  readonly absentAfterMs: number | undefined;
  /** The file of a campaign; undefined: the run stands for itself. */
  readonly campaign: string | undefined;
}

export interface Ran {
  readonly failures: readonly Failure[];
  readonly reach: Reach;
  /** Which seeds on which commit. */
  readonly about: string;
  readonly fine: boolean;
}

export async function runSeeds(options: SeedsOptions): Promise<Ran> {
  const build = buildNow();
  const { campaign } = options;
  if (campaign !== undefined && build.changed) {
    out('a campaign is of a commit: commit what has changed in the protocol first');
    return { failures: [], reach: new Reach(), about: '', fine: false };
  }
  const file = campaign === undefined ? undefined : read<CampaignFile>(campaign, { stretches: [], twice: [] });
  const from = options.from ?? (file === undefined ? 1 : options.twice ? 1 : nextSeed(file));
  const stretch: Stretch = { ...build, ...noTotals(), from, to: from - 1, failed: [], hashes: '0' };
  if (file !== undefined && !options.twice) file.stretches.push(stretch);
  const [failures, unlike, reach]: [Failure[], number[], Reach] = [[], [], new Reach()];
  const waiting = new Map<number, Part>();
  const took = await onThreads(tasksOf(options, from), {
    jobs: options.jobs,
    ended(task, value) {
      if (task.kind !== 'seeds') return;
      const part = value as Part;
      failures.push(...part.failures);
      unlike.push(...part.unlike);
      reach.add(part);
      waiting.set(task.seeds.from, part);
      lengthen(stretch, waiting);
      if (file !== undefined && campaign !== undefined && !options.twice) keep(campaign, file);
    },
    ran: (runs, rate) =>
      told(`${runs} of ${options.seeds} seeds, ${rate.toFixed(1)} a second, ${failures.length} failed`),
  });
  if (file !== undefined && campaign !== undefined && options.twice) {
    file.twice.push({ commit: build.commit, protocol: build.protocol, from, to: stretch.to, unlike });
    keep(campaign, file);
  }
  report(stretch, took, options, { build, unlike });
  out(`reached: ${reach.events.size} of state × event, ${reach.faults.size} of fault × state`);
  if (file !== undefined) tellCampaign(file, build);
  const little = tooLittle(stretch);
  for (const one of little) out(`these seeds do not count: ${one}`);
  const about = `seeds ${stretch.from} to ${stretch.to} on commit ${build.commit}${build.changed ? ' with changes' : ''}`;
  return { failures, reach, about, fine: failures.length === 0 && unlike.length === 0 && little.length === 0 };
}

function tasksOf({ seeds, twice, lateQueue, absentAfterMs }: SeedsOptions, from: number): readonly Task[] {
  const tasks: Task[] = [];
  for (let first = from; first < from + seeds; first += partSize) {
    const to = Math.min(first + partSize, from + seeds) - 1;
    tasks.push({
      kind: 'seeds',
      seeds: { from: first, to, twice, lateQueue, ...(absentAfterMs !== undefined && { absentAfterMs }) },
    });
  }
  return tasks;
}

/** Parts end out of order; a stretch has no gap. */
function lengthen(stretch: Stretch, waiting: Map<number, Part>): void {
  for (let part = waiting.get(stretch.to + 1); part !== undefined; part = waiting.get(stretch.to + 1)) {
    waiting.delete(stretch.to + 1);
    add(stretch, part.totals);
    stretch.hashes = addHashes(stretch.hashes, part.hashes);
    stretch.failed.push(...part.failures.map(({ seed }) => seed));
    stretch.to += part.totals.seeds;
  }
}

function report(
  stretch: Stretch,
  { ms, runs, cpuMs }: Took,
  options: SeedsOptions,
  more: { build: Build; unlike: readonly number[] },
): void {
  const { seeds } = stretch;
  const least: Readonly<Partial<Record<keyof Totals, number>>> = minPerSeed;
  const rows = counted.map((name) => [
    name,
    String(stretch[name]),
    (stretch[name] / seeds).toFixed(2),
    String(least[name] ?? ''),
  ]);
  const last = [
    'virtual s',
    (stretch.virtualMs / 1_000).toFixed(0),
    (stretch.virtualMs / seeds / 1_000).toFixed(1),
    '',
  ];
  out(textTable(['', 'in all', 'a seed', 'at least'], [...rows, last]));
  const [perSecond, ranTwice] = [(runs * 1_000) / ms, options.twice ? 2 : 1];
  const cpuSeeds = (runs * ranTwice * 1_000) / cpuMs;
  const { commit, changed } = more.build;
  out(
    `commit ${commit}${changed ? ' with changes' : ''}: seeds ${stretch.from} to ${stretch.to}, ${stretch.failed.length} failed${options.twice ? `, ${more.unlike.length} whose second run differed` : ''}; traces sum to ${stretch.hashes}`,
  );
  out(
    `${runs} seeds${options.twice ? ' twice' : ''} in ${(ms / 1_000).toFixed(1)} s on ${options.jobs} threads: ${perSecond.toFixed(1)} seeds/s, ${((perSecond * ranTwice * stretch.steps) / seeds).toFixed(0)} events/s; ${(cpuMs / runs / ranTwice).toFixed(1)} ms of processor a seed, ${cpuSeeds.toFixed(1)} seeds/s of one core`,
  );
}

/** What the whole file comes to; stretches of another protocol do not count any more. */
function tellCampaign({ stretches, twice }: CampaignFile, build: Build): void {
  const valid = stretches.filter((one) => counts(one, build));
  const [totals, failed] = [noTotals(), valid.flatMap((one) => one.failed)];
  for (const one of valid) add(totals, one);
  const again = twice.filter((one) => counts(one, build));
  const seedsTwice = again.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const unlike = again.flatMap((one) => one.unlike);
  out(
    `the campaign on this protocol (${build.protocol}): ${totals.seeds} seeds in ${valid.length} runs, ${failed.length} failed, ${totals.steps} steps, ${totals.crashes} crashes, ${totals.unknowns} unknown outcomes; ${seedsTwice} seeds twice, ${unlike.length} unlike`,
  );
  const old = stretches.length - valid.length;
  if (old > 0) out(`${old} runs were of another protocol and do not count`);
}
