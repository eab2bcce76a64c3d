/** What can go wrong with a request or with a frame. Durations are real ms: a fast clock stretches them. */
import { z } from 'zod';

/** Before the exchange carries the request out, or after it has and before it answers. */
const when = z.enum(['before', 'after']);
const ms = z.number().min(0).max(600_000);
const status = z.number().int().min(100).max(599);
const value = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]);

const lie = z.strictObject({
  set: z.record(z.string(), value).optional(),
  remove: z.array(z.string()).optional(),
  keep: z.number().int().min(0).optional(),
  omit: z.number().min(0).max(1).optional(),
  order: z.enum(['reversed', 'shuffled']).optional(),
  twice: z.literal(true).optional(),
});

const frameFaults = z.enum([
  ...(['disconnect', 'skip', 'stale', 'swap', 'crossed', 'empty', 'zero', 'garbage', 'half', 'bomb'] as const),
]);

/** By the key that names them; the description is the text of docs/reference/fault-plans.md. */
export const actions = {
  hold: z
    .strictObject({ hold: z.string().min(1), when: when.default('after') })
    .describe('waits until you release it under this name'),
  drop: z.strictObject({ drop: when }).describe('destroys the connection instead of answering'),
  status: z
    .strictObject({
      status: status.min(400),
      when: z.enum(['before', 'after', 'later']).default('after'),
      afterMs: ms.default(2_000),
    })
    .describe(
      'answers with this status and an HTML page. `after`: the request took effect. `before`: it has no effect. `later`: it takes effect `afterMs` after the answer',
    ),
  delayMs: z
    .strictObject({ delayMs: z.union([ms, z.tuple([ms, ms])]), when: when.default('after') })
    .describe('waits this long, or a random time between two'),
  truncate: z
    .strictObject({ truncate: z.literal(true) })
    .describe('announces the whole answer, sends half and destroys the connection'),
  body: z
    .strictObject({
      body: z.string(),
      status: status.default(200),
      type: z.string().default('text/html'),
      when: when.default('after'),
    })
    .describe('answers with this text, such as a firewall page, an empty body or a false success'),
  code: z
    .strictObject({
      code: z.number().int(),
      msg: z.string().default('Injected by a fault rule.'),
      status: status.optional(),
      when: when.default('before'),
    })
    .describe(
      "refuses with this code. The default HTTP status is the profile's. With `when: after` the request took effect anyway",
    ),
  lie: z
    .strictObject({ lie })
    .describe(
      'changes the answer and its rows. `set` and `remove` change existing fields. `keep` returns only the first rows, `omit` drops each with a chance, `twice` repeats each. `order` is `reversed` or `shuffled`',
    ),
  deliver: z
    .strictObject({ deliver: z.number().int().min(2).max(10), gapMs: ms.default(0) })
    .describe('delivers the request this many times, `gapMs` apart, and returns the first answer'),
  endAfterMs: z
    .strictObject({ endAfterMs: ms })
    .describe('accepts the order, and cancels it after this time unless it has filled'),
  lagMs: z
    .strictObject({ lagMs: ms })
    .describe('a replica answers with the orders, own trades and balances of this long ago'),
  skewMs: z
    .strictObject({ skewMs: z.number().min(-86_400_000).max(86_400_000) })
    .describe('a gateway answers whose clock is off by this (`/time` and the time window)'),
  socket: z
    .union([
      z.strictObject({ socket: frameFaults }),
      z.strictObject({ socket: z.literal('silence'), forMs: z.number().min(1).optional() }),
      z.strictObject({ socket: z.literal('repeat'), times: z.number().int().min(1).max(100).default(1) }),
    ])
    .describe(
      '`disconnect` cuts the socket. `silence` sends nothing more, for `forMs` or forever. `repeat` sends the frame again (`times`), `skip` omits it, `stale` sends the one before, `swap` exchanges it with the next. `crossed`, `empty` and `zero` change depth. `garbage`, `half` and `bomb` change the bytes',
    ),
};

const { hold, drop, delayMs, truncate, body, code, deliver, endAfterMs, lagMs, skewMs, socket } = actions;
export const action = z.union([
  ...([hold, drop, actions.status, delayMs, truncate, body, code] as const),
  ...([actions.lie, deliver, endAfterMs, lagMs, skewMs, socket] as const),
]);

export type FaultAction = z.infer<typeof action>;
export type SocketAction = z.infer<typeof actions.socket>;
export type Lie = z.infer<typeof lie>;
