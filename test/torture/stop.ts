/** Stopped with SIGSTOP for a while, while the exchange's time runs at 60 times ours: nothing is created on what it saw before. */

import { speed } from '../kit/rig.ts';
import { pass } from '../kit/until.ts';
import { type Arena, usualFaults } from './arena.ts';
import { booksOf } from './compare.ts';
import type { Done, Kind } from './kind.ts';
import { restlessReason } from './restless.ts';

/** Of the configuration: what is older may not be traded on, real ms. */
const maxDataAgeMs = 1_000;
/** Real ms that a decision may take from the trade that moved it to its order, beyond the age that is allowed: this machine is busy. */
const slackMs = 500;
/** Real ms after the stop in which what had left before is carried out. */
const underWayMs = 60;

/** One of each strategy can be past the last look when everything stands still. */
const maxCaught = 3;
/** The receive window of a create, real ms. */
const createWindowMs = 2_000;

/** Real ms: mostly a second or two, which is a minute or two of the exchange; each fourth outlasts every window. */
const stopMs = (draw: number): number => (draw < 0.75 ? 600 + draw * 1_800 : 2_500 + (draw - 0.75) * 14_000);

/**
 * Creates on stale data: the age of the trade that moved each order, when that was decided, ms of the exchange. Two signals are older by
 * right, and are judged again by a fresh price at the last hop: one that waited for the end of an order from before the stop, and one
 * that was being carried out when everything stood still, of which another order had been sent or denied. What the last hop held back
 * was created nowhere.
 */
function ages(arena: Arena, since: number): readonly { readonly clientOrderId: string; readonly ageMs: number }[] {
  const { orders } = booksOf(arena.rig);
  const denied = arena.rig.read((reader) => reader.denials(1_000)).map(({ at, reason }) => ({ createdAt: at, reason }));
  const begun = new Set(
    [...orders, ...denied].filter(({ createdAt }) => createdAt < since).map(({ reason }) => reason),
  );
  return orders
    .filter(({ state, createdAt, reason }) => state !== 'notSent' && createdAt >= since && !begun.has(reason))
    .filter(
      ({ symbol, createdAt }) =>
        !orders.some(
          (one) =>
            one.symbol === symbol &&
            one.createdAt < since &&
            one.closedAt !== null &&
            one.closedAt >= since &&
            one.closedAt <= createdAt,
        ),
    )
    .map(({ clientOrderId, createdAt, reason }) => ({
      clientOrderId,
      ageMs: createdAt - Number(restlessReason.exec(reason)?.[1] ?? createdAt),
    }));
}

async function stopped(arena: Arena): Promise<Done> {
  const { daemon, exchange, rng } = arena;
  arena.calm(false);
  await exchange.faults(usualFaults);
  await pass(50 + rng() * 400);
  process.kill(daemon.pid, 'SIGSTOP');
  const lasted = stopMs(rng());
  await pass(underWayMs);
  await pass(lasted - underWayMs);
  const { arrivals, now } = await exchange.counts();
  process.kill(daemon.pid, 'SIGCONT');
  await pass(400);
  const after = (await exchange.arrivals(arrivals)).filter(({ what }) => what === 'create');
  // Between the last look at what speaks against it and the wire nothing can hold a create back but its receive window.
  const caught = after.filter(({ at, ageMs = 0, status }) => status === 200 && at - ageMs < now - underWayMs * speed);
  const stale = caught.filter(({ ageMs = 0 }) => ageMs > createWindowMs * speed);
  const old = ages(arena, now).filter(({ ageMs }) => ageMs > (maxDataAgeMs + slackMs) * speed);
  return {
    count: 1,
    facts: {
      'creates within 0.4 s of going on': after.length,
      'of them signed before the stop': caught.length,
      'most seconds of the exchange stopped': Math.round((lasted * speed) / 1_000),
    },
    faults: [
      ...stale.map(
        ({ clientOrderId }) => `create ${clientOrderId} was carried out after a stop and outside its window`,
      ),
      ...(caught.length > maxCaught ? [`${caught.length} creates were signed before the stop and sent after it`] : []),
      ...old.map(
        ({ clientOrderId, ageMs }) =>
          `order ${clientOrderId} was decided on a trade ${Math.round(ageMs / speed)} ms old (real)`,
      ),
    ],
  };
}

export const stop: Kind = {
  name: 'stop',
  counts: 'stops',
  wanted: 100,
  comparisons: 15,
  setting: () => ({ config: { risk: { maxDataAgeMs } } }),
  ordeal: stopped,
};
