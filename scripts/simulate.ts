/**
 * `npm run simulate -- [--seeds 500] [--from 1] [--jobs 2] [--campaign [FILE]] [--twice N] [--reach] [--late-queue] [--horizon MS]`: many seeds
 * of the simulated world. `--campaign` goes on after the last seed of its file and writes down what this run came to; `--twice N` runs N seeds
 * twice and compares their traces. `--exhaustive [--scenario NAME] [--file FILE]`: every crash point. `--mutants [--most 1000] [--only NAME]`:
 * rules broken on purpose. `--seed N [--trace]` and `--plan JSON`: one run, shrunk where it fails. `--page`: docs/reference/reachability.md.
 * Ends with 1 when an invariant was broken, a mutant survived, or the seeds saw too little to count.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { exhaustive } from '../src/testing/world/command/exhaustive.ts';
import { explain } from '../src/testing/world/command/explain.ts';
import { huntAll } from '../src/testing/world/command/mutants.ts';
import { reachTables, writeReachPage } from '../src/testing/world/command/reach-page.ts';
import { runSeeds } from '../src/testing/world/command/seeds.ts';
import { type Plan, planOf } from '../src/testing/world/plan.ts';

/** Failures printed in full. */
const shownFailures = 5;

const { values: asked } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    twice: { type: 'string' },
    campaign: { type: 'boolean', default: false },
    file: { type: 'string' },
    reach: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    'late-queue': { type: 'boolean', default: false },
    horizon: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    plan: { type: 'string' },
    exhaustive: { type: 'boolean', default: false },
    scenario: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    most: { type: 'string', default: '1000' },
    only: { type: 'string' },
  },
});

const jobs = Number(asked.jobs);
/** The variant of the exchange on which the protocol's promise depends on D (order-protocol §4). */
const variant = {
  lateQueue: asked['late-queue'],
  horizonMs: asked.horizon === undefined ? undefined : Number(asked.horizon),
};
const explaining = { ...variant, trace: asked.trace, mutant: asked.mutant };

async function seeds(): Promise<boolean> {
  const { failures, reach, about, fine } = await runSeeds({
    ...variant,
    from: asked.from === undefined ? undefined : Number(asked.from),
    seeds: Number(asked.twice ?? asked.seeds ?? '500'),
    jobs,
    twice: asked.twice !== undefined,
    campaign: asked.campaign ? (asked.file ?? 'docs/campaign.json') : undefined,
  });
  for (const failure of failures.slice(0, shownFailures)) await explain(failure.plan, explaining);
  if (asked.reach) reachTables(reach);
  if (asked.page) writeReachPage(reach, about);
  return fine;
}

function asWished(): Promise<boolean> {
  if (asked.mutants)
    return huntAll({ from: Number(asked.from ?? '1'), most: Number(asked.most), jobs, only: asked.only });
  if (asked.exhaustive)
    return exhaustive({ scenario: asked.scenario, jobs, file: asked.file ?? 'var/exhaustive.json' });
  if (asked.plan !== undefined) return explain(JSON.parse(asked.plan) as Plan, explaining);
  return asked.seed === undefined ? seeds() : explain(planOf(Number(asked.seed)), explaining);
}

process.exitCode = (await asWished()) ? 0 : 1;
