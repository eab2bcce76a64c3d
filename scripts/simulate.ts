/**
 * `npm run simulate -- [--seeds 500] [--from 1] [--jobs 2] [--campaign [--file FILE]] [--twice N] [--reach] [--late-queue] [--horizon MS]`: many seeds
 * of the simulated world. `--campaign` goes on after the last seed of its file and writes down what this run came to; `--twice N` runs N seeds
 * twice and compares their traces. `--exhaustive [--scenario NAME] [--once] [--file FILE]`: every crash point; `--once`: without a second crash.
 * `--mutants [--max 1000] [--only NAME]`: rules broken on purpose. `--seed N [--trace]` and `--plan JSON`: one run, shrunk where it fails.
 * `--page`: docs/reference/reachability.md. Ends with 1 when an invariant was broken, a mutant survived, or the seeds saw too little to count.
 */
import { availableParallelism } from 'node:os';
import { exhaustive } from '../test/world/command/exhaustive.ts';
import { explain } from '../test/world/command/explain.ts';
import { huntAll } from '../test/world/command/mutants.ts';
import { reachTables, writeReachPage } from '../test/world/command/reach-page.ts';
import { runSeeds } from '../test/world/command/seeds.ts';
import { type Plan, planOf } from '../test/world/plan.ts';
import { askedFor, ended, wholeFrom } from './asked.ts';

/** Failures printed in full. */
const shownFailures = 5;

const usage = `usage: npm run simulate -- [--seeds 500] [--from 1] [--jobs 2] [--campaign [--file FILE]] [--twice N] [--reach] [--page] [--late-queue] [--horizon MS]
       npm run simulate -- --exhaustive [--scenario NAME] [--once] [--file FILE] | --mutants [--max 1000] [--only NAME] | --seed N [--trace] [--mutant NAME] | --plan JSON`;
const asked = askedFor(
  {
    seeds: { type: 'string' },
    from: { type: 'string' },
    jobs: { type: 'string' },
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
    once: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    max: { type: 'string' },
    only: { type: 'string' },
  },
  usage,
);

const whole = (name: 'jobs' | 'horizon' | 'from' | 'seeds' | 'twice' | 'max' | 'seed', min = 1): number | undefined =>
  wholeFrom(min, name, asked[name], usage);
const jobs = whole('jobs') ?? availableParallelism();
const from = whole('from', 0);
const max = whole('max') ?? 1_000;
const seed = whole('seed', 0);
const count = whole('twice') ?? whole('seeds') ?? 500;
const plan = asked.plan === undefined ? undefined : planIn(asked.plan);
/** The variant of the exchange on which the protocol's promise depends on D. */
const variant = {
  lateQueue: asked['late-queue'],
  absentAfterMs: whole('horizon', 0),
};
const explaining = { ...variant, trace: asked.trace, mutant: asked.mutant };

/** A plan as a run that failed printed it. */
function planIn(text: string): Plan {
  try {
    const found = JSON.parse(text) as Plan | null;
    if (typeof found?.seed === 'number' && Array.isArray(found.classes) && Array.isArray(found.events)) return found;
  } catch {
    // Told of below.
  }
  return ended('--plan must be a plan as JSON, as a run that failed prints it', usage);
}

async function seeds(): Promise<boolean> {
  const { failures, reach, about, fine } = await runSeeds({
    ...variant,
    from,
    seeds: count,
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
  if (asked.mutants) return huntAll({ from: from ?? 1, most: max, jobs, only: asked.only });
  if (asked.exhaustive)
    return exhaustive({ scenario: asked.scenario, jobs, once: asked.once, file: asked.file ?? 'var/exhaustive.json' });
  if (plan !== undefined) return explain(plan, explaining);
  return seed === undefined ? seeds() : explain(planOf(seed), explaining);
}

process.exitCode = (await asWished()) ? 0 : 1;
