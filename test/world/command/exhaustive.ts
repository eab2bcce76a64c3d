/** `--exhaustive`: every scenario, every fault, every crash point and every second one. */
import { textTable } from '../../../src/terminal/table.ts';
import { type Corner, cornersOf, type Explored } from '../exhaustive.ts';
import { planText } from '../plan.ts';
import { scenarioNames } from '../scenarios.ts';
import type { Task } from '../worker.ts';
import { buildNow } from './build.ts';
import { type CornerRecord, counts, keep, read } from './records.ts';
import { onThreads, out, told } from './threads.ts';

export interface ExhaustiveOptions {
  readonly scenario: string | undefined;
  readonly jobs: number;
  /** The first crash alone, without a second one in the recovery. */
  readonly once: boolean;
  /** Where it is kept what is done: the same command goes on there. */
  readonly file: string;
}

const nameOf = ({ scenario, fault }: Corner): string => `${scenario} ${fault}`;

export async function exhaustive({ scenario, jobs, once, file }: ExhaustiveOptions): Promise<boolean> {
  if (scenario !== undefined && !scenarioNames.some((name) => name === scenario)) {
    out(`unknown scenario ${scenario}; there are ${scenarioNames.join(', ')}`);
    return false;
  }
  const build = buildNow();
  const known = read<Record<string, CornerRecord>>(file, {});
  const done = new Map(
    Object.entries(known).filter(([, corner]) => counts(corner, build) && (once || corner.second > 0)),
  );
  const corners = cornersOf(scenario);
  const tasks = corners
    .filter((corner) => !done.has(nameOf(corner)))
    .map((corner): Task => ({ kind: 'corner', corner, twice: !once }));
  if (tasks.length < corners.length)
    out(`${corners.length - tasks.length} of ${corners.length} are done already (${file})`);
  const { ms, runs } = await onThreads(tasks, {
    jobs,
    ended(_task, value) {
      const { corner, first, second, steps, failures } = value as Explored;
      const failed = failures.map(({ invariant, text, plan }) => `${invariant}: ${text} --plan '${planText(plan)}'`);
      done.set(nameOf(corner), { commit: build.commit, protocol: build.protocol, first, second, steps, failed });
      // What has uncommitted changes is no commit's.
      if (!build.changed) keep(file, sorted({ ...known, ...Object.fromEntries(done) }));
      for (const one of failed.slice(0, 2)) out(`${nameOf(corner)} breaks ${one}`);
    },
    ran: (count, perSecond) =>
      told(`${count} runs, ${perSecond.toFixed(0)} a second; ${done.size} of ${corners.length} scenarios × faults`),
  });
  out(
    `${runs} runs in ${(ms / 1_000).toFixed(0)} s on ${jobs} threads, commit ${build.commit}${build.changed ? ' with changes (not kept)' : ''}`,
  );
  return report(corners, done);
}

/** Records of another protocol stay until the same corner is gone through again: they say on which one it was. */
const sorted = (records: Readonly<Record<string, CornerRecord>>): Record<string, CornerRecord> =>
  Object.fromEntries(Object.entries(records).sort(([one], [other]) => one.localeCompare(other)));

function report(corners: readonly Corner[], done: ReadonlyMap<string, CornerRecord>): boolean {
  const head = ['scenario', 'faults', 'first crashes', 'second crashes', 'steps', 'failed'];
  const rows: string[][] = [];
  const all = { first: 0, second: 0, steps: 0, failed: 0 };
  for (const scenario of new Set(corners.map((corner) => corner.scenario))) {
    const records = corners
      .filter((corner) => corner.scenario === scenario)
      .flatMap((corner) => done.get(nameOf(corner)) ?? []);
    const sum = (of: (row: CornerRecord) => number): number => records.reduce((total, row) => total + of(row), 0);
    const line = {
      first: sum((row) => row.first),
      second: sum((row) => row.second),
      steps: sum((row) => row.steps),
      failed: sum((row) => row.failed.length),
    };
    for (const name of ['first', 'second', 'steps', 'failed'] as const) all[name] += line[name];
    rows.push([scenario, ...[records.length, line.first, line.second, line.steps, line.failed].map(String)]);
  }
  rows.push(['in all', ...[done.size, all.first, all.second, all.steps, all.failed].map(String)]);
  out(textTable(head, rows));
  return all.failed === 0 && corners.every((corner) => done.has(nameOf(corner)));
}
