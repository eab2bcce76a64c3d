/** Clocks that step: the exchange's, which every request is judged by, and this machine's. Nothing is created outside the window. */
import { speed } from '../kit/rig.ts';
import { pass } from '../kit/until.ts';
import { type Arena, usualFaults } from './arena.ts';
import type { Arrival } from './exchange-words.ts';
import type { Done, Kind } from './kind.ts';
import { lieIn, whyNoShim } from './shim.ts';

/** Real ms in which what was signed before the first refusal arrives; it could not know better. */
const underWayMs = 150;
/** How the exchange says that a request is outside its window. */
const outsideCode = -1021;

const isOutside = ({ what, code }: Arrival): boolean => what === 'create' && code === outsideCode;

/** A step of up to ten seconds, either way, real ms; small ones too. */
const stepOf = (rng: () => number): number =>
  (rng() < 0.5 ? -1 : 1) * (rng() < 0.3 ? 300 + rng() * 1_500 : 2_000 + rng() * 8_000);

/** The exchange's clock steps: until its first refusal arrives nobody can know, and after it nothing may be outside. */
async function theirs(arena: Arena): Promise<Done> {
  const { exchange, rng } = arena;
  const { arrivals } = await exchange.counts();
  const stepMs = Math.round(stepOf(rng) * speed);
  await exchange.happen({ stepMs });
  await pass(700);
  const outside = (await exchange.arrivals(arrivals)).filter(isOutside);
  const [first] = outside;
  const late = outside.filter(({ at }) => first !== undefined && at > first.at + underWayMs * speed);
  return {
    count: 1,
    facts: {
      "steps of the exchange's clock": 1,
      'creates refused before a step was known': outside.length - late.length,
    },
    faults: late.map(
      ({ clientOrderId, ageMs }) =>
        `create ${clientOrderId} left outside the window (${ageMs} ms) after a refusal for it`,
    ),
  };
}

/** This machine's wall clock steps: our time runs on the steady one, so that nothing at all is outside. */
async function ours(arena: Arena): Promise<Done> {
  const { exchange, rng } = arena;
  const { lie } = lieIn(arena);
  const { arrivals } = await exchange.counts();
  lie({ offsetMs: stepOf(rng) });
  await pass(700);
  const outside = (await exchange.arrivals(arrivals)).filter(isOutside);
  return {
    count: 1,
    facts: { "steps of this machine's clock": 1 },
    faults: outside.map(({ clientOrderId, ageMs }) => `create ${clientOrderId} left outside the window (${ageMs} ms)`),
  };
}

async function stepped(arena: Arena): Promise<Done> {
  const { exchange, rng } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(50 + rng() * 200);
  return rng() < 0.5 ? ours(arena) : theirs(arena);
}

export const clock: Kind = {
  name: 'clock',
  counts: 'steps',
  wanted: 100,
  comparisons: 15,
  impossible: whyNoShim,
  prepare: async (arena) => void lieIn(arena),
  ordeal: stepped,
};
