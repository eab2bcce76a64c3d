/** Many seeds: what they came to, added up, and the mutants that they must kill. */

import { type Failure, failureOf } from './failure.ts';
import { mutants } from './mutants/all.ts';
import type { Bent } from './mutation-points.ts';
import { planOf } from './plan.ts';
import { type Counted, Reach } from './reach.ts';
import { runWorld } from './world.ts';

/** What a campaign counts. */
export interface Totals {
  seeds: number;
  steps: number;
  crashes: number;
  unknowns: number;
  creates: number;
  fills: number;
  late: number;
  second: number;
  quarantined: number;
  commits: number;
  virtualMs: number;
}

export const noTotals = (): Totals => ({
  seeds: 0,
  steps: 0,
  crashes: 0,
  unknowns: 0,
  creates: 0,
  fills: 0,
  late: 0,
  second: 0,
  quarantined: 0,
  commits: 0,
  virtualMs: 0,
});

/** What is counted of each seed. */
export const counted = [
  'steps',
  'crashes',
  'unknowns',
  'creates',
  'fills',
  'late',
  'second',
  'quarantined',
  'commits',
] as const;

export function add(totals: Totals, one: Omit<Totals, 'seeds'> & { readonly seeds?: number }): void {
  totals.seeds += one.seeds ?? 1;
  for (const name of [...counted, 'virtualMs'] as const) totals[name] += one[name];
}

/** What a seed must have seen, on average over a campaign, for the campaign to count (issue 5). */
export const minPerSeed = { steps: 1_000, crashes: 3, unknowns: 5 } as const;

/** The averages of a campaign that are too low to count. */
export function tooLittle(totals: Totals): string[] {
  return (Object.entries(minPerSeed) as [keyof typeof minPerSeed, number][])
    .filter(([name, least]) => totals[name] < least * totals.seeds)
    .map(([name, least]) => `${(totals[name] / totals.seeds).toFixed(2)} ${name} a seed, at least ${least} are wanted`);
}

/** Part of a campaign, as one worker runs it. */
export interface Part extends Counted {
  readonly totals: Totals;
  readonly failures: readonly Failure[];
  /** The sum of the trace hashes of the first runs, 64 bits in hex. */
  readonly hashes: string;
  /** Seeds whose second run had another trace. */
  readonly unlike: readonly number[];
}

/** Which seeds, and in which world. */
export interface Seeds {
  readonly from: number;
  readonly to: number;
  /** Each runs a second time, to see that nothing but the seed decides. */
  readonly twice?: boolean;
  /** The exchange judges a request's window at the gateway and may carry it out up to 40 s later; D must cover that (§3.4). */
  readonly lateQueue?: boolean;
  /** D, ms; the world's own where it is left out. */
  readonly absentAfterMs?: number;
}

/** Sums do not depend on the order in which threads come to an end. */
export const addHashes = (one: string, other: string): string =>
  BigInt.asUintN(64, BigInt(`0x${one}`) + BigInt(`0x${other}`)).toString(16);

/** Runs seeds one after another. */
export async function runPart(seeds: Seeds, each: () => void = () => {}): Promise<Part> {
  const { from, to, twice = false, lateQueue = false, absentAfterMs } = seeds;
  const bent: Bent = { lateQueue };
  const totals = noTotals();
  const failures: Failure[] = [];
  const unlike: number[] = [];
  const reach = new Reach();
  let hashes = '0';
  for (let seed = from; seed <= to; seed++) {
    const plan = planOf(seed);
    const result = await runWorld({ plan, bent, absentAfterMs });
    add(totals, result);
    hashes = addHashes(hashes, result.hash);
    reach.add(result.reach);
    if (result.failure !== undefined) failures.push(failureOf(result, plan));
    if (twice && (await runWorld({ plan, bent, absentAfterMs })).hash !== result.hash) unlike.push(seed);
    each();
  }
  const { events, cancels, faults } = reach;
  return { totals, failures, hashes, events, cancels, faults, unlike };
}

/** How a mutant ended: the seed that killed it and what saw it; undefined when none did. */
export interface Killed {
  readonly seed: number;
  readonly invariant: string;
  readonly text: string;
}

/** Runs a mutant on seeds from `from` until one kills it. */
export async function hunt(bent: Bent, from: number, most: number): Promise<Killed | undefined> {
  for (let seed = from; seed < from + most; seed++) {
    const { failure } = await runWorld({ plan: planOf(seed), bent });
    if (failure === undefined) continue;
    // What the code breaks without the mutant, too, tells nothing about it.
    const honest = await runWorld({ plan: planOf(seed), bent: bent.lateQueue === true ? { lateQueue: true } : {} });
    if (honest.failure === undefined) return { seed, invariant: failure.invariant, text: failure.text };
  }
  return undefined;
}

export function mutantOf(name: string): (typeof mutants)[number] {
  const found = mutants.find((one) => one.name === name);
  if (found === undefined)
    throw new Error(`there is no mutant ${name}; there are ${mutants.map((one) => one.name).join(', ')}`);
  return found;
}
