/**
 * Killed with -9 on a deployment that does not return client ids: on an account that is dedicated to the daemon, where nothing but the
 * program tells what became of an order, and on one where a human trades, too, and says so himself.
 */
import { until } from '../kit/until.ts';
import { type Arena, patienceMs } from './arena.ts';
import { booksOf } from './compare.ts';
import { kill } from './kill.ts';
import type { Done, Kind } from './kind.ts';
import { flatHolding, standingOf } from './rest.ts';

const terms = { quirks: { clientId: 'null' } } as const;

export const killNoIds: Kind = {
  ...kill,
  name: 'kill-no-ids',
  counts: 'kills without client ids',
  wanted: 300,
  setting: () => ({ terms, config: { dedicatedAccount: true } }),
};

/** A human's order, far from the market; its client id is one that the daemon never sees. */
async function placeByHand({ exchange, lost }: Arena): Promise<void> {
  const clientOrderId = `web-${lost.size}`;
  lost.add(clientOrderId);
  await exchange.happen({ place: { symbol: 'BTCUSDT', side: 'BUY', offsetBps: -5_000, clientOrderId } });
}

/** Looks up at the exchange what is in doubt, and says it; lifts the halt that the human's own orders bring about. */
async function decideByHand(arena: Arena): Promise<number> {
  const { orders: theirs } = await arena.exchange.truth();
  const { orders, halts } = booksOf(arena.rig);
  const doubtful = orders.filter(
    ({ state, orderId }) => orderId === null && (state === 'unknown' || state === 'quarantined'),
  );
  let adopted = 0;
  for (const { clientOrderId } of doubtful) {
    const there = theirs.find((order) => order.clientOrderId === clientOrderId);
    const decision = there === undefined ? ['--as', 'absent'] : ['--adopt', there.orderId];
    const { code } = await arena.run('resolve', clientOrderId, ...decision, '--reason', 'looked it up');
    if (there !== undefined && code === 0) adopted++;
  }
  if (halts.length > 0) await arena.run('resume', '--reason', 'these orders are mine');
  return adopted;
}

/** Killed as ever, then a human decides until nothing is in doubt and nothing is open. */
async function killedBesideHuman(arena: Arena): Promise<Done> {
  await placeByHand(arena);
  // Each order that is shown without its id halts everything again beside his.
  arena.expectedHalts.add('noEcho');
  const done = await kill.ordeal(arena);
  await arena.exchange.faults([]);
  arena.calm(true);
  let adopted = 0;
  const isDecided = async (): Promise<boolean> => {
    adopted += await decideByHand(arena);
    const { orders, halts } = booksOf(arena.rig);
    // The order that leaves a position is shown without its id, too: only who holds nothing is halted no more.
    const isFlat = standingOf(arena.rig.state).held < flatHolding;
    return isFlat && halts.length === 0 && orders.every(({ closedAt }) => closedAt !== null);
  };
  await until('everything is decided by hand', isDecided, patienceMs);
  await arena.exchange.happen({ cancel: { which: 'all' } });
  return { ...done, facts: { ...done.facts, 'orders adopted by hand': adopted } };
}

export const killShared: Kind = {
  ...kill,
  name: 'kill-shared',
  counts: 'kills without client ids beside a human',
  wanted: 100,
  setting: () => ({ terms }),
  ordeal: killedBesideHuman,
};
