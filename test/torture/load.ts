/** Ten times the messages of a busy market: the event loop keeps up, and cancels go at once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realMs } from '../../src/clock/clock.ts';
import { ask } from '../../src/modes/control.ts';
import { runningDaemon } from '../../src/modes/state.ts';
import { pass, until } from '../kit/until.ts';
import type { Arena } from './arena.ts';
import type { Done, Kind } from './kind.ts';

/** Of the exchange's time, in each of two symbols; at its speed 300 trades and as many books a real second in each. */
const takersPerSecond = 5;
/** Real ms. */
const mostCancelMs = 1_000;
const mostLagMs = 50;
const loadMs = 8_000;
const lookMs = 5;

const lagFile = (arena: Arena): string => join(arena.rig.dir, 'lags.json');

const lagsOf = (arena: Arena): readonly number[] => JSON.parse(readFileSync(lagFile(arena), 'utf8')) as number[];

const p99 = (lags: readonly number[]): number =>
  Math.round(([...lags].sort((a, b) => a - b)[Math.floor((lags.length - 1) * 0.99)] ?? 0) * 10) / 10;

/** How late a loop that does next to nothing runs on this machine at this moment, p99 in real ms: what others take from all. */
async function idleLag(): Promise<number> {
  const lags: number[] = [];
  const endsAt = realMs() + loadMs;
  while (realMs() < endsAt) {
    const startedAt = realMs();
    await pass(lookMs);
    lags.push(Math.max(0, realMs() - startedAt - lookMs));
  }
  return p99(lags);
}

/** How long it takes from the wish to the exchange's word that nothing rests any more, real ms. */
async function cancelled({ rig, exchange }: Arena): Promise<number> {
  const daemon = runningDaemon(rig.state);
  if (daemon === undefined) throw new Error('no daemon runs');
  await until('a resting order', async () => (await exchange.counts()).open > 0);
  const { arrivals } = await exchange.counts();
  const startedAt = realMs();
  const asking = ask(daemon, 'cancel', {});
  await until('the cancels', async () => (await exchange.arrivals(arrivals)).some(({ what }) => what === 'cancel'));
  const cancelMs = realMs() - startedAt;
  await asking;
  return cancelMs;
}

async function loaded(arena: Arena): Promise<Done> {
  arena.calm(false);
  // What the start took is over.
  await pass(1_500);
  const before = lagsOf(arena).length;
  const idleMs = await idleLag();
  const cancelMs = Math.round(await cancelled(arena));
  const lagMs = p99(lagsOf(arena).slice(before));
  return {
    count: 1,
    facts: {
      'greatest p99 of the loop lag, ms': lagMs,
      'greatest p99 of an idle loop beside it, ms': idleMs,
      'greatest ms until the first cancel was there': cancelMs,
    },
    faults: [
      ...(cancelMs <= mostCancelMs ? [] : [`a cancel took ${cancelMs} ms, at most ${mostCancelMs} are allowed`]),
      ...(lagMs <= mostLagMs + idleMs
        ? []
        : [
            `the loop's lag was ${lagMs} ms at p99 and ${idleMs} ms of an idle one: at most ${mostLagMs} more are allowed`,
          ]),
    ],
  };
}

export const load: Kind = {
  name: 'load',
  counts: 'loads',
  wanted: 10,
  comparisons: 5,
  alone: true,
  setting: () => ({ terms: { takersPerSecond }, every: 100 }),
  async prepare(arena) {
    arena.env['SLUICE_TORTURE_LAG'] = lagFile(arena);
    arena.env['NODE_OPTIONS'] = `--import ${new URL('./lag-probe.ts', import.meta.url).href}`;
  },
  ordeal: loaded,
};
