/** The routes of the control address. Everything is JSON; a refusal is `{error}` with status 4XX. */
import { z } from 'zod';
import { issuesText, Refusal } from '../../domain/refusal.ts';
import type { Parts } from '../assemble.ts';
import { adjusted, cancelled, events, faultEvent, outageBegun, placed, stepBounds } from '../faults/events.ts';
import { rulesOf } from '../faults/plans.ts';
import type { Handle } from '../handle.ts';
import type { TruthLog } from '../truth-log.ts';

export interface Steering {
  readonly simulator: Handle;
  readonly parts: Parts;
  readonly log: TruthLog;
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
}

interface Route {
  /** `:name` stands for a part of the path. */
  readonly on: string;
  readonly about: string;
  /** Undefined is answered as an empty object. */
  readonly run: (asked: Asked & { readonly part: string }, steering: Steering) => unknown;
}

/** Entries of the log in one answer. */
const longestPage = 1_000;

const whole = (text: string | null, standard: number): number =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : standard;

/** Validates a body; throws a `Refusal` that names the field. */
function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const checked = schema.safeParse(body ?? {});
  if (checked.success) return checked.data;
  throw new Refusal(issuesText(checked.error.issues, 'the body'));
}

const step = z.strictObject({
  to: z.enum(['approve', 'reject', 'pay', 'fail', 'complete', 'revoke']),
  info: z.string().optional(),
  txId: z.string().optional(),
});
/** All its events run before the answer, and nobody else is served meanwhile. */
const longestAdvanceMs = 86_400_000;
const time = z.strictObject({
  advanceMs: z
    .number()
    .min(0)
    .max(longestAdvanceMs, `at most ${longestAdvanceMs} (a day) at once: ask again for more`)
    .optional(),
  ...stepBounds,
});

export const routes: readonly Route[] = [
  { on: 'GET /', about: 'this list', run: () => routes.map(({ on, about }) => ({ on, about })) },
  {
    on: 'GET /state',
    about: 'exchange time, how far its clock seems off, an outage, held requests, what is kept in memory',
    run: (_, { parts: { exchange, gateway, outage, faults }, simulator }) => ({
      now: exchange.now,
      skewMs: gateway.skew(),
      outage: outage.current() ?? null,
      held: faults.holding(),
      retained: simulator.retained(),
    }),
  },
  {
    on: 'GET /log',
    about: 'the truth log: `after` a number, of a `kind`, at most `limit` entries',
    run({ url: { searchParams } }, { log }) {
      const kind = searchParams.get('kind');
      return log
        .after(whole(searchParams.get('after'), 0))
        .filter(({ entry }) => kind === null || entry.kind === kind)
        .slice(0, Math.min(longestPage, whole(searchParams.get('limit'), 100)));
    },
  },
  {
    on: 'GET /faults',
    about: 'the rules in force, how often each matched and fired',
    run: (_, { parts: { faults } }) =>
      faults.list().map(({ id, rule, matched, fired }) => ({ id, rule, matched, fired })),
  },
  {
    on: 'POST /faults',
    about: 'adds a list of rules, or `{"plan": NAME}`; answers with their numbers',
    run({ body }, { parts: { faults, driver } }) {
      const named = z.strictObject({ plan: z.string() }).safeParse(body);
      const rules = named.success ? named.data.plan : Array.isArray(body) ? body : [body];
      return { ids: driver.act(() => faults.add(rulesOf(rules))) };
    },
  },
  {
    on: 'DELETE /faults',
    about: 'takes every rule away',
    run: (_, { simulator }) => simulator.removeFaults(),
  },
  {
    on: 'DELETE /faults/:id',
    about: 'takes one rule away',
    run({ part }, { parts: { faults } }) {
      if (!faults.remove(whole(part, 0))) throw new Refusal(`there is no rule ${part}`);
    },
  },
  {
    on: 'POST /release/:name',
    about: 'lets the requests go on that are held under this name; answers with their number',
    run: ({ part }, { simulator }) => ({ released: simulator.release(part) }),
  },
  {
    on: 'POST /events',
    about: `makes something happen now: ${Object.keys(events).join(', ')}`,
    run: ({ body }, { simulator }) => simulator.happen(faultEvent(body)),
  },
  {
    on: 'POST /human/place',
    about: 'places an order by hand; answers with it',
    run: ({ body }, { simulator }) => simulator.people.place(read(placed, body)),
  },
  {
    on: 'POST /human/cancel',
    about: 'cancels by hand; answers with the orders',
    run: ({ body }, { simulator }) => simulator.people.cancel(read(cancelled, body)),
  },
  {
    on: 'POST /human/adjust',
    about: 'has money come or go',
    run: ({ body }, { simulator }) => simulator.people.adjust(read(adjusted, body)),
  },
  {
    on: 'POST /time',
    about: '`advanceMs` of exchange time pass at once; `stepMs`, `driftPpm`: the clock that clients see is off',
    run({ body }, { simulator, parts: { gateway, exchange } }) {
      const { advanceMs, stepMs, driftPpm } = read(time, body);
      if (advanceMs !== undefined) simulator.advance(advanceMs);
      if (stepMs !== undefined) simulator.happen({ stepMs });
      if (driftPpm !== undefined) simulator.happen({ driftPpm });
      return { now: exchange.now, skewMs: gateway.skew() };
    },
  },
  {
    on: 'POST /outage',
    about: 'begins one: `scope` all, rest or socket; `how` reset, status or hang; `forMs`, or until it is ended',
    run({ body }, { simulator, parts: { outage } }) {
      const begun = read(outageBegun, body);
      simulator.beginOutage(begun.scope, begun);
      // One of no length is over already.
      return outage.current() ?? null;
    },
  },
  {
    on: 'DELETE /outage',
    about: 'ends it',
    run: (_, { simulator }) => simulator.endOutage(),
  },
  {
    on: 'GET /users/:uid',
    about: "a user's balances, open orders and fills",
    run: ({ part }, { simulator }) => ({
      balances: { spot: simulator.balances(part), margin: simulator.balances(part, 'margin') },
      openOrders: simulator.openOrders(part),
      fills: simulator.allTrades(part),
    }),
  },
  {
    on: 'GET /withdrawals',
    about: 'every withdrawal',
    run: (_, { simulator }) => simulator.operator.withdrawals(),
  },
  {
    on: 'POST /withdrawals/:id',
    about: 'the operator decides: `to` approve, reject (with `info`), pay (with `txId`), fail, complete, revoke',
    run({ part, body }, { simulator: { operator } }) {
      const { to, info, txId } = read(step, body);
      const id = whole(part, 0);
      if (to === 'reject') return operator.reject(id, info);
      return to === 'pay' ? operator.pay(id, txId) : operator[to](id);
    },
  },
];

/** Runs a route; throws a `Refusal` when it is not possible. */
export function steer(asked: Asked, steering: Steering): { readonly status: number; readonly body: unknown } {
  const request = `${asked.method} ${asked.url.pathname}`;
  for (const route of routes) {
    const part = partOf(route.on, request);
    if (part === undefined) continue;
    const answer = route.run({ ...asked, part }, steering);
    return { status: 200, body: answer === undefined ? {} : answer };
  }
  return { status: 404, body: { error: `there is no ${request}; GET / lists what there is` } };
}

/** The part of a path that a `:name` stands for, empty where there is none; undefined when the route is another. */
function partOf(on: string, request: string): string | undefined {
  const [fixed = '', name] = on.split(':');
  if (name === undefined) return fixed === request ? '' : undefined;
  const part = request.slice(fixed.length);
  return request.startsWith(fixed) && part !== '' && !part.includes('/') ? part : undefined;
}
