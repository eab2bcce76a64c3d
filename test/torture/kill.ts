/** Killed with -9 at random moments, while it trades and while it recovers. */
import { pass, until } from '../kit/until.ts';
import { type Arena, patienceMs, usualFaults } from './arena.ts';
import type { Done, Kind } from './kind.ts';

/** Real ms between a daemon's first sign of life and its end; the most for strategies that decide at each trade. */
const soonest = 5;
const usualLatest = 500;
/** Kills between two comparisons: the second and the third one hit what the ones before left behind. */
const inARow = 3;

const someTime = ({ rng }: Arena, latest: number): Promise<void> => pass(soonest + rng() * (latest - soonest));

/** The first request of a new daemon has come: from now on there is something to be interrupted. */
async function asksTheExchange({ exchange, daemon }: Arena, before: number): Promise<void> {
  const hasAsked = async (): Promise<boolean> => !daemon.runs || (await exchange.counts()).requests > before;
  await until('a request of the new daemon', hasAsked, patienceMs);
}

/** Trades on, and is killed; then each new one is killed soon after it has asked its first question or begun to trade. */
export async function killed(arena: Arena, latest = usualLatest): Promise<Done> {
  const { exchange, rng } = arena;
  let recovering = 0;
  arena.calm(false);
  await exchange.faults(usualFaults);
  for (let kill = 0; kill < inARow; kill++) {
    await someTime(arena, latest);
    await arena.daemon.end('SIGKILL');
    const { requests } = await exchange.counts();
    const isLast = kill === inARow - 1;
    if (isLast || rng() < 0.4) await arena.start();
    else {
      arena.launch();
      await asksTheExchange(arena, requests);
      recovering++;
    }
  }
  return { count: inARow, facts: { 'kills soon after the start': recovering } };
}

export const kill: Kind = {
  name: 'kill',
  counts: 'kills',
  wanted: 1_000,
  comparisons: 12,
  ordeal: (arena) => killed(arena),
};
