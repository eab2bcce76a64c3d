/** §7, §8: limits, which can only be shown by breaking them. Each check does that from an address of its own, which ends up banned. */
import { equal, ok } from 'node:assert/strict';
import { type Check, Skip } from '../check.ts';
import type { Reply } from '../http.ts';
import { demandNothing, freshId, orderBody } from '../orders.ts';
import { nameOf, type Session } from '../session.ts';
import { shown } from '../shape.ts';
import { now, sleep } from '../time.ts';

const limits = ['key', 'withdrawals', 'limits'] as const;
const ipWeight = 12_000;
const uidWeight = 60_000;
/** Requests over a limit until an exchange must have banned the address. */
const patience = 200;
/** Longer than the window of the frequencies. */
const quietMs = 2_200;
/** Requests that took longer may have been within two windows. */
const enoughMs = 1_900;
const maxTries = 6;

const given = new WeakMap<Session, number>();
/** An address that no check has used before. */
function address(at: Session): string {
  const count = given.get(at) ?? 0;
  given.set(at, count + 1);
  const found = at.target.addresses?.[count];
  if (found === undefined)
    throw new Skip(`it needs more addresses than --addresses has: ${at.target.addresses?.length}`);
  return found;
}

/** Weight 100 each. */
async function heavy(at: Session, from: string): Promise<Reply> {
  const reply = await at.tell('/sapi/v1/withdraw/query', { withdrawOrderId: 'none' }, { from });
  demandNothing(reply);
  return reply;
}
const light = (at: Session, from: string): Promise<Reply> => at.ask('/sapi/v1/account', {}, { from });

/** Sends until one is refused; how many were answered. */
async function accepted(send: () => Promise<Reply>, most: number): Promise<{ count: number; last: Reply }> {
  for (let count = 0; ; count++) {
    const last = await send();
    if (last.status !== 200 || count >= most) return { count, last };
  }
}

/** Both say that a limit is exceeded (§7). */
const isLimit = (status: number): boolean => status === 429 || status === 410;

/** So many requests within 2 s are answered, and the next is not. Where a machine is too busy to send them in time, it is tried again. */
async function frequency(at: Session, send: (from: string) => Promise<Reply>, perTwoSeconds: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    const from = address(at);
    await sleep(quietMs); // what came before counts too
    const start = now();
    const first = await Promise.all(Array.from({ length: perTwoSeconds }, () => send(from)));
    const next = await send(from);
    const tookMs = now() - start;
    const refused = first.filter(({ status }) => isLimit(status));
    equal(refused.length, 0, `${refused.length} of ${perTwoSeconds} drew HTTP ${refused[0]?.status}`);
    if (isLimit(next.status)) return;
    ok(
      tookMs > enoughMs,
      `request ${perTwoSeconds + 1} in ${tookMs} ms draws HTTP ${next.status}: ${shown(next.text)}`,
    );
    ok(tries < maxTries, `${perTwoSeconds} requests took ${tookMs} ms: this machine is too slow to show anything`);
  }
}

export const limitChecks: readonly Check[] = [
  ...(
    [
      [
        'creates 100 spot orders within 2 s, and no more',
        100,
        (at: Session, from: string, body: object) => at.tell('/sapi/v1/order', body, { from }),
      ],
      [
        'creates 100 margin orders within 2 s, and no more',
        100,
        (at: Session, from: string, body: object) => at.tell('/sapi/v1/margin/order', body, { from }),
      ],
      [
        'cancels 100 margin orders within 2 s, and no more',
        100,
        (at: Session, from: string) =>
          at.tell('/sapi/v1/margin/cancel', { orderId: '1', symbol: nameOf(at.busy) }, { from }),
      ],
      [
        'shows 20 margin orders within 2 s, and no more',
        20,
        (at: Session, from: string) =>
          at.ask('/sapi/v1/margin/order', { orderId: '1', symbol: nameOf(at.busy) }, { from }),
      ],
      [
        'lists open margin orders 20 times within 2 s, and no more',
        20,
        (at: Session, from: string) => at.ask('/sapi/v1/margin/openOrders', { symbol: nameOf(at.busy) }, { from }),
      ],
    ] as const
  ).map(
    ([says, most, send]): Check => ({
      section: '8',
      needs: limits,
      says,
      async run(at) {
        // Refused for its volume: it counts, and leaves nothing behind.
        const body = { ...(await orderBody(at)), volume: '0', newClientOrderId: freshId() };
        await frequency(at, (from) => send(at, from, body), most);
      },
    }),
  ),
  {
    section: '8',
    needs: limits,
    says: 'answers 12000 of weight a minute and address, then 429, and 418 to who goes on',
    async run(at) {
      const from = address(at);
      const { count, last } = await accepted(() => heavy(at, from), 2 * (ipWeight / 100));
      equal(count, ipWeight / 100, `${count} requests of weight 100 were answered`);
      equal(last.status, 429, `then HTTP ${last.status}`);
      const statuses = new Set<number>();
      for (let tries = 0; tries < patience && !statuses.has(418); tries++) statuses.add((await light(at, from)).status);
      ok(statuses.has(418), `who goes on ${patience} times draws ${[...statuses].join()}`);
      for (const status of statuses) ok([429, 410, 418].includes(status), `who goes on draws ${status} too`);
      for (const reply of [await light(at, from), await at.get('/sapi/v1/time')]) {
        if (reply.status === 200) continue; // the time was asked for from another address
        equal(reply.status, 418, `a banned address draws HTTP ${reply.status}`);
      }
    },
  },
  {
    section: '7',
    needs: limits,
    says: 'warns with 410 before it bans an address',
    async run(at) {
      const from = address(at);
      await accepted(() => heavy(at, from), 2 * (ipWeight / 100));
      const seen: number[] = [];
      while (seen.length < patience && seen.at(-1) !== 418) seen.push((await light(at, from)).status);
      ok(seen.indexOf(410) >= 0 && seen.indexOf(410) < seen.indexOf(418), `it draws ${seen.join()}`);
    },
  },
  {
    section: '8',
    needs: limits,
    says: 'counts the weight of a user over all addresses, up to 60000 a minute, apart from that of the addresses',
    async run(at) {
      // What the checks before spent counts too, so less may be left; but never more.
      let spent = 0;
      let last: Reply | undefined;
      while (spent <= uidWeight && last === undefined) {
        const from = address(at);
        for (let count = 0; count < ipWeight / 100 && last === undefined; count++) {
          const reply = await heavy(at, from);
          if (reply.status === 200) spent += 100;
          else last = reply;
        }
      }
      equal(last?.status, 429, `after ${spent} of weight: HTTP ${last?.status}`);
      ok(spent > ipWeight && spent <= uidWeight, `${spent} of weight were answered`);
      const other = await at.ask('/sapi/v1/account', {}, { as: at.second, from: address(at) });
      equal(other.status, 200, 'another user is refused too');
    },
  },
];
