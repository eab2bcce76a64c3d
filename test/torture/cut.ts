/** Connections cut in every phase of every kind of request, and of the socket. */
import { pass } from '../kit/until.ts';
import type { Arena } from './arena.ts';
import type { Done, Facts, Kind } from './kind.ts';
import { type Cut, type CuttingProxy, openProxy, otherPhases, requestPhases } from './proxy.ts';

/** What a daemon asks so often that a cut need not wait for it. */
const requests = [
  'POST /sapi/v1/order ',
  'POST /sapi/v1/cancel ',
  'GET /sapi/v1/openOrders',
  'GET /sapi/v1/myTrades',
  'GET /sapi/v1/order?',
];

/** Every phase of every request; creates and cancels twice, since they are what counts. */
const everyCut: readonly Cut[] = [
  ...[...requests, ...requests.slice(0, 2)].flatMap((request) => requestPhases.map((phase) => ({ phase, request }))),
  ...otherPhases.map((phase) => ({ phase, request: '' })),
];

/** Cuts between two comparisons. */
const inARow = 6;
/** Real ms until a cut for which no request comes is called off. */
const patienceMs = 2_500;

const proxies = new Map<string, CuttingProxy>();

async function cutOnce(arena: Arena, cut: Cut): Promise<boolean> {
  const proxy = proxies.get(arena.exchange.restUrl);
  if (proxy === undefined) throw new Error('no proxy stands before this exchange');
  const isCut = proxy.cutNext(cut);
  const patience = pass(patienceMs).then(() => false);
  const wasCut = await Promise.race([isCut, patience]);
  proxy.callOff();
  // Something is under way again when the next one comes.
  await pass(arena.rng() * 60);
  return wasCut;
}

async function cutOff(arena: Arena): Promise<Done> {
  arena.calm(false);
  const facts: Record<string, number> = {};
  let count = 0;
  for (let turn = 0; turn < inARow; turn++) {
    const cut = everyCut[Math.floor(arena.rng() * everyCut.length)];
    if (cut === undefined || !(await cutOnce(arena, cut))) continue;
    facts[cut.phase] = (facts[cut.phase] ?? 0) + 1;
    count++;
  }
  return { count, facts: facts satisfies Facts };
}

export const cut: Kind = {
  name: 'cut',
  counts: 'cuts',
  wanted: 300,
  comparisons: 10,
  setting: () => ({
    async between(exchange) {
      const proxy = await openProxy(exchange);
      proxies.set(exchange.restUrl, proxy);
      return proxy;
    },
  }),
  ordeal: cutOff,
};
