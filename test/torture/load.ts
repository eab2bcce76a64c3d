/** Ten times the messages of a busy market: the event loop keeps up, and cancels go at once. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realMs } from '../../src/clock/clock.ts';
import { callDaemon } from '../../src/session/control/daemon-client.ts';
import { runningDaemon } from '../../src/session/state.ts';
import { pass, until } from '../kit/until.ts';
import { type Arena, patienceMs } from './arena.ts';
import type { Done, Kind } from './kind.ts';
import type { Lag } from './lag-probe.ts';

/** Of the exchange's time, in each of two symbols; at its speed 300 trades and as many books a real second in each. */
const takersPerSecond = 5;
/** Real ms. */
const maxCancelMs = 1_000;
const maxLagMs = 50;
const loadMs = 8_000;

const lagFile = (arena: Arena): string => join(arena.rig.dir, 'lags.json');

const lagsOf = (arena: Arena): readonly Lag[] => JSON.parse(readFileSync(lagFile(arena), 'utf8')) as Lag[];

/** In ms, to a tenth. */
const p99 = (values: readonly number[]): number =>
  Math.round(([...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * 0.99)] ?? 0) * 10) / 10;

/** How long it takes from the signal to the exchange's word that nothing rests any more, real ms. */
async function cancelled({ rig, exchange }: Arena): Promise<number> {
  const daemon = runningDaemon(rig.state);
  if (daemon === undefined) throw new Error('no daemon runs');
  await until('a resting order', async () => (await exchange.counts()).open > 0);
  const { arrivals } = await exchange.counts();
  const startedAt = realMs();
  const asking = callDaemon(daemon, 'cancel', {});
  await until('the cancels', async () => (await exchange.arrivals(arrivals)).some(({ what }) => what === 'cancel'));
  const cancelMs = realMs() - startedAt;
  await asking;
  return cancelMs;
}

async function loaded(arena: Arena): Promise<Done> {
  arena.calm(false);
  // What the start took is over.
  await until('the first lags', () => existsSync(lagFile(arena)), patienceMs);
  const before = lagsOf(arena).length;
  await pass(loadMs);
  const cancelMs = Math.round(await cancelled(arena));
  const lags = lagsOf(arena).slice(before);
  const busyMs = p99(lags.map((lag) => lag.busyMs));
  return {
    count: 1,
    facts: {
      'greatest p99 of the loop lag, ms': p99(lags.map(({ lateMs }) => lateMs)),
      'greatest p99 of what of it the loop itself took, ms': busyMs,
      'greatest ms until the first cancel was there': cancelMs,
    },
    faults: [
      ...(cancelMs <= maxCancelMs ? [] : [`a cancel took ${cancelMs} ms, at most ${maxCancelMs} are allowed`]),
      // On a machine that others use the rest of the lag is theirs.
      ...(busyMs <= maxLagMs
        ? []
        : [`the loop was ${busyMs} ms behind at p99 by its own work, ${maxLagMs} are allowed`]),
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
